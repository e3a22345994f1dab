import { pairAt } from '../events/eval-pairs.ts';
import type { EvalArmName } from '../events/eval-shapes.ts';
import type { ArmSpend, EvalState } from '../events/eval-state.ts';
import type { ArmSummary, Comparison, EvalSummary } from '../events/eval-summary.ts';
import { evalFailurePoint } from '../events/eval-trouble.ts';
import type { EventOf } from '../events/events.ts';
import type { FailurePoint } from '../events/trouble.ts';
import { countText, minutesText, oneLine, REHEARSAL, unknownCostText } from '../events/words.ts';
import { printable, shellWord } from '../ports/printable.ts';
import { failureLines } from './after-run.ts';
import { columns } from './columns.ts';
import { evalNext } from './eval-next.ts';
import {
  armName,
  cellText,
  comparisonText,
  cut,
  evalNotes,
  headline,
  intervalText,
  moneyText,
  percent,
  spendCells,
} from './eval-words.ts';

/** The report of an eval. Pure JSON; unknown figures are null. */
export type EvalReport = {
  readonly command: string;
  readonly directory: string;
  readonly eval: string;
  readonly rehearsal: boolean;
  readonly complete: boolean;
  readonly headline: string;
  readonly arms: readonly (ArmSummary & ArmSpend & { readonly name: string; readonly from: string })[];
  readonly comparisons: readonly Comparison[];
  readonly tasks: readonly {
    readonly task: string;
    readonly shouldTrigger: boolean | null;
    readonly arms: EvalState['rows'][number]['arms'];
    /** Files beside the log, by arm. */
    readonly trajectories: Readonly<Partial<Record<EvalArmName, readonly string[]>>>;
  }[];
  readonly attempts: number;
  readonly session: EventOf<'eval.created'>['session'];
  readonly environment: Pick<EventOf<'eval.created'>['environment'], 'backend' | 'agent' | 'model' | 'versions'>;
  readonly rollouts: {
    readonly started: number;
    readonly finished: number;
    readonly unscored: number;
    readonly cancelled: number;
    readonly lost: number;
  };
  /** Short calls of the model before rollouts began; null = unknown. */
  readonly preflight: { readonly calls: number; readonly tokens: number | null; readonly costUsd: number | null };
  readonly minutes: number;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly files: { readonly report: string; readonly log: string; readonly trajectories: string };
  readonly log: { readonly lines: number; readonly head: string };
  /** Where it first failed, and the smallest fix; null = it did not fail. */
  readonly failure: FailurePoint | null;
  readonly next: string;
};

type Told = {
  readonly command: string;
  /** The eval's directory as the user would type it. */
  readonly dir: string;
  readonly head: { readonly lines: number; readonly hash: string };
};

export function evalReport(
  state: EvalState & { readonly created: EventOf<'eval.created'> },
  summary: EvalSummary,
  o: Told,
): EvalReport {
  const { created, rollouts, preflight } = state;
  const whatNext = evalNext(state, summary);
  const texts = `${o.dir}/.skillopt-eval/texts`;
  const trajectories = (task: string) => {
    const byArm: Partial<Record<EvalArmName, string[]>> = {};
    for (const t of state.trajectories) {
      if (t.task !== task) continue;
      const list = byArm[t.arm] ?? [];
      list.push(`${texts}/${t.hash}.txt`);
      byArm[t.arm] = list;
    }
    return byArm;
  };
  const nothing: ArmSpend = {
    rollouts: 0,
    tokens: 0,
    costUsd: 0,
    uncounted: 0,
    turns: 0,
    turnsUntold: 0,
    durationMs: 0,
  };
  return {
    command: o.command,
    directory: o.dir,
    eval: created.eval,
    rehearsal: created.rehearsal,
    complete: state.finished,
    headline: headline(state, summary),
    arms: summary.arms.map((a) => ({
      ...a,
      ...(state.spend.get(a.arm) ?? nothing),
      name: armName(created.arms, a.arm),
      from: created.arms.find((x) => x.arm === a.arm)?.from ?? '',
    })),
    comparisons: summary.comparisons,
    tasks: state.rows.map((row) => ({
      ...row,
      shouldTrigger: created.pack.tasks.find((t) => t.id === row.task)?.shouldTrigger ?? null,
      trajectories: trajectories(row.task),
    })),
    attempts: created.attempts,
    session: created.session,
    environment: created.environment,
    rollouts: {
      started: rollouts.started,
      finished: rollouts.finished,
      unscored: [...rollouts.unscored.values()].reduce((n, u) => n + u.count, 0),
      cancelled: rollouts.cancelled,
      lost: rollouts.lost,
    },
    preflight: { calls: preflight.calls, tokens: preflight.tokens, costUsd: preflight.costUsd },
    minutes: Math.round(state.minutes * 100) / 100,
    notes: evalNotes(state, summary),
    warnings: state.warnings,
    files: { report: `${o.dir}/skillopt-eval.md`, log: `${o.dir}/skillopt-eval.jsonl`, trajectories: texts },
    log: { lines: o.head.lines, head: o.head.hash },
    failure: evalFailurePoint(state, whatNext),
    next: whatNext,
  };
}

