import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Failure, fail, SkilloptError } from '../../../ports/failure.ts';
import { waitUntil } from '../../../process/wait.ts';
import type { AgentEnd, AgentRun } from '../agent.ts';
import type { AgentSettings } from '../settings.ts';
import { createCliAgent } from './cli-agent.ts';
import { emptyReading, fakeKind, fakeModel, program, runIn, settingsFor } from './cli-fixture.ts';
import type { CliKind, CliLogin, CliLoginOptions, CliReading, CliSeat } from './cli-kind.ts';

let base = '';
let rooms = 0;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'skillopt-cli-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const room = () => join(base, String(rooms++));

/** An agent whose program does what the script says. */
function agentOf(script: string, kind: Partial<CliKind> = {}, settings: Parameters<typeof settingsFor>[1] = {}) {
  const dir = room();
  program(join(dir, 'bin'), 'fake', script);
  return { agent: createCliAgent(fakeKind(kind), settingsFor(`${join(dir, 'bin')}:/usr/bin:/bin`, settings)), dir };
}

async function endOfScript(
  script: string,
  kind: Partial<CliKind> = {},
  run: Partial<AgentRun> = {},
): Promise<AgentEnd> {
  const { agent, dir } = agentOf(script, kind);
  return agent.run(runIn(dir, run));
}

