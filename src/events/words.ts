import type { EditState, RunState, StepState } from './run-state.ts';
import type { Cause, Score } from './shapes.ts';

/** The sentences that every surface shares: the same thing is said in the same words everywhere. */

/** `7/8`, or `6/7 (1 unscored)`: an unscored rollout is no failure; with a soft metric the mean as well. */
export function scoreText(s: Score | null | undefined, metric = 'hard'): string {
  if (!s) return '–';
  const mean = metric !== 'hard' && s.mean !== null ? ` · mean ${s.mean.toFixed(3)}` : '';
  return `${s.passed}/${s.scored}${s.scored < s.of ? ` (${s.of - s.scored} unscored)` : ''}${mean}`;
}

/** `3–1 after 7 of 16` */
export function gateText(step: StepState): string {
  return `${step.wins}–${step.losses} after ${step.pairs} of ${step.of}`;
}

export function verdictText(step: StepState): string {
  switch (step.gateAction) {
    case 'accept':
      return `ACCEPT · selection ${scoreText(step.selection.candidate, step.metric)} against ${scoreText(step.selection.incumbent, step.metric)} · evidence ${step.confidence.toFixed(2)}`;
    case 'reject':
      return `reject: ${step.why}${step.draftDropped ? ' · the draft is dropped' : ''}`;
    case 'indecisive':
      return `indecisive: ${step.why}`;
    default:
      return step.gateAction satisfies never;
  }
}

/** The first line of what an edit says, short enough for a line of its own. */
export function editTitle(e: EditState, width = 60): string {
  const text = (e.edit.content || e.edit.target)
    .replace(/^\s*(?:[-*+]\s+|#+\s+)?/, '')
    .trim()
    .replace(/\s+/g, ' ');
  const cut = [...text].length > width ? `${[...text].slice(0, width - 1).join('')}…` : text;
  return `${e.edit.op === 'delete' ? 'delete ' : ''}“${cut}”`;
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

/** Why the search ended, in a sentence. */
export function causeText(cause: Cause): string {
  switch (cause) {
    case 'completed':
      return 'all was done';
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

/** The rehearsal says so on every surface. */
export const REHEARSAL = 'REHEARSAL (no model is called)';
