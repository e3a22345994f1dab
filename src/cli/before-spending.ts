import type { Costs } from '../events/estimate.ts';
import { costText, sumText } from '../events/estimate-words.ts';
import { standing, standingTexts } from '../events/progress.ts';
import type { RunState } from '../events/run-state.ts';
import { limitsText } from '../events/words.ts';
import { fail } from '../ports/failure.ts';
import type { Limits } from '../ports/inputs.ts';
import type { RoleTrip } from './roles.ts';

const LABEL = 'estimate    ';

/** Nothing was rolled out, and no reflection held, in this session. */
export function isUnspent({ rollouts, calls, spend }: RunState): boolean {
  return rollouts.started === 0 && calls === 0 && spend.requests === 0;
}

/** Which models a run will still call: none where all is done, the target alone where only the sealed test is left. */
export function stillAsked(
  state: RunState,
  finalize: boolean,
): { readonly target: boolean; readonly optimizer: boolean } {
  if (state.ended === null) return { target: true, optimizer: true };
  const delivers = state.skills.get(state.incumbent)?.version !== 0;
  const target = state.finalized === null && delivers && (finalize || state.finalizeStarted);
  return { target, optimizer: false };
}

/** Whether anything is charged: a price that is not known counts as one, but for a server on this machine without a key. */
export function isPaid(e: Pick<Costs, 'roles'>): boolean {
  return e.roles.some((r) => r.cost.kind !== 'free' && r.cost.kind !== 'local');
}

/** An estimate in sentences as lines for people, with the limits that may end it earlier. */
export function estimateLines(sentences: readonly string[], limits: Limits): readonly string[] {
  const bounds = limitsText(limits);
  const texts = [...sentences, ...(bounds === 'none' ? [] : [`it ends earlier at its limits: ${bounds}`])];
  return texts.map((text, at) => `${at === 0 ? LABEL : ' '.repeat(LABEL.length)}${text}`);
}

/** What going on costs, as a line; nothing where nothing is left. */
export function leftLines(state: RunState): readonly string[] {
  const [, costs] = standingTexts(standing(state));
  return costs === undefined ? [] : [`left        ${costs}`];
}

/** What is about to be paid, in words. */
export type Named = {
  readonly what: 'session' | 'eval';
  /** Such as `at most 137 rollouts`. */
  readonly size: string;
  /** Where limits stand beside the flags; null = flags alone are told. */
  readonly config: string | null;
};

/** What costs something and what nobody is asked about has to be bounded, or begun with `--yes`. */
export function refuseUnbounded(e: Costs, limits: Limits, { what, size, config }: Named): void {
  if ((limits.usd ?? null) !== null || (limits.tokens ?? null) !== null || limits.minutes !== null) return;
  if (!isPaid(e)) return;
  const priced = e.roles.every((r) => r.cost.kind === 'usd' || r.cost.kind === 'free');
  const flag = priced ? `--limit-usd ${Math.max(1, Math.ceil(e.usd?.[1] ?? 1))}` : '--limit-tokens or --limit-minutes';
  throw fail(
    'preflight',
    `nothing bounds what this ${what} may spend: ${size}, ${costText(e)}`,
    config === null ? 'the command line' : 'limits',
    `give it a limit (${flag}${config === null ? '' : `, or ${config}`}), or begin it as it is with --yes${priced ? '' : '; a model that costs nothing takes "price": {"input": 0, "output": 0}'}`,
  );
}

/** Sentences as lines below a word of their own. */
export function labelled(label: string, texts: readonly string[]): readonly string[] {
  return texts.map((text, at) => `${(at === 0 ? label : '').padEnd(LABEL.length)}${text}`);
}

/** A line without the word that it begins with. */
export const unlabelled = (text: string): string => text.slice(LABEL.length);

/** What one short call of each model took, and what that makes of the estimate. */
export function tripLines(trips: readonly RoleTrip[], e: Costs | null): readonly string[] {
  const lines = trips.map(({ role, model, durationMs, usage: { inputTokens, outputTokens, costUsd } }) => {
    const tokens =
      inputTokens === null || outputTokens === null ? 'tokens unknown' : `${inputTokens + outputTokens} tokens`;
    const cost = costUsd === null || costUsd === 0 ? '' : `, $${costUsd.toFixed(costUsd < 0.01 ? 4 : 2)}`;
    return `asked once  the ${role}, ${model}: ${(durationMs / 1_000).toFixed(1)} s, ${tokens}${cost}`;
  });
  return e === null || trips.length === 0 ? lines : [...lines, `            so it may take ${sumText(e)}`];
}
