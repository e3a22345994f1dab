import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Reading } from '../../../ports/outcome.ts';
import type { TrajectoryStep } from '../../../ports/trajectory.ts';
import type { ProcessEnd } from '../../../process/process-end.ts';
import { claudeCode } from './claude-code.ts';
import { endOf } from './cli-end.ts';
import type { CliKind, CliReading } from './cli-kind.ts';
import { codex } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';
import { cliKinds } from './kinds.ts';
import { withWindow } from './login-window.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';

/**
 * Real output of each agent: `fixtures/<agent>/<scenario>/` with stdout.jsonl, stderr.txt (absent when empty) and
 * meta.json, taken from runs against a scripted model.
 */
const scenarios = [
  'success',
  'not-read',
  'no-skill',
  'tool-error',
  '401',
  '400',
  '429',
  '500',
  '429x1',
  'refused',
  'malformed',
  'cut',
  'silent',
  'hang',
  'killed',
] as const;
type Scenario = (typeof scenarios)[number];

/** What a run was. `limit` = it ran up to a limit of its own; `time` = ended by us. */
type Seen = {
  readonly was: 'ran' | 'limit' | 'auth' | 'quota' | 'no-model' | 'rate-limit' | 'provider' | 'time';
  readonly read?: Reading;
  readonly finalText?: string;
  readonly thoughts?: readonly string[];
  /** A command whose text holds this was run, with this exit code. */
  readonly command?: readonly [string, number | null] | undefined;
};

const widget = 'echo widget-ok > widget.txt';

/** What every agent did in a scenario, where its row says nothing else. */
const common: Readonly<Record<Scenario, Seen>> = {
  success: { was: 'ran', read: true, finalText: 'WIDGET-DONE', command: [widget, 0] },
  'not-read': { was: 'ran', read: false },
  'no-skill': { was: 'ran', read: null },
  'tool-error': { was: 'ran', read: false, finalText: 'over', command: ['ls /nonexistent; exit 3', 3] },
  '401': { was: 'auth' },
  '400': { was: 'provider' },
  '429': { was: 'rate-limit' },
  '500': { was: 'provider' },
  '429x1': { was: 'ran', read: true, finalText: 'WIDGET-DONE', command: [widget, 0] },
  refused: { was: 'provider' },
  malformed: { was: 'provider' },
  cut: { was: 'provider' },
  silent: { was: 'ran', read: false, finalText: '' },
  hang: { was: 'time' },
  killed: { was: 'time', command: ['sleep 300', null] },
};

type Row = {
  readonly kind: CliKind;
  /** The skill's name in the fixtures. */
  readonly skill: string;
  /** What the agent itself says of the skill in a run that worked: offered or not, null = it does not say. */
  readonly visible: { readonly mounted: Reading; readonly read: Reading };
  /** Tokens in and out of `success`, and requests as far as it tells. */
  readonly spent: readonly [number | null, number | null, number | null];
  /** US dollars of `success`, where its config of the fixtures had a price. */
  readonly costUsd?: number;
  /** The body of a skill that it opened stands nowhere in its output. */
  readonly hidesBody?: true;
  readonly differs: Partial<Readonly<Record<Scenario, Partial<Seen>>>>;
  /** Scenarios of this agent alone. */
  readonly more?: Readonly<Record<string, Seen>>;
};

/** Refusals of an account and of a model, and a request too long for it. */
const refusals: Readonly<Record<string, Seen>> = {
  'used-up': { was: 'quota' },
  'no-credit': { was: 'quota' },
  'no-model': { was: 'no-model' },
  'too-long': { was: 'limit' },
};

const ran: Seen = { was: 'ran', read: true, finalText: 'WIDGET-DONE', command: [widget, 0] };
const pondered: Seen = { was: 'ran', read: false, thoughts: ['I ponder.'], finalText: 'Answer here.' };

/** A tool of an MCP server. */
const mcp: Seen = { was: 'ran', read: false, command: ['{"text":"hi"}', null] };