const reads =
  (reading: Partial<CliReading>): CliKind['parse'] =>
  () => ({ ...emptyReading, ...reading });

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SkilloptError) return error.failure;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('a run', () => {
  test('gives the instruction by stdin, and reads both outputs from files beside the agent’s logs', async () => {
    const { agent, dir } = agentOf('cat; echo "[$1]"; echo said >&2; echo END', {
      parse: ({ stdout, stderr, skillName }) => ({ ...emptyReading, finalText: `${stdout}|${stderr}|${skillName}` }),
    });
    const end = await agent.run(runIn(dir, { instruction: 'Ring – twice', skillDir: '/skills/bell' }));
    expect(end.finalText).toBe('Ring – twice[work]\nEND\n|said\n|bell');
    expect(end.steps).toEqual([{ kind: 'message', role: 'user', text: 'Ring – twice' }]);
    expect(end).toMatchObject({ exit: 'finished', trouble: null });
    expect(readFileSync(join(dir, 'logs/fake-agent.stderr.txt'), 'utf8')).toBe('said\n');
  });

  test('gives no instruction that the agent takes for a command of its own', async () => {
    const { agent, dir } = agentOf('cat; echo; echo END', {
      parse: ({ stdout }) => ({ ...emptyReading, finalText: stdout }),
    });
    for (const instruction of ['/app/in.csv holds figures.', '\n /help them', '/clear']) {
      const end = await agent.run(runIn(dir, { instruction }));
      expect(end.finalText).toStartWith(`Task:\n\n${instruction}\n`);
      expect(end.steps[0]).toEqual({ kind: 'message', role: 'user', text: instruction });
    }
  });

  test('is none of another version than the one that was told; the same one put there again is', async () => {
    const script = (version: string) => `case "$1" in --version) echo "${version}"; exit;; esac; echo END`;
    const { agent, dir } = agentOf(script('1.2.3'));
    const replace = (version: string) => {
      rmSync(join(dir, 'bin/fake'));
      program(join(dir, 'bin'), 'fake', script(version));
    };
    expect(await agent.version()).toBe('1.2.3');
    replace('1.2.3');
    expect(await agent.run(runIn(dir))).toMatchObject({ exit: 'finished' });
    replace('1.2.40');
    expect(await failureOf(agent.run(runIn(dir)))).toMatchObject({
      code: 'environment-down',
      what: 'fake was replaced while it was measured: 1.2.3 → 1.2.40',
      fix: expect.stringMatching(/start it again/),
    });
    replace('1.2.3');
    expect(await agent.run(runIn(dir))).toMatchObject({ exit: 'finished' });
  });

  test('tells its kind where it sits', async () => {
    const seats: CliSeat[] = [];
    const launch: CliKind['launch'] = (seat) => {
      seats.push(seat);
      return { args: [], env: {}, homeFiles: {} };
    };
    const settings = {
      limits: { requests: 7, tokens: null, usd: 2 },
      mcp: { bell: { command: ['bell', '-x'], env: ['BELL'] }, far: { url: 'http://far/' } },
    };
    const { agent, dir } = agentOf('echo END', { launch, speaks: ['chat', 'messages'] }, settings);
    const model = { ...fakeModel, protocols: ['messages'] as const };
    await agent.run(runIn(dir, { model, env: { TMPDIR: '/inside/tmp', PATH: '/usr/bin:/bin' } }));
    expect(seats[0]).toMatchObject({
      temp: '/inside/tmp',
      skillName: null,
      model,
      protocol: 'messages',
      modelName: null,
      maxTurns: 7,
      maxUsd: null,
      mcp: {
        bell: { kind: 'stdio', command: ['bell', '-x'], env: ['BELL'] },
        far: { kind: 'http', url: 'http://far/' },
      },
    });
  });

  test('writes the files of its kind into the home, for nobody else, and follows no link that is in the way', async () => {
    const homeFiles = { '.fake/deep/settings.json': 'new', '.plain': 'new', '.gone/x': 'new' };
    const { agent, dir } = agentOf('echo END', { launch: () => ({ args: [], env: {}, homeFiles }) });
    const run = runIn(dir);
    const outside = join(dir, 'outside');
    mkdirSync(join(outside, 'deep'), { recursive: true });
    for (const name of ['deep/settings.json', 'plain']) writeFileSync(join(outside, name), 'mine');
    symlinkSync(outside, join(run.home, '.fake'));
    symlinkSync(join(outside, 'plain'), join(run.home, '.plain'));
    writeFileSync(join(run.home, '.gone'), 'a file where a folder is wanted');
    await agent.run(run);
    for (const path of Object.keys(homeFiles)) {
      const file = join(run.home, path);
      expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o600]);
    }
    expect(readFileSync(join(outside, 'deep/settings.json'), 'utf8')).toBe('mine');
    expect(readFileSync(join(outside, 'plain'), 'utf8')).toBe('mine');
    expect(lstatSync(join(run.home, '.fake')).isSymbolicLink()).toBe(false);
  });

  test('reads nothing from elsewhere through a link that the agent put in place of its output', async () => {
    const dir = room();
    mkdirSync(dir, { recursive: true });
    const secret = join(dir, 'secret');
    writeFileSync(secret, 'SECRET OF THE HOST');
    const script = `ln -sf ${secret} ../logs/fake-agent.stdout.jsonl; echo END`;
    const end = await endOfScript(script);
    expect(JSON.stringify(end)).not.toContain('SECRET');
  });

  test('ends soon after its signal, with what was said by then', async () => {
    const { agent, dir } = agentOf('echo so far; echo here > started; exec sleep 300', {
      parse: ({ stdout }) => ({ ...emptyReading, finalText: stdout, ended: false }),
    });
    const stop = new AbortController();
    const run = runIn(dir, { signal: stop.signal });
    const running = agent.run(run);
    expect(await waitUntil(() => existsSync(join(run.workspace, 'started')), 20_000)).toBe(true);
    stop.abort();
    expect(await running).toMatchObject({ exit: 'timeout', trouble: null, finalText: 'so far\n', didWork: false });
  });

  test('a program that could not be started is no crash', async () => {
    const { agent, dir } = agentOf('echo END');
    await agent.version().catch(() => null);
    const run = runIn(dir, { run: async () => ({ ...(await runIn(dir).run(['/no/such/program'])) }) });
    const end = await agent.run(run);
    expect(end).toMatchObject({ exit: 'not-started', trouble: { reason: 'agent-setup' } });
    expect(end.trouble?.detail).toContain('/no/such/program');
  });
});

