import type { Costs, Estimate, EvalEstimate, Range, RoleEstimate } from './estimate.ts';
import { countText, minutesText, shortCount } from './words.ts';

/** The estimate in sentences: what is started, what is asked, tokens, time and cost. Nothing unknown is told as 0. */
export function estimateTexts(e: Estimate): readonly string[] {
  const optimizer = e.roles.find((r) => r.role === 'optimizer');
  const most = e.rollouts[1];
  const parts = [
    `${Math.min(e.planned, most)} of the budget`,
    ...(e.test > 0 ? [`${e.test} of the sealed test`] : []),
    ...(most > e.planned + e.test ? [`${most - e.planned - e.test} run ahead`] : []),
  ];
  return [
    `at most ${most} rollouts: ${parts.join(', ')}`,
    ...(optimizer
      ? [`about ${rangeText(e.reflections, whole)} reflections, in ${callsText(optimizer)} of ${optimizer.model}`]
      : []),
    [...(e.roles.length > 0 ? [tokensText(e.tokens)] : []), timeText(e)].join(' · '),
    costText(e),
    e.roles.length > 0 ? `if the whole budget is used; ${basisText[e.basis]}` : 'if the whole budget is used',
  ];
}

/** The same of an eval. */
export function evalEstimateTexts(e: EvalEstimate): readonly string[] {
  const known = e.roles.length > 0;
  return [
    evalRolloutsText(e),
    [...(known ? [tokensText(e.tokens)] : []), timeText(e)].join(' · '),
    costText(e),
    known ? `if all are scored at the first try; ${basisText[e.basis]}` : 'if all are scored at the first try',
  ];
}

/** `24 rollouts; what can’t be scored is tried up to twice more, so at most 72` */
function evalRolloutsText({ planned, rollouts: [, bounded], most }: EvalEstimate): string {
  if (bounded < planned) return `at most ${bounded} of ${countText(planned, 'rollout')}, by its limit`;
  const again = most === planned ? '' : `; what can’t be scored is tried up to twice more, so at most ${most}`;
  return `${countText(planned, 'rollout')}${again}`;
}

const basisText: Readonly<Record<Estimate['basis'], string>> = {
  sizes: 'tokens are estimated from characters, about 4 a token, and answers are guessed',
  'round-trip': 'by the sizes of prompts and one short answer of each model',
  measured: 'by what was measured so far',
};

/** `$1.20 to $14.00`, `price unknown: openai-compatible/x`; roles of which nothing is known are named. */
export function costText(e: Pick<Costs, 'usd' | 'roles'>): string {
  const named = (kind: RoleEstimate['cost']['kind']) => [
    ...new Set(e.roles.filter((r) => r.cost.kind === kind).map((r) => r.model)),
  ];
  const [unknown, subscription, local] = [named('unknown'), named('subscription'), named('local')];
  const known = e.roles.some((r) => r.cost.kind === 'usd');
  const parts = [
    ...(known && e.usd !== null ? [`about ${rangeText(e.usd, dollars)}`] : []),
    ...(unknown.length > 0 ? [`price unknown: ${unknown.join(', ')}`] : []),
    ...(subscription.length > 0
      ? [`a share of a subscription, how much can’t be told: ${subscription.join(', ')}`]
      : []),
    ...(local.length > 0 ? [`no price is known of ${local.join(', ')}, on this machine`] : []),
  ];
  return parts.length === 0 ? 'no model cost' : parts.join(' · ');
}

/** Time, tokens and cost in one line. */
export function sumText(e: Costs): string {
  return `${timeText(e)} and ${tokensText(e.tokens)}; ${costText(e)}`;
}

const timeText = (e: Costs) => `about ${rangeText(e.minutes, minutesText)}`;

function tokensText(tokens: Range | null): string {
  return tokens === null ? 'tokens unknown' : `about ${rangeText(tokens, shortCount)} tokens`;
}

/** `20 to 60`; one of them where both are told alike. */
function rangeText([low, high]: Range, text: (n: number) => string): string {
  const [a, b] = [text(low), text(high)];
  return a === b ? a : `${a} to ${b}`;
}

/** Two digits: an estimate has no more. */
const whole = (n: number) => String(n < 100 ? Math.round(n) : Math.round(Number(n.toPrecision(2))));

function dollars(usd: number): string {
  if (usd > 0 && usd < 0.005) return 'less than $0.01';
  return usd < 10 ? `$${usd.toFixed(2)}` : `$${whole(usd)}`;
}

const callsText = (r: RoleEstimate) => `${rangeText(r.calls, whole)} ${r.isAgent ? 'runs' : 'calls'}`;

/** What a role will come to: calls, tokens, cost. */
export function roleText(r: RoleEstimate): string {
  const cost = costText({ usd: r.cost.kind === 'usd' ? r.cost.usd : null, roles: [r] });
  return `${r.model}: ${callsText(r)}, ${tokensText(r.tokens)}, ${cost}`;
}
