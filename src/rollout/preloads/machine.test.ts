import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { PreloadBench, skillText } from './preload-fixture.ts';

let bench: PreloadBench;
beforeEach(() => {
  bench = new PreloadBench();
  bench.secrets = ['sk-very-secret'];
});
afterEach(() => bench.close());

const agent = (name: string) =>
  ({ agent: { name, takesSkill: true, skillMounts: [{ base: 'workspace', path: '.x' }], takesMcp: true } }) as const;
/** A text that stands for a variable. */
const ref = (name: string) => `\${${name}}`;

const machine = (more: { skills?: string[]; memory?: boolean; mcp?: string[] }) => ({
  machine: { skills: [], memory: false, mcp: [], ...more },
});

describe('skills as on my machine', () => {
  test.each([
    ['claude-code', '.claude/skills', {}],
    ['claude-code', 'elsewhere/skills', { CLAUDE_CONFIG_DIR: 'elsewhere' }],
    ['codex', '.codex/skills', {}],
    ['codex', '.agents/skills', {}],
    ['codex', 'elsewhere/skills', { CODEX_HOME: 'elsewhere' }],
    ['pi', '.pi/agent/skills', {}],
    ['pi', '.agents/skills', {}],
    ['opencode', '.config/opencode/skills', {}],
    ['opencode', '.claude/skills', {}],
    ['gemini-cli', '.gemini/skills', {}],
  ])('%s finds those in %s %j', async (name, folder, moved) => {
    for (const [variable, path] of Object.entries(moved)) bench.env[variable] = `${bench.home}/${path}`;
    bench.write({
      [`home/${folder}/writer/SKILL.md`]: skillText('writer'),
      [`home/${folder}/other/SKILL.md`]: skillText('other'),
    });
    const { prepared } = await bench.prepare(machine({ skills: ['writer'] }), agent(name));
    expect(prepared.otherSkills.map((s) => s.name)).toEqual(['writer']);
  });

  test('of two of a name the agent’s own place counts', async () => {
    bench.write({
      'home/.pi/agent/skills/w/SKILL.md': skillText('w', 'own'),
      'home/.agents/skills/w/SKILL.md': skillText('w', 'common'),
    });
    const { prepared } = await bench.prepare(machine({ skills: ['w'] }), agent('pi'));
    expect(bench.read(`${prepared.otherSkills[0]?.dir.slice(bench.root.length + 1)}/SKILL.md`)).toContain('own');
  });

  test('one that is not there is told with what is', async () => {
    bench.write({ 'home/.claude/skills/b/SKILL.md': skillText('b'), 'home/.claude/skills/a/SKILL.md': skillText('a') });
    expect(await bench.problems(machine({ skills: ['writer'] }))).toEqual([
      'preloads.machine.skills: no skill "writer" is installed for the agent on this machine -> there are a, b',
    ]);
    expect((await bench.problems(machine({ skills: ['writer'] }), agent('pi')))[0]).toContain(
      'nothing is there; looked in ',
    );
  });

  test('of an agent that is not known nothing is taken', async () => {
    const [problem] = await bench.problems(machine({ skills: ['x'], memory: true }), agent('my-own'));
    expect(problem).toContain(
      'of the agent my-own nothing can be taken over from this machine -> that works with claude-code, codex',
    );
  });
});