describe('how a run ended', () => {
  test.each([
    ['its last event and 0', 'echo END', {}, 'finished', null],
    ['its last event and another code', 'echo END; exit 3', {}, 'nonzero', null],
    ['no last event, though the code is 0', 'echo so; exit 0', {}, 'crashed', 'agent-crash'],
    ['a signal of somebody else', 'echo so; kill -9 $$', {}, 'crashed', 'agent-crash'],
    ['a limit of its own', 'echo END; exit 1', { trouble: { kind: 'limit', detail: 'turns' } }, 'nonzero', null],
    ['a rate limit', 'exit 0', { trouble: { kind: 'rate-limit', detail: 'x' } }, 'finished', 'provider-rate-limit'],
    ['a provider', 'exit 0', { trouble: { kind: 'provider', detail: 'x' } }, 'finished', 'provider-error'],
    ['a crash by its own account', 'exit 0', { trouble: { kind: 'crash', detail: 'x' } }, 'crashed', 'agent-crash'],
  ] as const)('%s', async (_, script, reading, exit, reason) => {
    const parse: CliKind['parse'] | undefined = Object.keys(reading).length === 0 ? undefined : reads(reading);
    const end = await endOfScript(script, parse === undefined ? {} : { parse });
    expect([end.exit, end.trouble?.reason ?? null]).toEqual([exit, reason]);
    expect(end.failure).toBeUndefined();
  });

  test('a crash is told with the last words on stderr, on one line and bounded', async () => {
    const script = `for n in $(seq 5000); do echo "noise $n" >&2; done; echo "  Error: the cause" >&2; exit 7`;
    const { trouble } = await endOfScript(script);
    expect(trouble?.detail).toBe(
      'fake-agent did not come to its end (exit code 7): noise 4999 · noise 5000 · Error: the cause',
    );
  });

  test.each([
    ['auth', 'auth', 'the key is refused: no', false],
    ['quota', 'quota', 'the account is used up: no', false],
    ['model-not-found', 'config', 'openai-compatible/some-model is not there: no', false],
  ] as const)('%s is a failure, never an outcome', async (kind, code, what, retryable) => {
    const end = await endOfScript('exit 1', { parse: reads({ trouble: { kind, detail: 'no' } }) });
    expect(end.trouble).toBeNull();
    expect(end.failure).toMatchObject({ code, what, retryable });
    expect(end.failure?.fix).not.toBe('');
  });

  test('what it met before it was stopped counts, but that it did not come to its end is our own doing', async () => {
    const stop = new AbortController();
    stop.abort();
    const met = (trouble: CliReading['trouble']) =>
      endOfScript('echo', { parse: reads({ trouble, ended: false }) }, { signal: stop.signal });
    expect(await met({ kind: 'provider', detail: 'no answer' })).toMatchObject({
      exit: 'timeout',
      trouble: { reason: 'provider-error', detail: 'no answer' },
    });
    expect(await met({ kind: 'crash', detail: 'killed' })).toMatchObject({ exit: 'timeout', trouble: null });
    expect(await met(null)).toMatchObject({ exit: 'timeout', trouble: null });
  });

  test.each([
    ['no tokens and a tool', 0, true, false],
    ['tokens and no tool', 5, false, true],
    ['tokens that are not told, and a tool', null, true, true],
    ['tokens that are not told, and no tool', null, false, false],
  ])('whether it worked: %s', async (_, outputTokens, tool, didWork) => {
    const usage = { inputTokens: 1, outputTokens, costUsd: null, requests: 1 };
    const steps = tool ? [{ kind: 'tool' as const, name: 'sh', input: '', output: '', exitCode: 0 }] : [];
    expect((await endOfScript('exit 0', { parse: reads({ usage, steps }) })).didWork).toBe(didWork);
  });
});

