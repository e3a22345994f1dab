import type { Edit } from './edit.ts';

/** What can be bounded in the actual ledger. */
export const limitKinds = ['rollouts', 'minutes', 'usd', 'tokens'] as const;
export type LimitKind = (typeof limitKinds)[number];

/**
 * What bounds the actual ledger: a count of rollouts, minutes of running time, US dollars and tokens (in and out) over
 * all roles; null or absent = no such limit.
 */
export type Limits = {
  readonly rollouts: number | null;
  readonly minutes: number | null;
  readonly usd?: number | null | undefined;
  readonly tokens?: number | null | undefined;
};

/** What changes the plan from outside. Taken only at named points. */
export type Input =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'ban'; readonly text: string }
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'budget.changed'; readonly rollouts: number }
  | { readonly kind: 'limits.changed'; readonly limits: Limits }
  | { readonly kind: 'limit.reached'; readonly limit: LimitKind }
  | { readonly kind: 'environment.changed'; readonly what: string; readonly versions: Readonly<Record<string, string>> }
  | { readonly kind: 'finish' };

/** Where inputs are taken: before a round, between edits, between blocks, before confirmation, when budget or limit is spent. */
export const inputPoints = ['round', 'edit', 'block', 'confirmation', 'spent'] as const;
export type InputPoint = (typeof inputPoints)[number];

/** Hands over the inputs that wait for this point; called once a point, never while logged decisions lie ahead. */
export type InputSource = (point: InputPoint) => readonly Input[];
