import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../ports/hash.ts';
import type { Reading, UnscoredReason } from '../../ports/outcome.ts';
import type { RolloutReport } from '../../ports/rollouts.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { never, request } from '../self-check-tools.ts';
import { abortFailure } from './abort.ts';
import { cellOfTrial, trialsIn } from './job-folder.ts';
import { fixtures, harborOptions, harborTask } from './options-fixture.ts';
import { resultOf } from './result.ts';
import { readTrial } from './trial.ts';

/** What Harbor really wrote, a folder a case, and what is concluded from it. */
const cases = join(fixtures, 'outcomes');
const skillText = readFileSync(join(cases, '../greeter/SKILL.md'), 'utf8');

/** Of one trial: its score, why it has none, the failure that it stands for, or that it was ended. */
type Told =
  | { readonly score: number; readonly read?: Reading; readonly timedOut?: true; readonly exit?: string }
  | { readonly unscored: UnscoredReason; readonly says?: RegExp }
  | { readonly failed: string; readonly says: RegExp }
  | 'cancelled'
  | 'no result';
/** Of a job that ended without some of its trials. */
type Ended = { readonly failed: string; readonly says: RegExp; readonly where: RegExp; readonly fix: RegExp };

type Row = {
  /** By the beginnings of the trials' names; one word for all. */
  readonly trials: Told | Readonly<Record<string, Told>>;
  readonly job?: Ended;
  /** The skill stands in its job. */
  readonly skill?: true;
  readonly model?: true;
};

const noToken = /without a token of the model/;
const endedByOthers: Ended = {
  failed: 'environment-down',
  says: /ended by something else/,
  where: /job/,
  fix: /again/,
};
const refused = (failed: string, says: RegExp, where: RegExp, fix: RegExp): Ended => ({ failed, says, where, fix });
const nothing = {} as const;