/** The report as lines for a terminal; `skillopt-eval.md` holds the same ones. */
export function evalLines(state: EvalState, summary: EvalSummary): readonly string[] {
  const { created, rollouts } = state;
  if (created === null) return [];
  const { pack, environment } = created;
  const whatNext = evalNext(state, summary);
  const failure = evalFailurePoint(state, whatNext);
  const name = (arm: EvalArmName) => armName(created.arms, arm);
  return [
    `result      ${headline(state, summary)}`,
    ...summary.comparisons.map((c) => `against     ${cut(name(c.against), 60)}: ${comparisonText(c, state.finished)}`),
    '',
    ...columns(armRows(state, summary, name)),
    '',
    ...columns(taskRows(state, summary, name)),
    '',
    ...passAtLines(summary, name),
    ...evalNotes(state, summary).map((n) => `note        ${oneLine(n)}`),
    ...[...rollouts.unscored].map(
      ([reason, u]) => `unscored    ${u.count} ${reason}, such as ${u.task}: ${oneLine(u.detail.split('\n')[0] ?? '')}`,
    ),
    ...state.warnings.map((w) => `warning     ${oneLine(w)}`),
    `measured    ${countText(pack.tasks.length, 'task')} of ${pack.name} · ${environment.backend} · ${environment.model ?? environment.agent}${created.rehearsal ? ` · ${REHEARSAL}` : ''}`,
    `spent       ${spentText(state)}`,
    ...(failure === null ? [] : failureLines(failure)),
    ...(state.command === null ? [] : [`command     ${oneLine(state.command)}`]),
    `next        ${whatNext}`,
  ];
}

function armRows(state: EvalState, summary: EvalSummary, name: (arm: EvalArmName) => string) {
  const softly = state.rows.some((r) =>
    r.arms.some((a) => a.attempts.some((x) => x.soft !== null && x.soft > 0 && x.soft < 1)),
  );
  const head = [
    'arm',
    'passed',
    'share',
    '95 % interval',
    softly ? 'mean' : '',
    state.created?.config.optimize === 'description' ? 'opened' : 'read',
    'tokens',
    'cost',
    'turns',
    'time',
  ];
  return [
    head,
    ...summary.arms.map((a) => [
      cut(name(a.arm)),
      `${a.passed}/${a.scored}`,
      a.share === null ? '–' : percent(a.share),
      intervalText(a.interval),
      softly ? (a.soft?.toFixed(3) ?? '–') : '',
      a.read[1] > 0 ? `${a.read[0]} of ${a.read[1]}` : '–',
      ...spendCells(state.spend.get(a.arm)),
    ]),
  ];
}

function taskRows(state: EvalState, summary: EvalSummary, name: (arm: EvalArmName) => string) {
  const arms = summary.arms.map((a) => a.arm);
  const tasks = new Map(state.created?.pack.tasks.map((t) => [t.id, t]));
  const [first, against] = arms;
  const mark = (row: EvalState['rows'][number]): string => {
    if (first === undefined || against === undefined) return '';
    const { ahead } = pairAt(row, first, against);
    return ahead === 0 ? '' : ahead > 0 ? 'won' : 'lost';
  };
  const opened = (row: EvalState['rows'][number]): string => {
    if (tasks.get(row.task)?.shouldTrigger !== false) return '';
    const isRead = row.arms.some((a) => a.attempts.some((x) => x.read === true));
    return state.created?.environment.opens && isRead ? 'opened, though not meant for it' : 'not meant for it';
  };
  return [
    ['task', ...arms.map((arm) => cut(name(arm))), arms.length > 1 ? `to ${cut(name(against ?? 'no-skill'))}` : '', ''],
    ...state.rows.map((row) => [cut(row.task, 40), ...arms.map((arm) => cellText(row, arm)), mark(row), opened(row)]),
  ];
}

