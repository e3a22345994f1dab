import type { Edit, OptimizedPart } from '../ports/edit.ts';
import type { Limits } from '../ports/inputs.ts';
import type { EventOf } from './events.ts';
import { UNDONE } from './loop-facts.ts';
import type { EditState, Reflecting, RunState, StepState } from './run-state.ts';
import { type Cause, causes, type Fork, type Score } from './shapes.ts';

/** The sentences that every surface shares: the same thing is said in the same words everywhere. */

/** `7/8`, or `6/7 (1 unscored)`: an unscored rollout is no failure; with a soft metric the mean as well. */
export function scoreText(s: Score | null | undefined, metric = 'hard'): string {
  if (!s) return '–';
  const mean = metric !== 'hard' && s.mean !== null ? ` · mean ${s.mean.toFixed(3)}` : '';
  return `${s.passed}/${s.scored}${s.scored < s.of ? ` (${s.of - s.scored} unscored)` : ''}${mean}`;
}

/** `3–1 after 7 of 16` */
export function gateText(gate: Pick<StepState, 'wins' | 'losses' | 'pairs' | 'of'>): string {
  return `${gate.wins}–${gate.losses} after ${gate.pairs} of ${gate.of}`;
}

/** What a step is called in which guidance, and not the draft, meets the incumbent. */
export const SLOW_UPDATE = 'slow update';

/** The gate ended before its verdict: what it was about is not over. */
export function isCut(step: Pick<StepState, 'gateAction' | 'why'>): boolean {
  const cuts: readonly string[] = [...causes, 'environment-changed'];
  return step.gateAction === 'indecisive' && cuts.includes(step.why);
}

/** What the optimizer does: `reads 3 failing runs`. */
export function reflectingText({ kind, failing }: Pick<Reflecting, 'kind' | 'failing'>): string {
  return kind === 'slow-update'
    ? 'distills guidance from what was tried'
    : `reads ${countText(failing, 'failing run')}`;
}

/** `3 → 2`, or `2 → 2, draft of 4` where edits of earlier steps stand in the draft as well. */
export function editsText(step: {
  readonly tried: number;
  readonly kept: number;
  readonly draft: number;
  readonly kind?: StepState['kind'];
}): string {
  if (step.kind === 'slow-update') return SLOW_UPDATE;
  return `${step.tried} → ${step.kept}${step.draft > step.kept ? `, draft of ${step.draft}` : ''}`;
}

/** The verdict, with the reason of one that is no acceptance. */
export function verdictText(step: StepState): string {
  if (step.gateAction !== 'accept') return refusalTexts(step)[0] ?? '';
  return `ACCEPT · ${selectionText(step)}${step.draftDropped ? ' · the draft does not fit it and is dropped' : ''}`;
}

/** Why a step was not accepted, in fewer and fewer words: for columns in which the longer ones have no room. */
export function refusalTexts(step: Pick<StepState, 'gateAction' | 'why' | 'draftDropped'>): readonly string[] {
  const long = whyText(step);
  const short = shortWhy.get(step.why) ?? long;
  const dropped = step.draftDropped;
  return [
    `${step.gateAction}: ${long}${dropped ? ' · the draft is dropped' : ''}`,
    `${step.gateAction}: ${short}${dropped ? ', draft dropped' : ''}`,
    `${short}${dropped ? ', draft dropped' : ''}`,
    short,
  ];
}

/** `selection 4/8 against 2/8 · evidence 0.75` */
export function selectionText(step: StepState): string {
  const { candidate, incumbent } = step.selection;
  return `selection ${scoreText(candidate, step.metric)} against ${scoreText(incumbent, step.metric)} · evidence ${step.confidence.toFixed(2)}`;
}

/** Why a gate gave its verdict, in words. */
export function whyText(step: Pick<StepState, 'why'>): string {
  if (step.why === 'coverage') return 'too few of its rollouts could be scored';
  if (step.why === 'environment-changed') return 'the environment changed on the way';
  const cause = causes.find((c) => c === step.why);
  return cause ? causeText(cause) : step.why;
}

/** Why, in two to four words. */
const shortWhy: ReadonlyMap<string, string> = new Map([
  ['a tie: no task changed', 'no task changed'],
  ['it lost as many tasks as it won', 'as many lost as won'],
  ['it lost more tasks than it won', 'more lost than won'],
  ['too few wins to tell', 'too few wins'],
  ['coverage', 'too few scored'],
  ['environment-changed', 'environment changed'],
  ['measurement-broken', 'too few scored'],
  ['optimizer-failed', 'no readable proposal'],
]);

/** `stopped after 7 of 16: could not win`; empty when all pairs were compared, or none. `tasks` = those of selection. */
export function stoppedText(step: StepState, tasks: number): string {
  if (step.gateAction === 'accept' || step.why === UNDONE || step.pairs === step.of) return '';
  const inBlock = step.gateAction === 'reject' && tasks > 0 && step.pairs % tasks !== 0;
  return `stopped after ${step.pairs} of ${step.of}${inBlock ? ': could not win' : ''}`;
}