const table: Readonly<Record<string, Row>> = {
  success: { trials: { score: 1, exit: 'finished' } },
  wrong: { trials: { score: 0, exit: 'finished' } },
  'multi-attempts': { trials: { score: 1 } },
  'skill-decides-right': { trials: { score: 1, read: null }, skill: true },
  'skill-decides-wrong': { trials: { score: 0, read: null }, skill: true },
  'test-exit-nonzero-reward-1': { trials: { score: 1 } },
  'reward-json-multi': { trials: { score: 1 } },
  'reward-json-no-reward-key': {
    trials: { unscored: 'verifier-bad-reward', says: /no key "reward" among 2 keys \(accuracy, style\)/ },
  },
  'separate-verifier': { trials: { score: 1 } },
  // an agent without a model can't have waited for one
  'agent-timeout': { trials: { score: 0, timedOut: true, exit: 'timeout' } },
  'agent-timeout-reward-1': { trials: { score: 1, timedOut: true, exit: 'timeout' } },
  'agent-nonzero-exit': { trials: { score: 1, exit: 'nonzero' } },
  'api-rate-limit-reward-1': { trials: { unscored: 'provider-rate-limit', says: /ApiRateLimitError/ } },
  'agent-class-bug': { trials: { unscored: 'agent-crash', says: /ValueError: a bug in the agent class/ } },
  'agent-setup-fails': { trials: { unscored: 'agent-setup', says: /Agent install failed: exit 7/ } },
  'missing-model-key': {
    trials: { unscored: 'agent-setup', says: /NetworkConnectionError/ },
    skill: true,
    model: true,
  },
  'skills-unsupported-agent': { trials: { failed: 'config', says: /agent oracle takes no skill/ }, skill: true },
  'verifier-timeout': { trials: { unscored: 'verifier-timeout' } },
  'reward-missing': { trials: { unscored: 'verifier-missing-reward', says: /No reward file found/ } },
  'reward-empty': { trials: { unscored: 'verifier-bad-reward', says: /Reward file is empty/ } },
  'reward-non-numeric': { trials: { unscored: 'verifier-bad-reward' } },
  'reward-nan': { trials: { unscored: 'verifier-bad-reward', says: /Non-finite reward nan/ } },
  'reward-json-nested': { trials: { unscored: 'verifier-bad-reward' } },
  'build-failure': {
    trials: { 'bad-build': { unscored: 'environment', says: /Docker compose command failed/ }, good: { score: 1 } },
  },
  'no-dockerfile': { trials: { 'no-df': { unscored: 'environment' }, good: { score: 1 } } },
  // of Claude Code's log the fixtures hold the end alone, where it does not say which skills it was offered
  'claude-code-success': { trials: { score: 1, read: null }, skill: true, model: true },
  'codex-success': { trials: { score: 1, read: true }, skill: true, model: true },
  // a refused key is never an outcome: its log says so where Harbor saw a time limit alone
  'claude-code-401': { trials: { failed: 'auth', says: /key is refused: 401/ }, skill: true, model: true },
  'claude-code-429': { trials: { unscored: 'provider-rate-limit', says: /429/ }, skill: true, model: true },
  'claude-code-500': { trials: { unscored: 'provider-error', says: /500/ }, skill: true, model: true },
  'claude-code-hang': { trials: { unscored: 'provider-error', says: noToken }, skill: true, model: true },
  'claude-code-400': { trials: { unscored: 'provider-error', says: /400/ }, skill: true, model: true },
  'claude-code-silent': { trials: { unscored: 'agent-did-no-work', says: noToken }, skill: true, model: true },
  'codex-401': { trials: { failed: 'auth', says: /key is refused: .*401/ }, skill: true, model: true },
  'codex-429': { trials: { unscored: 'provider-rate-limit', says: /429/ }, skill: true, model: true },
  'codex-500': { trials: { unscored: 'provider-error', says: /high demand/ }, skill: true, model: true },
  'partial-and-sigterm': { trials: { good: { score: 1 }, long: 'cancelled', long2: 'cancelled' }, job: endedByOthers },
  'killed-9': { trials: { good: { score: 1 }, long: 'no result' }, job: endedByOthers },
  'invalid-task-toml': {
    trials: 'no result',
    job: refused('pack', /task bad-toml: task\.toml is no TOML: .*line 12/, /bad-toml\/task\.toml$/, /mend the file/),
  },
  'invalid-task-field': {
    trials: 'no result',
    job: refused('pack', /task bad-field: .*agent\.timeout_sec.*'soon'/, /bad-field\/task\.toml$/, /change the value/),
  },
  'missing-test-script': {
    trials: 'no result',
    job: refused('pack', /task no-test has no tests\/test\.sh/, /no-test\/tests\/test\.sh$/, /add the script/),
  },
  'network-policy-unsupported': {
    trials: 'no result',
    job: refused(
      'pack',
      /task offline: network_mode='no-network' .*docker here/,
      /task\.toml$/,
      /environment that can/,
    ),
  },
  'missing-task-dir': {
    trials: nothing,
    job: refused('pack', /folder of task does-not-exist is not there/, /does-not-exist$/, /put the folder back/),
  },
  'missing-skill': {
    trials: nothing,
    job: refused('skill', /folder of a skill is not there/, /no\/such\/skill$/, /put the folder back/),
  },
  'skill-without-skill-md': {
    trials: nothing,
    job: refused('skill', /has no SKILL\.md/, /not-a-skill$/, /add the file/),
  },
  'unknown-agent': { trials: nothing, job: refused('config', /no agent no-such-agent/, /agent/, /harbor agent list/) },
  'unknown-agent-import': {
    trials: nothing,
    job: refused('config', /no_such_module can’t be imported: No module named/, /module:Class/, /folder/),
  },
  'invalid-config': {
    trials: nothing,
    job: refused('config', /does not take n_concurrent_trials: Input should be a valid integer/, /job/, /change/),
  },
  'unset-var-task': {
    trials: nothing,
    job: refused('config', /not set: SKILLOPT_UNSET_VAR/, /\[environment\.env\]/, /export SKILLOPT_UNSET_VAR=/),
  },
  'unset-var-agent': {
    trials: nothing,
    job: refused('config', /SKILLOPT_UNSET_VAR is not set/, /environment/, /export SKILLOPT_UNSET_VAR=/),
  },
  'docker-down': {
    trials: nothing,
    job: refused('environment-down', /Docker does not answer/, /docker/, /docker info/),
  },
  'rerun-different-config': {
    // what lies there is another run's: see below
    trials: { good: { score: 0 } },
    job: refused('config', /job of this name/, /fx-rerun-different-config$/, /new name/),
  },
  'unknown-config-key': { trials: { score: 1 } },
};