/** One agent a row. */
const rows: readonly Row[] = [
  {
    kind: claudeCode,
    skill: 'skill-p-claude',
    visible: { mounted: true, read: true },
    spent: [12238, 35, 3],
    differs: {
      // it asks again without streaming
      malformed: { was: 'ran', read: true, finalText: 'WIDGET-DONE', command: [widget, 0] },
      // its own patience was 8 s
      hang: { was: 'provider' },
    },
    more: { ...refusals, mcp },
  },
  {
    kind: codex,
    skill: 'skill-p-agents',
    visible: { mounted: null, read: true },
    spent: [19935, 36, null],
    differs: {},
    more: { ...refusals, mcp },
  },
  {
    kind: pi,
    skill: 'skill-p-agents',
    visible: { mounted: true, read: true },
    spent: [3491, 36, 3],
    costUsd: 0.003563,
    differs: {},
    more: {
      // by its words: with a key they are anyone's
      'used-up': { was: 'provider' },
      'success-messages': ran,
      'success-responses': ran,
      'success-gemini': ran,
      '401-messages': { was: 'auth' },
      '401-responses': { was: 'auth' },
      '401-gemini': { was: 'auth' },
      'no-credit': { was: 'quota' },
      'no-model': { was: 'no-model' },
      'too-long': { was: 'limit' },
      'thoughts-messages': pondered,
      'thoughts-gemini': pondered,
      'thoughts-chat': { ...pondered, thoughts: ['I ponder deeply.'], finalText: 'Answer \u2028 here.' },
    },
  },
  {
    kind: opencode,
    skill: 'skill-p-agents',
    visible: { mounted: null, read: true },
    spent: [11226, 28, 3],
    costUsd: 0.011282,
    differs: {
      'tool-error': { finalText: 'over"' },
      // it asks again and again without an event, and had no log in these
      '500': { was: 'time' },
      refused: { was: 'time' },
      cut: { was: 'time' },
      // before its first event
      killed: { was: 'time', command: undefined },
    },
    more: {
      'used-up': { was: 'quota' },
      'success-messages': ran,
      'success-responses': ran,
      'success-gemini': ran,
      '401-messages': { was: 'auth' },
      '401-responses': { was: 'auth' },
      '401-gemini': { was: 'auth' },
      // it goes on asking, and its log has no code
      'no-credit': { was: 'provider' },
      'no-model': { was: 'no-model' },
      'too-long': { was: 'limit' },
      // none that its own list has
      'unlisted-model': { was: 'no-model' },
      '500-log': { was: 'provider' },
      'refused-log': { was: 'provider' },
      'cut-log': { was: 'provider' },
      'thoughts-messages': pondered,
      'thoughts-gemini': pondered,
      'thoughts-chat': { ...pondered, thoughts: ['I ponder deeply.'], finalText: 'Answer \u2028 here.' },
    },
  },
  {
    kind: geminiCli,
    skill: 'skill-p-agents',
    visible: { mounted: null, read: true },
    spent: [27580, 35, null],
    hidesBody: true,
    differs: {
      // it tells no exit code of a command
      success: { command: [widget, null] },
      '429x1': { command: [widget, null] },
      'tool-error': { command: ['ls /nonexistent; exit 3', null] },
    },
    more: {
      'used-up': { was: 'rate-limit' },
      'no-credit': { was: 'rate-limit' },
      'no-model': { was: 'no-model' },
      '429-two-attempts': { was: 'rate-limit' },
      '500-two-attempts': { was: 'provider' },
      'refused-two-attempts': { was: 'provider' },
      // the half of an answer that came had a call
      'cut-two-attempts': { was: 'provider', command: ['skill-p-agents', null] },
      turns: { was: 'limit', read: false, command: ['echo loop 2', null] },
      'thoughts-gemini': { ...pondered, thoughts: [] },
    },
  },
];

type Run = { readonly stdout: string; readonly stderr: string; readonly end: ProcessEnd };

function runOf(kind: CliKind, scenario: string): Run {
  const dir = join(import.meta.dir, 'fixtures', kind.name, scenario);
  const text = (name: string) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : '');
  const meta = JSON.parse(text('meta.json')) as { exit: number; killed_by_time_limit: boolean };
  const killed = meta.exit < 0 || meta.killed_by_time_limit;
  const end: ProcessEnd = {
    cause: meta.killed_by_time_limit ? 'timeout' : killed ? 'cancelled' : 'exited',
    exitCode: killed ? null : meta.exit,
    signal: killed ? 'SIGTERM' : null,
    detail: '',
    systemRefused: false,
    durationMs: 1,
    stdout: '',
    stderr: '',
    droppedBytes: 0,
    abandonedOutput: false,
  };
  return { stdout: text('stdout.jsonl'), stderr: text('stderr.txt'), end };
}