function passAtLines(summary: EvalSummary, name: (arm: EvalArmName) => string): readonly string[] {
  if (summary.arms.every((a) => a.passAt.length === 0)) return [];
  const most = Math.max(...summary.arms.map((a) => a.passAt.length));
  const ks = shownKs(most).map((k) => k - 1);
  const figure = (x: number | null | undefined) => (x === null || x === undefined ? '–' : x.toFixed(2));
  const all = Math.max(...summary.arms.flatMap((a) => a.passAt.map((p) => p.tasks)));
  const few = summary.arms.some((a) => a.passAt.some((p) => p.tasks < all));
  return [
    ...columns([
      ['of k attempts', ...ks.map((i) => `k = ${i + 1}`)],
      ...summary.arms.flatMap((a) => [
        [`pass@k ${cut(name(a.arm))}`, ...ks.map((i) => figure(a.passAt[i]?.any))],
        [`pass^k ${cut(name(a.arm))}`, ...ks.map((i) => figure(a.passAt[i]?.all))],
      ]),
    ]),
    '',
    'note        pass@k: at least one of k attempts passes; pass^k: all do (unbiased estimates, means over tasks)',
    ...(few ? ['note        tasks with fewer than k scored attempts are left out of pass@k and pass^k'] : []),
  ];
}

/** The k of pass@k that a table has room for: all, or doubling ones up to the last. */
function shownKs(most: number): readonly number[] {
  const all = Array.from({ length: most }, (_, i) => i + 1);
  return most <= 8 ? all : all.filter((k) => k === most || Number.isInteger(Math.log2(k)));
}

function spentText(state: EvalState): string {
  const { preflight } = state;
  const spends = [...state.spend.values(), preflight];
  const { started, cancelled, lost } = state.rollouts;
  const sum = (of: (s: typeof preflight | ArmSpend) => number | null) =>
    spends.reduce<number | null>((a, s) => (a === null || of(s) === null ? null : a + (of(s) ?? 0)), 0);
  const least = cancelled + lost + spends.reduce((n, s) => n + s.uncounted, 0) > 0 ? 'at least ' : '';
  const cost = sum((s) => s.costUsd);
  const tokens = sum((s) => s.tokens);
  return [
    `${countText(started, 'rollout')}${cancelled + lost > 0 ? ` (${cancelled} cancelled, ${lost} lost)` : ''}${preflight.calls > 0 ? `, ${countText(preflight.calls, 'preflight call')}` : ''}`,
    cost === null
      ? unknownCostText(state.created)
      : cost === 0 && tokens === 0
        ? 'no model cost'
        : `${least}${moneyText(cost)}`,
    tokens === null ? 'tokens unknown' : tokens === 0 ? '' : `${least}${tokens} tokens`,
    minutesText(state.minutes),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** `skillopt-eval.md`: the report, and the prefix of the log that it is of. */
export function renderEval(
  state: EvalState,
  summary: EvalSummary,
  head: { readonly lines: number; readonly hash: string },
): string {
  const { created } = state;
  if (created === null) return '';
  const lines = evalLines(state, summary);
  return printable(
    [
      `# ${headline(state, summary)}`,
      '',
      `Eval ${created.eval} of the skill ${created.arms[0]?.name ?? ''}. All that happened stands in \`skillopt-eval.jsonl\`; what the agent did lies by hash in \`.skillopt-eval/texts\`.`,
      '',
      '```text',
      ...lines.map((l) => l.replaceAll('```', "'''")),
      '```',
      '',
      `log ${head.lines} lines, head ${head.hash}`,
      '',
    ].join('\n'),
  );
}

/** The lines that tell where the eval lies. */
export function evalFiles(r: EvalReport): readonly string[] {
  return [
    `files       ${r.files.report} (this report), ${r.files.log} (all that happened)`,
    `            ${r.files.trajectories} (what the agent did; --json lists the files by task)`,
    `log         ${r.log.lines} lines, head ${r.log.head}   (skillopt verify ${shellWord(r.directory)})`,
  ];
}