describe('instructions as on my machine', () => {
  test.each([
    ['claude-code', '.claude/CLAUDE.md', '.claude/CLAUDE.md'],
    ['codex', '.codex/AGENTS.md', '.codex/AGENTS.md'],
    ['pi', '.pi/agent/AGENTS.md', '.pi/agent/AGENTS.md'],
    ['pi', '.pi/agent/CLAUDE.md', '.pi/agent/AGENTS.md'],
    ['opencode', '.config/opencode/AGENTS.md', '.config/opencode/AGENTS.md'],
    ['gemini-cli', '.gemini/GEMINI.md', '.gemini/GEMINI.md'],
  ])('%s has them in %s', async (name, from, to) => {
    bench.write({ [`home/${from}`]: 'Be brief.\n' });
    const first = await bench.prepare(machine({ memory: true }), agent(name));
    expect(first.prepared.homeFiles).toEqual({ [to]: 'Be brief.\n' });
    expect(Object.keys(first.prepared.versions)).toEqual([to.split('/').at(-1) ?? '']);
    bench.write({ [`home/${from}`]: 'Be long.\n' });
    const begun = await bench.prepare(machine({ memory: true }), { ...agent(name), isNew: false });
    expect(begun.prepared.homeFiles).toEqual({ [to]: 'Be brief.\n' });
    expect((await begun.preflight()).map((f) => f.what)).toEqual([
      `${to.split('/').at(-1)} was changed since the session began with it`,
    ]);
    const anew = await bench.prepare(machine({ memory: true }), agent(name));
    expect(anew.prepared.homeFiles).toEqual({ [to]: 'Be long.\n' });
  });

  test('that are not there, or hold a secret, are refused; what they name by @ is told', async () => {
    expect((await bench.problems(machine({ memory: true })))[0]).toContain(
      'there are no instructions of yours to take over',
    );
    bench.write({ 'home/.claude/CLAUDE.md': 'The key is sk-very-secret.\n' });
    expect((await bench.problems(machine({ memory: true })))[0]).toContain('your instructions hold a secret');
    bench.write({ 'home/.claude/CLAUDE.md': 'See\n@~/rules.md\n' });
    expect((await bench.findings(machine({ memory: true }))).map((f) => `${f.level} ${f.what}`)).toEqual([
      'warning your instructions name other files by @, which are not taken over',
    ]);
  });
});

