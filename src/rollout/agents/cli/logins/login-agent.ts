import { fail, type SkilloptError } from '../../../../ports/failure.ts';

/** How people deal with an agent's login, for messages. */
export type LoginAgent = {
  /** As a config names it. */
  readonly name: string;
  /** What makes a new login, ready to be typed. */
  readonly logIn: string;
  /** What renews one that is about to run out by being started; null = only a new login does. */
  readonly renewedBy: string | null;
};

const OR_A_KEY = 'or name a model with a key and leave "login" out';

/** There is no login that can be taken. */
export function noLogin(agent: LoginAgent, why: string, where: string, fix: string = logInFix(agent)): SkilloptError {
  return fail('auth', `${agent.name} has no login that can be taken: ${why}`, where, fix);
}

/** Log in, or do without. */
export function logInFix({ logIn }: LoginAgent): string {
  return `log in with ${logIn}, then start again; ${OR_A_KEY}`;
}

/** A fix of its own, or doing without. */
export function orAKey(fix: string): string {
  return `${fix}; ${OR_A_KEY}`;
}
