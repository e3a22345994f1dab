import type { Model } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';

/** What an estimate has to know of a model. */
export type Asked = Pick<Model, 'id' | 'takesTools'>;

/** The models of a session by what they do; null = that role has none. */
export type Roles<M = Asked> = { readonly target: M | null; readonly optimizer: M | null };

/** How a role's model answered once. */
export type RoleTrip = {
  readonly role: 'target' | 'optimizer';
  readonly model: string;
  readonly usage: Usage;
  readonly durationMs: number;
};
