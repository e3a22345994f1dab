import { momentWords, spanWords } from '../clock-words.ts';
import { type LoginAgent, logInFix, noLogin, orAKey } from './login-agent.ts';

/** Agents renew a login that holds no longer than this; one without a refresh token would fail. */
export const RENEWS_BEFORE_MS = 5 * 60_000;

/**
 * When a login runs out, if it holds long enough for what is to be done with it. Throws an `auth` failure with the fix
 * where it does not, or where it does not say (`expiresMs` null).
 */
export function requireHolding(
  agent: LoginAgent,
  where: string,
  expiresMs: number | null,
  { nowMs, outlivesMs }: { readonly nowMs: number; readonly outlivesMs: number },
): number {
  if (expiresMs === null) throw noLogin(agent, 'it does not say until when it holds', where);
  if (expiresMs >= nowMs + outlivesMs + RENEWS_BEFORE_MS) return expiresMs;
  const when = momentWords(expiresMs);
  const why =
    expiresMs <= nowMs
      ? `it ran out at ${when}`
      : `it holds until ${when}, and a rollout may take ${spanWords(outlivesMs)}; a copy can’t be renewed while it runs`;
  throw noLogin(agent, why, where, renewal(agent, expiresMs <= nowMs + RENEWS_BEFORE_MS));
}

/** Starting the agent renews a login only when that is about to run out. */
function renewal(agent: LoginAgent, isDue: boolean): string {
  const { renewedBy, logIn } = agent;
  if (renewedBy === null) return logInFix(agent);
  return isDue
    ? orAKey(`run ${renewedBy} once so that it renews its login, then start again`)
    : orAKey(`log in anew with ${logIn}, then start again`);
}