describe('a login', () => {
  const secret = 'secret-of-the-login-0123456789';
  const login: CliLogin = {
    env: { FAKE_TOKEN: secret },
    homeFiles: { '.fake/auth.json': `{"token":"${secret}"}` },
    secrets: [secret],
    logIn: '`fake login`',
    where: 'FAKE_TOKEN',
    expiresMs: null,
  };
  const byLogin = (script: string, kind: Partial<CliKind> = {}) =>
    agentOf(
      script,
      { login: async () => login, ...kind },
      { login: 'subscription', variables: { HOME: '/home/user' }, limits: { requests: null, tokens: null, usd: 3 } },
    );

  test('is taken for as long as the rollout may last, given to the process, and shown to nobody', async () => {
    const asked: unknown[] = [];
    const seats: CliSeat[] = [];
    const { agent, dir } = byLogin(
      'echo "$FAKE_TOKEN"; cat "$HOME/.fake/auth.json"; echo "$FAKE_TOKEN" >&2; echo END',
      {
        login: async (o) => {
          asked.push(o);
          return login;
        },
        launch: (seat) => {
          seats.push(seat);
          return { args: [], env: {}, homeFiles: {} };
        },
      },
    );
    const end = await agent.run(runIn(dir, { model: null }));
    expect(asked[0]).toMatchObject({ hostHome: '/home/user', model: 'anthropic/claude-x', outlivesMs: 180_000 });
    expect(seats[0]).toMatchObject({ model: null, protocol: null, modelName: 'claude-x', maxUsd: 3 });
    expect(end.finalText).toBe('[redacted: login]\n{"token":"[redacted: login]"}END\n');
    for (const name of ['stdout.jsonl', 'stderr.txt'])
      expect(readFileSync(join(dir, `logs/fake-agent.${name}`), 'utf8')).not.toContain(secret);
  });

  test('a window that is used up is a failure that mends itself, told with its end', async () => {
    const trouble = { kind: 'rate-limit', detail: 'usage limit reached|1796095063' } as const;
    const { agent, dir } = byLogin('exit 1', { parse: reads({ trouble }) });
    const { failure } = await agent.run(runIn(dir, { model: null }));
    expect(failure).toMatchObject({ code: 'quota', retryable: true });
    expect(failure?.what).toContain('used up until 2026-12-01 03:18 UTC');
    expect(failure?.retryAt).toBe('2026-12-01T03:17:43.000Z');
  });

  test('what a model with a key would have cost is not what a subscription has', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.5, requests: 1 };
    const { agent, dir } = byLogin('exit 0', { parse: reads({ usage }) });
    expect((await agent.run(runIn(dir, { model: null }))).usage).toEqual({ ...usage, costUsd: null });
    const keyed = agentOf('exit 0', { parse: reads({ usage }) });
    expect((await keyed.agent.run(runIn(keyed.dir))).usage).toEqual(usage);
  });

  test('one that is refused names what makes a new one', async () => {
    const { agent, dir } = byLogin('exit 1', { parse: reads({ trouble: { kind: 'auth', detail: '401' } }) });
    const { failure } = await agent.run(runIn(dir, { model: null }));
    expect(failure).toMatchObject({ code: 'auth', what: 'the login of fake-agent is refused (401)' });
    expect(failure?.fix).toContain('`fake login`');
  });

  test('the way out of this machine is given to it alone', async () => {
    const variables = { HTTPS_PROXY: 'http://proxy:1', NODE_EXTRA_CA_CERTS: '/etc/own.pem', OTHER: 'x' };
    const script = 'echo "$HTTPS_PROXY|$NODE_EXTRA_CA_CERTS|$OTHER"; echo END';
    const own = agentOf(script, { login: async () => login }, { login: 'subscription', variables });
    expect((await own.agent.run(runIn(own.dir, { model: null }))).finalText).toBe(
      'http://proxy:1|/etc/own.pem|\nEND\n',
    );
    expect((await own.agent.needs?.())?.show).toContain('/etc/own.pem');
    const keyed = agentOf(script, {}, { variables });
    expect((await keyed.agent.run(runIn(keyed.dir))).finalText).toBe('||\nEND\n');
    expect((await keyed.agent.needs?.())?.show).not.toContain('/etc/own.pem');
  });

  test('a key that the agent would take in its place is refused', async () => {
    const { agent, dir } = byLogin('exit 1', { name: 'codex' });
    const env = { PATH: '/usr/bin:/bin', CODEX_API_KEY: 'x' };
    expect(await failureOf(agent.run(runIn(dir, { model: null, env })))).toMatchObject({
      code: 'auth',
      what: 'codex would use CODEX_API_KEY in place of its login',
    });
  });

  test('what a model says of limits is no word of its service', async () => {
    const text = 'usage limit reached|1796095063';
    const { agent, dir } = byLogin('exit 0', { parse: reads({ finalText: text }) });
    expect(await agent.run(runIn(dir, { model: null }))).toMatchObject({ exit: 'finished', trouble: null });
  });

  test('there is none to take', async () => {
    const refused = fail('auth', 'not logged in', 'here', 'log in');
    const { agent, dir } = byLogin('exit 1', {
      login: async () => {
        throw refused;
      },
    });
    expect(await failureOf(agent.run(runIn(dir, { model: null })))).toEqual(refused.failure);
    const { agent: keyed, dir: there } = agentOf('exit 0');
    expect((await failureOf(keyed.run(runIn(there, { model: null })))).code).toBe('config');
  });
});