/** What the task.toml of tasks with a fault of their own says. */
const tomls: Readonly<Record<string, string>> = {
  'bad-toml': '[agent]\ntimeout_sec = 60.0\n\n[agent\nx=1\n',
  'bad-field': '[agent]\ntimeout_sec = "soon"\n',
  offline: '[environment]\nnetwork_mode = "no-network"\n',
};

let pack = '';
beforeAll(() => {
  pack = mkdtempSync(join(tmpdir(), 'harbor-outcomes-'));
  for (const [id, toml] of Object.entries({ good: '[agent]\ntimeout_sec = 60.0\n', ...tomls })) {
    mkdirSync(join(pack, id));
    writeFileSync(join(pack, id, 'task.toml'), toml);
  }
});
afterAll(() => rmSync(pack, { recursive: true, force: true }));

test('every case that was kept has a row, and every row its case', () => {
  expect(Object.keys(table).sort()).toEqual(readdirSync(cases).sort());
});

for (const [name, row] of Object.entries(table)) {
  const folder = join(cases, name);
  describe(name, () => {
    test('each trial is worth what happened', async () => {
      const found = existsSync(join(folder, 'job')) ? await trialsIn(join(folder, 'job')) : [];
      const one = isOne(row.trials) ? row.trials : null;
      const wanted = one === null ? Object.keys(row.trials) : [...new Set(found.map((trial) => taskOf(trial.name)))];
      expect([...new Set(found.map((trial) => taskOf(trial.name)))].sort()).toEqual(wanted.sort());
      for (const trial of found) {
        const told = one ?? (row.trials as Readonly<Record<string, Told>>)[taskOf(trial.name)];
        if (trial.result === null) expect(told).toBe('no result');
        else expectTold(told, await reportOf(trial.folder, row));
      }
    });
    test('its process ended well, or the failure says what and how to mend it', async () => {
      const end = endOf(folder);
      if (end.exitCode === 0) expect(row.job).toBeUndefined();
      else await expectEnded(row.job, end, name);
    });
  });
}

test('no trial that was begun by another is taken for ours', async () => {
  for (const name of Object.keys(table)) {
    const found = await trialsIn(join(cases, name, 'job'));
    expect(found.map(({ result }) => result && cellOfTrial(result))).toEqual(found.map(() => null));
  }
});

test('what was spent is told as Harbor counts it, and what it does not know is not known', async () => {
  const spent = async (name: string) => {
    const [trial] = await trialsIn(join(cases, name, 'job'));
    const report = await reportOf(trial?.folder ?? '', table[name]!);
    return report.kind === 'finished' ? report.result.usage : report.usage;
  };
  const of = (inputTokens: number | null, outputTokens: number | null, costUsd: number | null) => ({
    inputTokens,
    outputTokens,
    costUsd,
    requests: null,
  });
  expect(await spent('claude-code-success')).toEqual(of(39216, 32, 0.11812800000000001));
  expect(await spent('codex-success')).toEqual(of(21249, 32, 0.026881250000000002));
  expect(await spent('codex-500')).toEqual(of(null, null, null));
  expect(await spent('skill-decides-right')).toMatchObject({ outputTokens: 10, costUsd: 0.001 });
  // nothing is spent before an agent begins
  expect(await spent('agent-setup-fails')).toEqual({ ...of(0, 0, 0), requests: 0 });
  expect(await spent('success')).toEqual({ ...of(0, 0, 0), requests: 0 });
});