/** The first line of what an edit says, short enough for a line of its own. */
export function editTitle(e: Pick<EditState, 'edit'>, width = 60): string {
  return titleOf(e.edit, width);
}

function titleOf(edit: Edit, width = 60): string {
  const text = (edit.content || edit.target)
    .replace(/^\s*(?:[-*+]\s+|#+\s+)?/, '')
    .trim()
    .replace(/\s+/g, ' ');
  const cut = [...text].length > width ? `${[...text].slice(0, width - 1).join('')}…` : text;
  const what = edit.op === 'delete' ? 'delete ' : edit.op === 'guidance' ? 'guidance ' : '';
  return `${what}“${cut}”`;
}

/** Tasks that a gate won and lost, by name. */
export function flips(step: StepState): { readonly won: readonly string[]; readonly lost: readonly string[] } {
  const won = new Set<string>();
  const lost = new Set<string>();
  for (const p of step.tasks) {
    if (p.before === null || p.after === null) continue;
    if (p.after > p.before) won.add(p.task);
    if (p.after < p.before) lost.add(p.task);
  }
  return { won: [...won], lost: [...lost] };
}

/** `won a, b; lost c`; at most so many names each, empty when no task changed. */
export function flipsText(step: StepState, most = Number.POSITIVE_INFINITY): string {
  const { won, lost } = flips(step);
  return [won.length > 0 ? `won ${namesText(won, most)}` : '', lost.length > 0 ? `lost ${namesText(lost, most)}` : '']
    .filter(Boolean)
    .join('; ');
}

/** `a, b and 3 more` */
export function namesText(names: readonly string[], most = Number.POSITIVE_INFINITY): string {
  if (names.length <= most + 1) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

/** What stands where no cost is known; an agent that is let in by its own login spends no dollars. */
export function unknownCostText(of: { readonly config: Readonly<Record<string, unknown>> } | null): string {
  return of?.config.login === 'subscription' ? 'a share of a subscription' : 'cost unknown';
}

/** `1 edit`, `2 edits` */
export function countText(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** What came of trying an edit. */
export function triedText(event: Pick<EventOf<'screening.decided'>, 'task' | 'passed' | 'kept'>): string {
  if (event.task === null) return 'kept without a try';
  if (event.passed === null) return `${event.task} could not be scored`;
  if (event.passed) return `fixed ${event.task}${event.kept ? '' : ', dropped for its earlier failures'}`;
  return `${event.task} still fails${event.kept ? ', kept for its earlier passes' : ''}`;
}

/** Why an edit was not tried, or why a round has none. */
export function rejectedText(event: Pick<EventOf<'edit.rejected'>, 'edit' | 'reason' | 'detail'>): string {
  if (event.reason === 'none-offered') return 'nothing proposed';
  const detail = oneLine(event.detail.trim().split('\n')[0] ?? '');
  return event.edit === null ? `${event.reason}: ${detail}` : `not tried: ${detail}`;
}

/** `seed, result and no skill`: the arms of the sealed test. */
export function armNames(arms: readonly { readonly arm: string }[]): string {
  return arms.some((a) => a.arm === 'no-skill') ? 'seed, result and no skill' : 'seed and result';
}

/** What of the skill is optimized. */
export function optimizedPart(state: Pick<RunState, 'plan'>): OptimizedPart {
  return state.plan?.optimize ?? 'body';
}

/** `read in 7 of 8`: how often the skill was read, of the rollouts that can tell; of a description, how often it was opened for it. */
export function readText(state: Pick<RunState, 'plan' | 'read'>): string {
  return `${optimizedPart(state) === 'description' ? 'opened' : 'read'} in ${state.read[0]} of ${state.read[1]}`;
}

/** `7/8 with the result, 2/8 with the seed, 0/8 without a skill`; that arm is left out where there is none. */
export function armsText(finalized: Pick<EventOf<'finalize.finished'>, 'arms'>, metric = 'hard'): string {
  const score = (name: string) => scoreText(finalized.arms.find((a) => a.arm === name)?.score, metric);
  const without = finalized.arms.some((a) => a.arm === 'no-skill') ? `, ${score('no-skill')} without a skill` : '';
  return `${score('result')} with the result, ${score('seed')} with the seed${without}`;
}

/** `improved, 8 of 8 pairs: selection 7/8 against the seed’s 2/8, fresh attempts (5–0)` */
export function confirmationText(
  event: Pick<EventOf<'confirmation.finished'>, 'result' | 'pairs' | 'of' | 'final' | 'seed' | 'wins' | 'losses'>,
  metric = 'hard',
): string {
  return `${event.result.replaceAll('-', ' ')}, ${event.pairs} of ${event.of} pairs: selection ${scoreText(event.final, metric)} against the seed’s ${scoreText(event.seed, metric)}, fresh attempts (${event.wins}–${event.losses})`;
}

/** `120 rollouts started, 30 minutes, $5, 200000 tokens`, or `none` */
export function limitsText(l: Limits): string {
  const list = [
    l.rollouts === null ? '' : `${l.rollouts} rollouts started`,
    l.minutes === null ? '' : `${l.minutes} minutes`,
    (l.usd ?? null) === null ? '' : `$${l.usd}`,
    (l.tokens ?? null) === null ? '' : `${l.tokens} tokens`,
  ].filter(Boolean);
  return list.length > 0 ? list.join(', ') : 'none';
}

/** ` · at most 2 steps, 1 epoch`, where the config bounds them; else empty. */
export function boundsText({ search }: Pick<EventOf<'plan.fixed'>, 'search'>): string {
  const list = [
    search.steps === undefined ? '' : countText(search.steps, 'step'),
    search.epochs === undefined ? '' : countText(search.epochs, 'epoch'),
  ].filter(Boolean);
  return list.length === 0 ? '' : ` · at most ${list.join(', ')}`;
}

/** What came in from outside: what it is about, and what it says. */
export function inputText(input: EventOf<'input.received'>['input']): {
  readonly about: string;
  readonly says: string;
} {
  switch (input.kind) {
    case 'note':
      return { about: 'note', says: `to the optimizer: ${oneLine(input.text)}` };
    case 'ban':
      return { about: 'ban', says: `no edit may bring in “${oneLine(input.text)}”` };
    case 'edit':
      return { about: 'edit', says: `yours, for the next round: ${titleOf(input.edit)}` };
    case 'budget.changed':
      return { about: 'budget', says: `${input.rollouts} rollouts from here on` };
    case 'limits.changed':
      return { about: 'limits', says: `${limitsText(input.limits)} from here on` };
    case 'limit.reached':
      return { about: 'limit', says: `the limit on ${input.limit === 'usd' ? 'money' : input.limit} is reached` };
    case 'environment.changed':
      return {
        about: 'warning',
        says: `the environment changed (${oneLine(input.what)}); everything is measured anew`,
      };
    case 'finish':
      return { about: 'finish', says: 'you ended the search' };
    default:
      return input satisfies never;
  }
}

/** Running time: `40 s`, `12 min`, `2 h 05 min`. */
export function minutesText(minutes: number): string {
  const whole = Math.round(minutes);
  if (minutes < 1) return `${minutes <= 0 ? 0 : Math.max(1, Math.round(minutes * 60))} s`;
  return whole < 100 ? `${whole} min` : `${Math.floor(whole / 60)} h ${String(whole % 60).padStart(2, '0')} min`;
}

/** `840`, `12 k`, `1.4 million`: a number of which two digits say enough. */
export function shortCount(n: number): string {
  if (n < 1_000) return String(Math.round(n));
  if (n < 995_000) return `${n < 9_950 ? (n / 1_000).toFixed(1) : Math.round(n / 1_000)} k`;
  return `${n < 9_950_000 ? (n / 1_000_000).toFixed(1) : Math.round(n / 1_000_000)} million`;
}

export const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Why the search ended, in a sentence. */
export function causeText(cause: Cause): string {
  switch (cause) {
    case 'completed':
      return 'as many steps or epochs as the config asks for are done';
    case 'budget':
      return 'the budget is spent';
    case 'limit':
      return 'a limit was reached';
    case 'ceiling':
      return 'train has nothing left to fail';
    case 'plateau':
      return 'no proposal helped any more';
    case 'stopped':
      return 'you ended it';
    case 'optimizer-failed':
      return 'the optimizer gave no readable proposal three times in a row';
    case 'measurement-broken':
      return 'too many rollouts could not be scored';
    default:
      return cause satisfies never;
  }
}

/** Unscored rollouts by reason, most frequent first, each with one task and what was seen there. */
export function unscoredTexts(state: RunState): readonly string[] {
  return [...state.rollouts.unscored]
    .sort(([, a], [, b]) => b.count - a.count)
    .map(([reason, u]) => `${u.count} ${reason}, such as ${u.task}: ${u.detail.trim().split('\n')[0] ?? ''}`);
}

/** Where a fork comes from and what it took over. */
export function forkText(fork: Fork): string {
  const after = fork.step === 0 ? 'the baseline' : `step ${fork.step}`;
  return `forked from ${fork.session} after ${after}; ${fork.effects} outcomes and proposals inherited`;
}

/** What a look at the sealed test is worth: after the first one it has told something to whoever forked. */
export function lookText(look: number): string {
  if (look === 1) return 'opened once';
  const before = look === 2 ? 'once' : `${look - 1} times`;
  return `look ${look}: the test was opened ${before} before this fork, so what it showed may have led here`;
}

/** What is to be known of the sealed test's intervals where each task was attempted several times; '' = nothing. */
export function intervalNote(state: Pick<RunState, 'opened'>): string {
  const attempts = state.opened?.attempts ?? 1;
  return attempts === 1 ? '' : `too narrow: ${attempts} attempts a task count as so many tasks`;
}

/** How often evals have looked at the test since; '' = never. */
export function lookedAgainText(times: number): string {
  if (times === 0) return '';
  return times === 1 ? 'looked at again once since, by an eval' : `looked at again ${times} times since, by evals`;
}

/** The rehearsal says so on every surface. */
export const REHEARSAL = 'REHEARSAL (no model is called)';
