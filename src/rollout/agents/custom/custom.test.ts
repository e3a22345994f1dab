import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CustomAgent, customAgent } from '../../../config/agent.ts';
import type { SkilloptError } from '../../../ports/failure.ts';
import { unknownUsage } from '../../../ports/usage.ts';
import { runProcess } from '../../../process/run-process.ts';
import { resultOf, withBench } from '../../local/bench-runs-fixture.ts';
import type { AgentModel, AgentRun } from '../agent.ts';
import { Rooms } from '../builtin/builtin-fixture.ts';
import { createLocalAgent } from '../index.ts';
import type { AgentSettings } from '../settings.ts';

const rooms = new Rooms();
afterAll(() => rooms.close());

const path = process.env.PATH ?? '/usr/bin:/bin';
const settings: AgentSettings = {
  variables: {},
  path,
  login: 'key',
  model: null,
  modelId: null,
  modelName: null,
  protocols: null,
  limits: { requests: null, tokens: null, usd: null },
  mcp: {},
  rehearsalDelayMs: 0,
};
const skill = '---\nname: harbor\ndescription: Ships.\n---\nGreet them.\n';
const model: AgentModel = {
  id: 'p/m',
  name: 'm',
  baseUrl: 'http://127.0.0.1:1/t/abc',
  key: 'dummy',
  protocols: ['chat'],
  contextTokens: null,
  maxOutputTokens: null,
};

const described = (more: Partial<Record<keyof CustomAgent, unknown>> = {}): CustomAgent =>
  customAgent.parse({ name: 'mine', command: ['sh', '-c', ': {skill_dir}'], ...more });
const agentOf = (more: Parameters<typeof described>[0] = {}, at: Partial<AgentSettings> = {}) =>
  createLocalAgent(described(more), { ...settings, ...at });
/** An agent that is a line of sh. */
const line = (text: string, more: Parameters<typeof described>[0] = {}) =>
  agentOf({ command: ['sh', '-c', text, 'sh', '{skill_dir}'], ...more });