function isOne(trials: Row['trials']): trials is Told {
  return typeof trials === 'string' || 'score' in trials || 'unscored' in trials || 'failed' in trials;
}

const taskOf = (trial: string) => trial.replace(/__\w+$/, '');

async function reportOf(folder: string, row: Row): Promise<RolloutReport> {
  const trial = readTrial(readFileSync(join(folder, 'result.json'), 'utf8'));
  if (trial === null) throw new Error(`${folder} has no result`);
  const { name, import_path } = trial.config.agent as { readonly name?: string | null; readonly import_path?: string };
  const task = harborTask({ id: taskOf(trial.trial_name), dir: trial.task_id.path });
  const skill = { name: 'greeter', hash: sha256(skillText), text: skillText, bundleDir: null };
  return resultOf(folder, trial, {
    request: request('k', task, row.skill ? skill : null, never()) as never,
    laid: null,
    planted: null,
    options: harborOptions({
      agent: name ? { name } : { importPath: import_path ?? 'a:B' },
      model: row.model ? { name: 'a/model', baseUrl: null, keyName: null, apiFormat: null } : null,
    }),
    versions: {},
  });
}

function expectTold(told: Told | undefined, report: RolloutReport): void {
  if (told === undefined || told === 'no result') throw new Error(`nothing is said of it: ${JSON.stringify(report)}`);
  if (told === 'cancelled') {
    expect(report.kind).toBe('cancelled');
    return;
  }
  if ('failed' in told) {
    expect(report).toMatchObject({ kind: 'failed', failure: { code: told.failed } });
    if (report.kind === 'failed') expect(report.failure.what).toMatch(told.says);
    return;
  }
  const result = report.kind === 'finished' ? report.result : null;
  if (result === null) throw new Error(JSON.stringify(report));
  if ('unscored' in told) {
    expect(result.outcome).toMatchObject({ status: 'unscored', reason: told.unscored });
    if (result.outcome.status === 'unscored') expect(result.outcome.detail).toMatch(told.says ?? /\S/);
    return;
  }
  expect(result.outcome).toMatchObject({
    status: 'scored',
    hard: told.score,
    soft: told.score,
    read: told.read ?? null,
  });
  expect('agentTimedOut' in result.outcome).toBe(told.timedOut === true);
  if (told.exit !== undefined) expect(result.exit).toBe(told.exit as never);
}

function endOf(folder: string): ProcessEnd {
  const code = Number(readFileSync(join(folder, 'exit-code.txt'), 'utf8'));
  const text = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '');
  return {
    cause: code < 0 ? 'signal' : 'exited',
    exitCode: code < 0 ? null : code,
    signal: code < 0 ? 'SIGKILL' : null,
    stdout: text('stdout-tail.txt'),
    stderr: text('stderr-tail.txt'),
    detail: '',
    systemRefused: false,
    durationMs: 0,
    droppedBytes: 0,
    abandonedOutput: false,
  };
}

async function expectEnded(ended: Ended | undefined, end: ProcessEnd, name: string): Promise<void> {
  if (ended === undefined) throw new Error('it ended badly, and no row says so');
  const config = join(cases, name, 'job-config.json');
  const paths: readonly string[] = existsSync(config)
    ? JSON.parse(readFileSync(config, 'utf8')).tasks.map(({ path }: { readonly path: string }) => path)
    : [];
  const tasks = paths.map((path) => path.split('/').at(-1) ?? '').map((id) => ({ id, dir: join(pack, id) }));
  const failure = await abortFailure(end, { name: 'job-1', folder: '/jobs/job-1', tasks });
  expect(failure.code).toBe(ended.failed as never);
  expect(failure.what).toMatch(ended.says);
  expect(failure.where).toMatch(ended.where);
  expect(failure.fix).toMatch(ended.fix);
}