const skillIn = (row: Row, scenario: string) => (scenario === 'no-skill' ? null : row.skill);

function endIn(row: Row, scenario: string) {
  const { stdout, stderr, end } = runOf(row.kind, scenario);
  const reading = row.kind.parse({ stdout, stderr, skillName: skillIn(row, scenario) });
  const run = { kind: row.kind, instruction: 'DO IT', end, reading, stderr, logIn: null, model: null };
  return { reading, end: endOf(run) };
}

/** When the fixtures of used-up logins were made, and until when they are, by agent. */
const usedUpAt: Readonly<Record<string, readonly [saidAt: string, retryAt: string]>> = {
  'claude-code': ['2026-12-01T00:45:00Z', '2026-12-01T02:45:30.000Z'],
  codex: ['2026-12-01T00:45:00Z', '2026-12-01T02:46:00.000Z'],
  pi: ['2026-12-01T01:22:03Z', '2026-12-01T04:29:03.000Z'],
  opencode: ['2026-12-01T01:23:29Z', '2026-12-01T04:30:29.000Z'],
  'gemini-cli': ['2026-12-01T01:21:52Z', '2026-12-01T04:34:46.000Z'],
};

function whatItWas(end: ReturnType<typeof endOf>): Seen['was'] | string {
  if (end.failure !== undefined) return end.failure.code === 'config' ? 'no-model' : end.failure.code;
  const last = end.steps.at(-1);
  if (last?.kind === 'note' && last.text.startsWith('It stopped at a limit')) return 'limit';
  switch (end.trouble?.reason) {
    case undefined:
      return end.exit === 'timeout' ? 'time' : end.exit === 'crashed' ? 'crashed' : 'ran';
    case 'provider-rate-limit':
      return 'rate-limit';
    case 'provider-error':
      return 'provider';
    default:
      return end.trouble?.reason ?? '';
  }
}

test.each(rows.map((row) => [row.kind.name, row] as const))(
  '%s by a login that is used up says until when',
  (name, row) => {
    const { stdout, stderr, end } = runOf(row.kind, 'used-up');
    const [saidAt = '', retryAt] = usedUpAt[name] ?? [];
    const at = { nowMs: Date.parse(saidAt), zone: 'UTC' };
    const reading = withWindow(row.kind.parse({ stdout, stderr, skillName: null }), at);
    const run = { kind: row.kind, instruction: '', end, reading, stderr, logIn: '`log in`', model: null };
    expect(endOf(run).failure).toMatchObject({ code: 'quota', retryable: true, retryAt });
  },
);

describe.each(rows.map((row) => [row.kind.name, row] as const))('%s', (_, row) => {
  const wanted = scenarios.map((scenario): [string, Seen] => [
    scenario,
    { ...common[scenario], ...row.differs[scenario] },
  ]);
  test.each([...wanted, ...Object.entries(row.more ?? {})])('%s', (scenario, want) => {
    const { end, reading } = endIn(row, scenario);
    expect(whatItWas(end)).toBe(want.was);
    if (want.read !== undefined) expect(end.read).toBe(want.read);
    if (want.finalText !== undefined) expect(end.finalText).toBe(want.finalText);
    const thoughts = end.steps.flatMap((step) => (step.kind === 'thought' ? [step.text] : []));
    if (want.thoughts !== undefined) expect(thoughts).toEqual([...want.thoughts]);
    if (want.command !== undefined) {
      const [text, exitCode] = want.command;
      const step = end.steps.find((s) => s.kind === 'tool' && s.input.includes(text));
      expect(step).toMatchObject({ kind: 'tool', exitCode });
    }
    expect(end.steps[0]).toEqual({ kind: 'message', role: 'user', text: 'DO IT' });
    expect(end.didWork).toBe(want.was === 'ran' || want.command !== undefined);
    if (want.was === 'ran') expect(reading).toMatchObject({ trouble: null, ended: true });
    if (want.was === 'ran') expect(end.exit).toBe('finished');
    const { mounted, read } = row.visible;
    if (want.was === 'ran') expect(end.visible).toBe(end.read === null ? null : end.read ? read : mounted);
  });

  test('what it spent', () => {
    const { usage } = endIn(row, 'success').end;
    expect([usage.inputTokens, usage.outputTokens, usage.requests]).toEqual([...row.spent]);
    // else the model of the fixtures has no price that anybody knows
    if (row.costUsd === undefined) expect(usage.costUsd).toBeNull();
    else expect(usage.costUsd).toBeCloseTo(row.costUsd, 6);
  });

  test('the skill that it opened stands in its steps, body and all', () => {
    const tools = endIn(row, 'success').end.steps.filter((step) => step.kind === 'tool');
    const body = `BODY-MARKER-${row.skill.replace(/^skill-/, '').replace('-', '.')}`;
    expect(tools[0]?.output.includes(body)).toBe(row.hidesBody !== true);
  });

  test('no last event, no end: whatever a killed process left', () => {
    const { stdout, stderr } = runOf(row.kind, 'success');
    const lines = stdout.trimEnd().split('\n');
    for (let n = 0; n < lines.length; n++) {
      const reading = row.kind.parse({ stdout: lines.slice(0, n).join('\n'), stderr, skillName: row.skill });
      expect(reading.ended).toBe(false);
    }
  });

  test('any output is read without a throw', () => {
    const names = fc.constantFrom(...scenarios, ...Object.keys(row.more ?? {}));
    fc.assert(
      fc.property(names, damage, fc.boolean(), (scenario, hurt, mounted) => {
        const { stdout, stderr } = runOf(row.kind, scenario);
        const output = { stdout: hurt(stdout), stderr: hurt(stderr), skillName: mounted ? row.skill : null };
        expectSound(row.kind.parse(output), mounted);
      }),
      { numRuns: 150 },
    );
  });
});

