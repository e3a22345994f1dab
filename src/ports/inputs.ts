import type { Edit } from './edit.ts';

/** What bounds the actual ledger. Rollouts are a count, minutes are minutes of running time; null = no such limit. */
export type Limits = { readonly rollouts: number | null; readonly minutes: number | null };

/** What changes the plan from outside. Taken only at named points. */
export type Input =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'ban'; readonly text: string }
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'budget.changed'; readonly rollouts: number }
  | { readonly kind: 'limits.changed'; readonly limits: Limits }
  | { readonly kind: 'limit.reached'; readonly limit: 'rollouts' | 'minutes' }
  | { readonly kind: 'environment.changed'; readonly what: string; readonly versions: Readonly<Record<string, string>> }
  | { readonly kind: 'finish' };

/** Where inputs are taken: before a round, between edits, between blocks, before confirmation, when budget or limit is spent. */
export const inputPoints = ['round', 'edit', 'block', 'confirmation', 'spent'] as const;
export type InputPoint = (typeof inputPoints)[number];

/** Hands over the inputs that wait for this point; called once a point, never while logged decisions lie ahead. */
export type InputSource = (point: InputPoint) => readonly Input[];