/** Puts a program into a folder of its own. */
function program(name: string, text: string): string {
  const dir = realpathSync(rooms.open().workspace);
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

describe('an agent of one’s own', () => {
  test('gets the instruction on stdin, works in the workspace, and what it prints is what it says', async () => {
    const run = rooms.open({ instruction: 'Write ok.\n', skill });
    const text = 'cat > said.txt; echo "\u001b[1mdone\u001b[0m"; echo careful >&2; cat "$1/SKILL.md" > skill.txt';
    const end = await line(text).run(run);
    expect(end).toEqual({
      exit: 'finished',
      trouble: null,
      steps: [
        { kind: 'message', role: 'user', text: 'Write ok.\n' },
        { kind: 'message', role: 'agent', text: 'done' },
        { kind: 'note', text: 'It wrote to stderr:\ncareful' },
      ],
      finalText: 'done',
      usage: unknownUsage,
      read: null,
      didWork: true,
    });
    expect(readFileSync(join(run.workspace, 'said.txt'), 'utf8')).toBe('Write ok.\n');
    expect(readFileSync(join(run.workspace, 'skill.txt'), 'utf8')).toBe(skill);
  });

  test('is given files, variables and the instruction as a file, all of it filled in', async () => {
    const run = { ...rooms.open({ instruction: 'Write ok.', skill }), model };
    const agent = agentOf({
      command: [
        'sh',
        '-c',
        'cat; cat "$1" "$HOME/.mine/c.json" > all.txt; echo "$WHERE" >> all.txt',
        'sh',
        '{instruction_file}',
      ],
      skills: '~/.mine/skills',
      protocol: 'chat',
      env: { WHERE: '{base_url}/v1 {key} {skill_dir} {workspace} {{key}}' },
      files: { '.mine/c.json': '{"model": "{model}"}' },
    });
    expect(agent).toMatchObject({ speaks: ['chat'], skillMounts: [{ base: 'home', path: '.mine/skills' }] });
    const { steps } = await agent.run(run);
    expect(steps).toHaveLength(1);
    expect(readFileSync(join(run.workspace, 'all.txt'), 'utf8')).toBe(
      `Write ok.{"model": "m"}http://127.0.0.1:1/t/abc/v1 dummy ${run.home}/.mine/skills/harbor ${run.workspace} {key}\n`,
    );
  });

  test('without a skill is told of none', async () => {
    const run = rooms.open({ skill: null });
    expect((await line('echo "[$1]"').run(run)).finalText).toBe('[]');
    expect((await line('echo "[$1]"', { skills: '.agents/skills' }).run(run)).finalText).toBe('[]');
  });

  test('takes a skill where the config says that it looks', () => {
    expect(agentOf({ skills: '.agents/skills/' }).skillMounts).toEqual([{ base: 'workspace', path: '.agents/skills' }]);
    expect(agentOf().skillMounts).toEqual([]);
    expect(agentOf().speaks).toBeUndefined();
  });

  test.each([
    ['finished', 'exit 0', false],
    ['nonzero', 'echo no; exit 3', true],
    ['nonzero', 'kill -9 $$', false],
  ])('that ends %s by "%s" is judged by its work', async (exit, text, didWork) => {
    expect(await line(text).run(rooms.open())).toMatchObject({ exit, trouble: null, didWork });
  });

  test('that the deadline ends has worked if it has said anything', async () => {
    const late = async (text: string) => {
      const run = rooms.open();
      const cut: AgentRun = {
        ...run,
        run: (command, { stdin: _, ...options } = {}) =>
          runProcess({ ...options, command, cwd: run.workspace, env: run.env, timeoutMs: 300, graceMs: 100 }),
      };
      return line(text).run(cut);
    };
    expect(await late('echo begun; sleep 600')).toMatchObject({ exit: 'timeout', didWork: true, finalText: 'begun' });
    expect(await late('sleep 600')).toMatchObject({ exit: 'timeout', didWork: false });
  });

  test('that could not be started within the rollout is a fault of its setup', async () => {
    const run = rooms.open();
    const lost: AgentRun = { ...run, run: (command, o) => run.run(command, { ...o, cwd: '/nowhere' }) };
    const end = await line(':').run(lost);
    expect(end).toMatchObject({ exit: 'not-started', trouble: { reason: 'agent-setup' } });
    expect(end.trouble?.detail).toStartWith('mine could not be started: the folder /nowhere is missing');
  });

  test('keeps the end of a long output as its last words', async () => {
    const { finalText } = await line('seq 1 20000').run(rooms.open());
    expect(finalText.length).toBeLessThanOrEqual(4_001);
    expect(finalText).toStartWith('…');
    expect(finalText).toEndWith('\n20000');
  });

  test('can’t take the name of an agent of this program', () => {
    expect(() => agentOf({ name: 'builtin' })).toThrow(/builtin is an agent of this program/);
  });

  test('whose model is missing is not started', async () => {
    const agent = agentOf({ protocol: 'chat', env: { URL: '{base_url}' } });
    let thrown: unknown = null;
    try {
      await agent.run(rooms.open());
    } catch (error) {
      thrown = error;
    }
    expect((thrown as SkilloptError).failure).toMatchObject({ code: 'config', what: 'mine is given no model' });
  });
});

describe('before it runs', () => {
  const findings = (...args: Parameters<typeof agentOf>) => agentOf(...args).preflight();

  test('its program has to be there, and to have what runs it', async () => {
    expect(await findings()).toMatchObject([{ level: 'ok', fix: '' }]);
    const command = ['no-such-agent', '{skill_dir}'];
    expect(await findings({ command })).toEqual([
      {
        level: 'error',
        what: 'the agent mine can’t be started: no no-such-agent is on PATH',
        where: 'agent.command',
        fix: 'install no-such-agent, or write its whole path',
      },
    ]);
    const plain = program('sh', 'echo');
    chmodSync(plain, 0o644);
    expect(await findings({ command: [plain, '{skill_dir}'] })).toMatchObject([
      { level: 'error', what: `the agent mine can’t be started: ${plain} is no program` },
    ]);
    const script = program('agent', '#!/usr/bin/env deno\n');
    expect(await findings({ command: [script, '{skill_dir}'] }, { path: '/usr/bin:/bin' })).toMatchObject([
      { level: 'error', what: `${script} needs deno, which is not on PATH`, fix: 'install deno' },
    ]);
  });

  test('its version is what its command prints, else a digest of its bytes that nobody has to run', async () => {
    const marker = join(rooms.open().workspace, 'ran');
    const script = program('agent.sh', `#!/bin/sh\ntouch ${marker}\necho "agent 1.2.3 (x)"\necho more\n`);
    const command = [script, '{skill_dir}'];
    const digest = await agentOf({ command }).version();
    expect(digest).toMatch(/^bytes [0-9a-f]{12}$/);
    expect(existsSync(marker)).toBe(false);
    expect(await agentOf({ command: ['sh', script, '{skill_dir}'] }).version()).not.toBe(digest);
    expect(await agentOf({ command, version: [script] }).version()).toBe('agent 1.2.3 (x)');
    writeFileSync(script, '#!/bin/sh\necho no >&2; exit 2\n');
    expect(await agentOf({ command }).version()).not.toBe(digest);
    expect(await findings({ command, version: [script] })).toMatchObject([
      { level: 'error', what: 'the version of mine can’t be told: no', where: 'agent.version' },
    ]);
  });

  test('its API has to be one that the model answers, and its limits ones that the gateway sees', async () => {
    const speaking = { protocol: 'responses', env: { URL: '{base_url}' } } as const;
    const [, api] = await findings(speaking, { protocols: ['chat', 'messages'], modelName: 'm' });
    expect(api).toMatchObject({
      level: 'error',
      what: 'mine speaks OpenAI Responses, and m answers OpenAI Chat Completions, Anthropic Messages',
      where: 'model',
    });
    expect(api?.fix).toContain('builtin');
    expect(await findings(speaking, { protocols: ['responses'] })).toHaveLength(1);
    expect((await findings(speaking, { login: 'subscription' }))[1]).toMatchObject({ where: 'login' });
    const limits = { requests: 5, tokens: null, usd: null };
    expect((await findings({}, { limits }))[1]).toMatchObject({ level: 'error', where: 'agentLimits.requests' });
    expect(await findings(speaking, { limits, protocols: ['responses'] })).toHaveLength(1);
  });
});

describe('what a sandbox has to show', () => {
  const needs = (command: readonly string[], at: Partial<AgentSettings> = {}) =>
    agentOf({ command: [...command, '{skill_dir}'] }, at).needs?.() ?? Promise.resolve(null);

  test('is the program by its path and by its name, and files that its command names', async () => {
    const script = program('agent.py', 'print(1)\n');
    const folder = dirname(script);
    symlinkSync(script, join(folder, 'linked'));
    const byName = await needs(['linked', script, folder, '/no/file'], { path: `${folder}:${path}` });
    expect(byName).toMatchObject({ path: [folder], network: false });
    expect([...(byName?.show ?? [])].sort()).toEqual([script, join(folder, 'linked')].sort());
  });

  test('is the environment of a Python, and the installation behind it', async () => {
    const base = dirname(program('py/bin/python3.12', ''));
    mkdirSync(join(base, '../include'));
    const installed = dirname(base);
    const venv = join(dirname(program('venv/pyvenv.cfg', 'home = x\n')));
    mkdirSync(join(venv, 'bin'));
    symlinkSync(join(base, 'python3.12'), join(venv, 'bin/python'));
    const script = join(venv, 'bin/agent');
    writeFileSync(script, `#!${venv}/bin/python\nprint(1)\n`, { mode: 0o755 });
    const { show } = (await needs([script])) ?? { show: [] };
    expect(show).toContain(venv);
    expect(show).toContain(join(venv, 'bin/python'));
    expect(show).toContain(installed);
    // nothing that would show the user's home
    const { show: less } = (await needs([script], { variables: { HOME: join(venv, 'home/me') } })) ?? { show: [] };
    expect(less).not.toContain(venv);
  });

  test('is nothing where the program is missing', async () => {
    expect(await needs(['no-such-agent'])).toEqual({ show: [], path: [], network: false });
  });
});

test('on the local backend it is scored by what it did, with the skill where it looks for it', async () => {
  const text = 'cp .mine/skills/*/SKILL.md ok.txt && cat > said.txt';
  const agent = agentOf({ command: ['sh', '-c', text], skills: '.mine/skills' });
  await withBench({ agent }, async (local) => {
    const task = await local.task({
      instruction: 'Write ok.',
      test: 'grep -q Greet ok.txt && grep -q "Write ok" said.txt && [ ! -e .mine ]; echo $((1 - $?)) > "$LOGS_DIR/verifier/reward.txt"',
    });
    const result = await resultOf(local, task, await local.skill(skill, {}));
    expect(result).toMatchObject({ exit: 'finished', outcome: { status: 'scored', hard: 1, read: null } });
    expect(result.versions.mine).toMatch(/^bytes /);
  });
});