describe('MCP servers as on my machine', () => {
  const claude = (servers: object) =>
    bench.write({ 'home/.claude.json': JSON.stringify({ mcpServers: servers, projects: {} }) });

  test.each([
    [
      'claude-code',
      '.claude.json',
      JSON.stringify({
        mcpServers: {
          s: { type: 'stdio', command: 'sh', args: ['-c', 'x'], env: { TOKEN_OF_S: ref('TOKEN_OF_S'), MODE: 'fast' } },
        },
      }),
    ],
    [
      'pi',
      '.pi/agent/mcp.json',
      JSON.stringify({
        mcpServers: { s: { command: 'sh', args: ['-c', 'x'], env: { TOKEN_OF_S: ref('TOKEN_OF_S'), MODE: 'fast' } } },
      }),
    ],
    [
      'gemini-cli',
      '.gemini/settings.json',
      '{ // mine\n "mcpServers": {"s": {"command": "sh", "args": ["-c", "x"], "env": {"TOKEN_OF_S": "$TOKEN_OF_S", "MODE": "fast"}, "timeout": 3,},}}',
    ],
    [
      'opencode',
      '.config/opencode/opencode.jsonc',
      '{"mcp": {"s": {"type": "local", "command": ["sh", "-c", "x"], "environment": {"TOKEN_OF_S": "{env:TOKEN_OF_S}", "MODE": "fast"}}}}',
    ],
    [
      'codex',
      '.codex/config.toml',
      '[mcp_servers.s]\ncommand = "sh"\nargs = ["-c", "x"]\nenv_vars = ["TOKEN_OF_S"]\n[mcp_servers.s.env]\nMODE = "fast"\n',
    ],
  ])('%s names them in %s', async (name, file, text) => {
    bench.env.TOKEN_OF_S = 'sk-very-secret';
    bench.write({ [`home/${file}`]: text });
    const preloading = await bench.prepare(machine({ mcp: ['s'] }), agent(name));
    expect(preloading.mcp).toEqual({ s: { command: ['sh', '-c', 'x'], env: ['TOKEN_OF_S', 'MODE'] } });
    expect(preloading.prepared.agentEnv).toEqual({ TOKEN_OF_S: 'sk-very-secret', MODE: 'fast' });
    expect(preloading.prepared.env).toEqual({});
    expect(bench.read('my session/.skillopt/preloads/ready.json')).not.toContain('very-secret');

    bench.write({ [`home/${file}`]: text.replace('fast', 'slow') });
    const begun = await bench.prepare(machine({ mcp: ['s'] }), { ...agent(name), isNew: false });
    expect(begun.prepared.agentEnv.MODE).toBe('fast');
    expect((await begun.preflight()).map((f) => f.what)).toEqual([
      'an MCP server of this machine was changed since the session began with it',
    ]);
  });

  test('a value that is written out and looks like a secret is refused, with how to name it', async () => {
    claude({ s: { command: 'sh', env: { API_KEY: 'something-long-1' } } });
    expect(await bench.problems(machine({ mcp: ['s'] }))).toEqual([
      `preloads.machine.mcp: the MCP server s has the value of API_KEY in its configuration, and it looks like a secret: those are passed by name alone -> export API_KEY, and write "${ref('API_KEY')}" there, or describe it in preloads.mcp: {"s": {"command": [...], "env": ["NAME"]}}`,
    ]);
    claude({ s: { command: 'sh', env: { WHATEVER: 'with sk-very-secret in it' } } });
    expect((await bench.problems(machine({ mcp: ['s'] })))[0]).toContain(
      'has the value of WHATEVER in its configuration',
    );
    bench.env.API_KEY = 'something-long-1';
    claude({ s: { command: 'sh', env: { API_KEY: 'something-long-1' } } });
    expect(await bench.problems(machine({ mcp: ['s'] }))).toEqual([]);
    claude({ s: { command: 'sh', env: { API_KEY: '' } } });
    expect(await bench.problems(machine({ mcp: ['s'] }))).toEqual([]);
  });

  test.each([
    [{ command: 'sh', args: ['--api-key', 'abcdefg'] }, 'the command of the MCP server s holds a secret'],
    [{ command: 'sh', args: ['--token=abcdefg'] }, 'the command of the MCP server s holds a secret'],
    [{ command: 'sh', args: ['sk-very-secret'] }, 'the command of the MCP server s holds a secret'],
    [{ command: 'sh', args: [ref('HOME')] }, `names a variable (${ref('HOME')})`],
    [{ command: 'sh', cwd: '/x' }, 'starts in a folder of this machine (/x)'],
    [{ command: 'sh', env: { A: '!cat x' } }, 'gets A from a command'],
    [{ command: 'sh', env: { A: `x${ref('B')}y` } }, 'gets A from a text with variables in it'],
    [{ url: 'https://x.example/mcp', headers: { Authorization: 'Bearer x' } }, 'is let in by headers or a login'],
    [{ url: 'https://x.example/mcp', oauth: {} }, 'is let in by headers or a login'],
    [{ type: 'sse', url: 'https://x.example/sse' }, 'speaks the older SSE'],
    [{ url: 'ftp://x.example' }, 'is none of HTTP'],
    [{}, 'has neither a command nor a url'],
    [{ command: 3 }, 'is described in a way that this program does not know'],
    [{ command: 'sh', env: { PATH: '/x' } }, 'PATH is set by each rollout itself'],
    [{ command: 'sh', env: { A: ref('NOT_SET_HERE') } }, 'the variable NOT_SET_HERE is not set'],
  ])('%j is refused', async (server, what) => {
    claude({ s: server });
    const problems = await bench.problems(machine({ mcp: ['s'] }));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(what);
  });

  test('one that is not there is told with what is; one that is named twice, and what can’t be read, are refused', async () => {
    claude({ b: { command: 'sh' }, a: { command: 'sh' } });
    expect(await bench.problems(machine({ mcp: ['s'] }))).toEqual([
      'preloads.machine.mcp: the agent has no MCP server "s" on this machine -> there are a, b',
    ]);
    const twice = { ...machine({ mcp: ['a'] }), mcp: { a: { command: ['sh'], env: [] } } };
    expect((await bench.problems(twice))[0]).toContain('the MCP server a is named twice');
    bench.write({ 'home/.claude.json': '{"mcpServers": ' });
    expect((await bench.problems(machine({ mcp: ['a'] })))[0]).toContain('the agent’s own configuration can’t be read');
    bench.write({ 'home/.codex/config.toml': '[mcp_servers.a\n' });
    expect((await bench.problems(machine({ mcp: ['a'] }), agent('codex')))[0]).toContain(
      'the agent’s own configuration can’t be read',
    );
  });

  test('two that want a variable with other values are refused', async () => {
    claude({ a: { command: 'sh', env: { MODE: 'x' } }, b: { command: 'sh', env: { MODE: 'y' } } });
    expect((await bench.problems(machine({ mcp: ['a', 'b'] })))[0]).toContain('two MCP servers want MODE');
  });
});