test('every kind has its fixtures and its row', () => {
  expect(rows.map(({ kind }) => kind.name).sort()).toEqual(cliKinds.map(({ name }) => name).sort());
});

function expectSound(reading: CliReading, mounted: boolean): void {
  const { steps, finalText, usage, visible, read, trouble } = reading;
  expect(typeof finalText).toBe('string');
  for (const step of steps) expect(textsOf(step).every((text) => typeof text === 'string')).toBe(true);
  for (const value of Object.values(usage)) expect(value === null || (Number.isFinite(value) && value >= 0)).toBe(true);
  expect([true, false, null]).toContain(visible);
  if (!mounted) expect([visible, read]).toEqual([null, null]);
  if (trouble !== null) expect(trouble.detail.length).toBeLessThan(500);
}

const textsOf = (step: TrajectoryStep) =>
  step.kind === 'tool' ? [step.name, step.input, step.output] : step.kind === 'message' ? [step.text] : [step.text];

type Damage = (text: string) => string;

const share = fc.double({ min: 0, max: 1, noNaN: true });
const at = (text: string, part: number) => Math.floor(part * text.length);

/** A cut end, a piece taken out, foreign text put in, a value in one event replaced by another. */
const damage: fc.Arbitrary<Damage> = fc.oneof(
  share.map(
    (end): Damage =>
      (text) =>
        text.slice(0, at(text, end)),
  ),
  fc.tuple(share, share).map(
    ([a, b]): Damage =>
      (text) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        return text.slice(0, at(text, from)) + text.slice(at(text, to));
      },
  ),
  fc.tuple(share, fc.string({ unit: 'binary' })).map(
    ([where, more]): Damage =>
      (text) => {
        return text.slice(0, at(text, where)) + more + text.slice(at(text, where));
      },
  ),
  fc.tuple(share, fc.array(fc.nat(), { maxLength: 6 }), fc.jsonValue()).map(
    ([line, path, value]): Damage =>
      (text) => {
        const lines = text.split('\n');
        const n = Math.min(lines.length - 1, Math.floor(line * lines.length));
        try {
          lines[n] = JSON.stringify(replaced(JSON.parse(lines[n] ?? ''), path, value));
        } catch {}
        return lines.join('\n');
      },
  ),
);

/** The value with the one at this path (indices into its keys) replaced. */
function replaced(whole: unknown, [first, ...rest]: readonly number[], value: unknown): unknown {
  if (first === undefined || typeof whole !== 'object' || whole === null) return value;
  const entries = Object.entries(whole);
  if (entries.length === 0) return value;
  const [key, old] = entries[first % entries.length]!;
  const next = replaced(old, rest, value);
  return Array.isArray(whole) ? whole.with(Number(key), next) : { ...whole, [key]: next };
}
