import { agentName } from '../config/agent.ts';
import { modelName } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import type { Model } from '../ports/model.ts';
import type { Usage } from '../ports/usage.ts';

/** What an estimate has to know of a model. */
export type Asked = Pick<Model, 'id' | 'takesTools'> & {
  /** It is an agent that is run, and no model that is called. */
  readonly isAgent?: true | undefined;
};

/** Agent and model as people name them: `claude-code (anthropic/claude-opus-4-8)`. */
export function agentId({ agent, model }: Pick<Config, 'agent' | 'model'>): string {
  return model === null ? agentName(agent) : `${agentName(agent)} (${modelName(model)})`;
}

/** The models of a session by what they do; null = that role has none. */
export type Roles<M = Asked> = { readonly target: M | null; readonly optimizer: M | null };

/** How a role's model answered once. */
export type RoleTrip = {
  readonly role: 'target' | 'optimizer';
  readonly model: string;
  readonly usage: Usage;
  readonly durationMs: number;
};
