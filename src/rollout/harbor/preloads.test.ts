import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Preloads } from '../../config/preloads.ts';
import { PreloadBench } from '../preloads/preload-fixture.ts';
import { type HarborBench, makeHarborBench } from './bench-fixture.ts';
import { jobConfig } from './job-config.ts';
import { jobsOf } from './jobs.ts';
import type { HarborOptions } from './options.ts';
import { withPreloads } from './preloads.ts';

let user: PreloadBench;
let harbor: HarborBench;
beforeEach(async () => {
  user = new PreloadBench();
  harbor = await makeHarborBench({ agent: { name: 'claude-code' }, environment: { type: 'docker' } });
});
afterEach(async () => {
  user.close();
  await harbor.close();
});

const take = (wanted: Partial<Preloads>, more: Partial<HarborOptions> = {}) =>
  withPreloads({ ...harbor.options, ...more }, { ...user.options(wanted), measured: ['widget'] });
const problems = async (wanted: Partial<Preloads>, more: Partial<HarborOptions> = {}) => {
  const { options, findings } = await take(wanted, more);
  const errors = findings.filter(({ level }) => level === 'error');
  if (errors.length > 0) expect(options).toEqual({ ...harbor.options, ...more });
  for (const { fix } of errors) expect(fix).not.toBe('');
  return errors.map(({ what, where }) => `${where}: ${what}`);
};
/** As configs write what stands in a variable. */
const byName = (name: string) => `\${${name}}`;
const skill = (name: string, text = 'Text.') => ({
  [`my session/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Does ${name}.\n---\n${text}\n`,
});

test('other skills are the session’s own copies, and their versions tell a change', async () => {
  user.write(skill('other'));
  const first = await take({ skills: ['other'] });
  expect(first.findings).toEqual([]);
  const [dir = ''] = first.options.otherSkills;
  expect(dir).toEndWith('/other');
  expect(dir).toStartWith(harbor.options.dir);
  expect((await take({ skills: ['other'] })).options.otherSkills).toEqual([dir]);
  user.write(skill('other', 'Changed.'));
  const second = await take({ skills: ['other'] });
  expect(readFileSync(join(dir, 'SKILL.md'), 'utf8')).toContain('Text.');
  expect(second.options.broughtVersions).not.toEqual(first.options.broughtVersions ?? {});
});

test('no other skill may have the name of the measured one, or of another', async () => {
  user.write({ ...skill('widget'), ...skill('twin') });
  expect(await problems({ skills: ['widget', 'twin', 'twin'] })).toEqual([
    'preloads.skills: the other skill widget has the name of the one that is measured',
    'preloads.skills: two other skills are named twin',
  ]);
});

test('variables go by their names, servers in Harbor’s form', async () => {
  user.env.TOKEN = 'sk-of-the-user-0123456789';
  user.env.DB = 'postgres://user:pass-word-1@h';
  const { options, findings } = await take({
    env: ['TOKEN'],
    mcp: { db: { command: ['db-mcp', '--ro'], env: ['DB'] }, web: { url: 'http://localhost:99/mcp' } },
  });
  expect(findings).toMatchObject([{ level: 'warning', where: 'preloads.mcp.web' }]);
  const task = await harbor.task({ instruction: 'x', test: 'x' });
  const [job] = jobsOf(
    [{ key: 'k', task, skill: null, attempt: 0, try: 0, signal: new AbortController().signal }],
    's',
  );
  if (job === undefined) throw new Error('no job');
  const place = { name: 'n', jobsDir: '/j', concurrency: 1, overlay: null, skillDir: () => null };
  const config = jobConfig(job, options, place);
  expect(config.agents[0]).toMatchObject({
    env: { TOKEN: byName('TOKEN'), DB: byName('DB') },
    mcp_servers: [
      { name: 'db', transport: 'stdio', command: 'db-mcp', args: ['--ro'] },
      { name: 'web', transport: 'streamable-http', url: 'http://host.docker.internal:99/mcp' },
    ],
  });
  expect(config.verifier).toEqual({ env: { TOKEN: byName('TOKEN') } });
  expect(JSON.stringify(config)).not.toMatch(/sk-of-the-user|pass-word/);
});

test('a server of this machine brings its variables by the names that they come from', async () => {
  user.env.REAL = 'sk-real-0123456789abcdef';
  user.write({
    'home/.claude.json': JSON.stringify({
      mcpServers: { notes: { command: 'notes', args: [], env: { KEY: byName('REAL'), MODE: 'fast' } } },
    }),
  });
  const { options, findings } = await take({ machine: { skills: [], memory: false, mcp: ['notes'] } });
  expect(findings).toEqual([]);
  expect(options.agentVariables).toEqual({ KEY: byName('REAL'), MODE: 'fast' });
});

test('what is installed becomes a layer, with copies of packages of this machine', async () => {
  user.npmPackage('my session/tool', 'hello');
  user.write({ 'my session/x.deb': 'deb' });
  const wanted = { npm: ['./tool', 'prettier@3.6.2'], apt: ['jq', './x.deb'], setup: ['true'], commands: ['tool'] };
  const { options, findings } = await take(wanted);
  expect(findings).toEqual([]);
  const files = options.layer?.files ?? new Map();
  expect([...files.keys()]).toEqual(['./tool', './x.deb']);
  for (const { path } of files.values()) {
    expect(path).toStartWith(harbor.options.dir);
    expect(existsSync(path)).toBe(true);
  }
  expect(Object.keys(options.broughtVersions ?? {})).toEqual(['package tool', 'package x.deb']);
});

describe('is refused', () => {
  test('a secret in what would stand in the image', async () => {
    user.secrets = ['sk-very-secret'];
    user.env.TOKEN = 'sk-of-the-user-0123456789';
    expect(await problems({ setup: ['echo sk-very-secret'] })).toEqual([
      'preloads: a preload holds a secret, which would stand in the image',
    ]);
    expect(await problems({ env: ['TOKEN'], setup: ['curl -H "$TOKEN" x'] })).toEqual([
      'preloads.setup: a line of setup uses TOKEN, whose value would stand in the image',
    ]);
  });

  test('a task whose image is its compose file’s', async () => {
    const task = await harbor.task({ id: 'composed', instruction: 'x', test: 'x' });
    await Bun.write(join(task.dir, 'environment/docker-compose.yaml'), 'services: {main: {image: x}}\n');
    expect(await problems({ setup: ['true'] }, { tasks: [task] })).toEqual([
      expect.stringMatching(/^task composed: the preloads can’t be installed: its docker-compose\.yaml/),
    ]);
    expect(await problems({}, { tasks: [task] })).toEqual([]);
  });

  test('your instructions where the agent or the environment has no place for them', async () => {
    user.write({ 'home/.claude/CLAUDE.md': 'Be brief.', 'home/.pi/agent/AGENTS.md': 'Be brief.' });
    const machine = { skills: [], memory: true, mcp: [] };
    expect(await problems({ machine })).toEqual([]);
    expect(await problems({ machine }, { agent: { name: 'pi' } })).toEqual([
      expect.stringMatching(/in Harbor pi has no place/),
    ]);
    expect(await problems({ machine }, { environment: { type: 'daytona' } })).toEqual([
      expect.stringMatching(/trials on daytona see no file/),
    ]);
  });

  test('variables for a server of codex’s, and any server for a mounted pi', async () => {
    user.env.DB = 'postgres://user:pass-word-1@h';
    const mcp = { db: { command: ['db-mcp'], env: ['DB'] } };
    expect(await problems({ mcp }, { agent: { name: 'codex' } })).toEqual([
      expect.stringMatching(/^preloads\.mcp\.db: codex gives its MCP servers none/),
    ]);
    const mounted = { agent: 'pi', program: 'pi', version: '1', needs: null } as const;
    expect(await problems({ mcp }, { agent: { name: 'pi' }, mounted })).toEqual([
      expect.stringMatching(/^preloads\.mcp\.db: pi takes MCP servers in Harbor by an extension/),
    ]);
  });

  test('a variable that is not set, and a package that is not there', async () => {
    expect(await problems({ env: ['NOT_SET_HERE'], apt: ['./gone.deb', '-y'] })).toEqual([
      'preloads.env: the variable NOT_SET_HERE is not set',
      expect.stringMatching(/gone\.deb: \.\/gone\.deb is no \.deb/),
      'preloads.apt: "-y" is no system package',
    ]);
  });
});