describe('before anything is spent', () => {
  const levels = async (agent: ReturnType<typeof createCliAgent>) =>
    (await agent.preflight()).map(({ level, what }) => `${level}: ${what}`);

  test('a program that is there, and its version, which is asked once', async () => {
    const dir = room();
    const count = join(dir, 'count');
    program(join(dir, 'bin'), 'fake', `[ "$1" = --version ] && echo x >> ${count} && echo "fake 2.9.1 (build 3)"`);
    const agent = createCliAgent(fakeKind(), settingsFor(`${join(dir, 'bin')}:/usr/bin:/bin`));
    expect(await Promise.all([agent.version(), agent.version()])).toEqual(['2.9.1', '2.9.1']);
    expect(await levels(agent)).toContain('ok: fake-agent 2.9.1');
    expect(readFileSync(count, 'utf8')).toBe('x\n');
  });

  test('a program that is not there: how it is installed', async () => {
    const agent = createCliAgent(fakeKind(), settingsFor('/nowhere'));
    const [finding] = await agent.preflight();
    expect(finding).toMatchObject({ level: 'error', fix: 'install it: npm install -g @fake/agent@2.4.0' });
    expect(await failureOf(agent.version())).toMatchObject({ code: 'environment-down', fix: finding?.fix });
    expect(await failureOf(agent.run(runIn(room())))).toMatchObject({ code: 'environment-down' });
    expect(await agent.needs?.()).toEqual({ show: [], path: [], network: false });
  });

  test.each([
    ['another major version', 'echo 3.0.0', 'warning: fake-agent 3.0.0 is another major version than 2.4.0'],
    ['no version', 'echo oops >&2; exit 4', 'error: fake does not tell its version: oops'],
    ['a wrapper', 'echo 2.0.0', 'warning: fake is a script that starts another program'],
  ])('%s', async (_, script, want) => {
    const { agent } = agentOf(script);
    expect((await levels(agent)).some((line) => line.startsWith(want))).toBe(true);
  });

  test.each([
    ['is missing', null, 'error: fake needs node, which is not on PATH', 'install node 22.19.0 or newer'],
    ['is too old', 'v20.1.0', 'error: fake needs node 22.19.0 or newer, and node 20.1.0 is the first on PATH', ''],
    ['is new enough', 'v22.19.0', 'ok: fake-agent 2.4.1', ''],
    ['is newer', 'v26.0.0', 'ok: fake-agent 2.4.1', ''],
  ])('the interpreter of its launcher %s', async (_, version, want, fix) => {
    const bin = join(room(), 'bin');
    program(bin, 'fake', '#!/usr/bin/env node\n');
    if (version !== null) {
      // answers for itself, and for the script that it is given
      program(bin, 'node', `[ "$1" = --version ] && echo ${version} || echo 2.4.1`);
    }
    const agent = createCliAgent(fakeKind({ node: '22.19.0' }), settingsFor(bin));
    const [finding] = await agent.preflight();
    expect(`${finding?.level}: ${finding?.what}`).toBe(want);
    expect(finding?.fix ?? '').toContain(fix);
  });

  test('a program that it needs beside', async () => {
    const alsoNeeds = [{ program: 'rg-of-nobody', why: 'skills can’t be read' }];
    const { agent } = agentOf('echo 2.4.0', { alsoNeeds });
    expect(await levels(agent)).toContain(
      'error: fake-agent needs rg-of-nobody, which is not on PATH: skills can’t be read',
    );
  });

  test.each([
    ['chat', 'builtin'],
    ['responses', 'codex'],
  ] as const)('a model that answers in %s alone: the agents that can use it are named', async (protocol, name) => {
    const { agent } = agentOf('echo 2.4.0', {}, { protocols: [protocol] });
    const finding = (await agent.preflight()).find(({ where }) => where === 'model');
    expect(finding?.level).toBe('error');
    expect(finding?.what).toStartWith('fake-agent speaks Anthropic Messages, and claude-x answers OpenAI ');
    expect(finding?.fix).toContain(name);
    expect(finding?.fix).not.toContain('claude-code');
  });

  test('a model that answers in its API among others, or of which nothing is known, is fine', async () => {
    for (const protocols of [['messages', 'chat'], null] as const) {
      const { agent } = agentOf('echo 2.4.0', {}, { protocols });
      expect((await agent.preflight()).filter(({ level }) => level === 'error')).toEqual([]);
    }
  });

  test('a login that can not be taken, and limits that nobody holds', async () => {
    const limits = { requests: 5, tokens: 9, usd: 1 };
    const without = agentOf('echo 2.4.0', {}, { login: 'subscription' }).agent;
    expect(await levels(without)).toContain('error: fake-agent has no login that a rollout could be given');
    const refused = async () => {
      throw fail('auth', 'ran out', 'auth.json', 'log in');
    };
    const out = agentOf('echo 2.4.0', { login: refused }, { login: 'subscription' }).agent;
    expect((await out.preflight()).at(-1)).toEqual({
      level: 'error',
      what: 'ran out',
      where: 'auth.json',
      fix: 'log in',
    });
    const findings = await byOwnLogin({ ownLimits: ['requests'] }, { limits }).preflight();
    expect(findings.map(({ level, where }) => `${level} ${where}`).slice(-4)).toEqual([
      'ok auth.json',
      'warning login',
      'error agentLimits.tokens',
      'error agentLimits.usd',
    ]);
    expect(findings.at(-1)?.fix).toStartWith(
      'take it out: requests and the time of a rollout (timeouts.agentSec) hold',
    );
    expect(await byOwnLogin().needs?.()).toMatchObject({ network: true });
  });

  test('how it is let in, and what does not hold with a login', async () => {
    expect(await levels(agentOf('echo 2.4.0').agent)).toContain(
      'ok: fake-agent is let in by the model’s key; no login of its own is used',
    );
    const unnamed = await levels(byOwnLogin({}, { modelId: null }));
    expect(unnamed).toContain(
      'warning: no model is named: fake-agent takes its own choice, which may be another one tomorrow',
    );
    expect(unnamed.join('\n')).toContain('warning: with its own login fake-agent talks to its vendor by itself');
    const short = await levels(byOwnLogin({}, {}, 3_600_000));
    expect(short.join('\n')).toMatch(
      /warning: the login of fake-agent holds until .*: a run that takes longer pauses before/,
    );
    const asked: number[] = [];
    const login = async (o: CliLoginOptions) => {
      asked.push(o.outlivesMs);
      return ownLogin(null);
    };
    await agentOf('echo 2.4.0', { login }, { login: 'subscription', longestMs: 42_000 }).agent.preflight();
    expect(asked).toEqual([42_000]);
    const given = ['PATH', 'ANTHROPIC_API_KEY'];
    expect(await levels(byOwnLogin({ name: 'claude-code' }, { given }))).toContain(
      'error: claude-code would use ANTHROPIC_API_KEY in place of its login',
    );
  });

  const ownLogin = (expiresMs: number | null): CliLogin => ({
    ...{ env: {}, homeFiles: {}, secrets: [], where: 'auth.json', logIn: '`fake login`' },
    expiresMs,
  });
  const byOwnLogin = (kind: Partial<CliKind> = {}, more: Partial<AgentSettings> = {}, holdsMs = 7 * 86_400_000) =>
    agentOf(
      'echo 2.4.0',
      { login: async () => ownLogin(Date.now() + holdsMs), ...kind },
      { login: 'subscription', ...more },
    ).agent;
});
