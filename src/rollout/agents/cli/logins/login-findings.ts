import { homedir } from 'node:os';
import { type Failure, SkilloptError } from '../../../../ports/failure.ts';
import type { Finding } from '../../../../ports/preflight.ts';
import type { AgentSettings } from '../../settings.ts';
import type { CliKind, CliLogin } from '../cli-kind.ts';
import { momentWords } from '../clock-words.ts';
import { besideFailure, keysBeside } from './login-failures.ts';

/** What tasks without a limit of their own get. */
const commonRolloutMs = 900_000;

/** A login that ends sooner may not last for a run of a night. */
const LASTS_MS = 12 * 3_600_000;

/** How a coding agent is let in, and what does not hold where that is a login of its own. */
export async function loginFindings(kind: CliKind, settings: AgentSettings): Promise<readonly Finding[]> {
  const { name } = kind;
  if (settings.login === 'key')
    return [ok(`${name} is let in by the model’s key; no login of its own is used`, 'login')];
  if (kind.login === null) {
    const what = `${name} has no login that a rollout could be given`;
    return [{ level: 'error', what, where: 'login', fix: 'set "login": "key", and name a "model"' }];
  }
  const beside = keysBeside(name, settings.given ?? []);
  if (beside.length > 0) return [errorOf(besideFailure(name, beside, 'preloads.env, or the environment of a task'))];
  try {
    const { variables, modelId: model, longestMs: outlivesMs = commonRolloutMs } = settings;
    const hostHome = variables.HOME ?? homedir();
    const nowMs = Date.now();
    const login = await kind.login({ hostHome, variables, model, outlivesMs, nowMs });
    return [held(name, login, nowMs), direct(name), ...choice(name, model), ...limitFindings(kind, settings)];
  } catch (error) {
    if (error instanceof SkilloptError) return [errorOf(error.failure)];
    throw error;
  }
}

function held(name: string, { expiresMs, where, logIn }: CliLogin, nowMs: number): Finding {
  if (expiresMs === null) return ok(`${name} has a login`, where);
  const until = momentWords(expiresMs);
  if (expiresMs - nowMs >= LASTS_MS) return ok(`${name} has a login, which holds until ${until}`, where);
  const what = `the login of ${name} holds until ${until}: a run that takes longer pauses before`;
  return { level: 'warning', what, where, fix: `renew it with ${logIn}, now or then` };
}

/** Said wherever it is so: nothing of it may be taken for granted. */
function direct(name: string): Finding {
  return {
    level: 'warning',
    what: `with its own login ${name} talks to its vendor by itself: tokens and reading are what it tells, and no dollars are counted`,
    where: 'login',
    fix: 'docs/agents.md says what holds; a key goes through the gateway',
  };
}

function choice(name: string, model: string | null): readonly Finding[] {
  if (model !== null) return [];
  const what = `no model is named: ${name} takes its own choice, which may be another one tomorrow`;
  return [{ level: 'warning', what, where: 'model', fix: 'name one as "model": "provider/model"' }];
}

/** Nobody counts for an agent that talks to its vendor by itself: a limit holds only by a switch of its own. */
function limitFindings({ name, ownLimits }: CliKind, { limits }: AgentSettings): readonly Finding[] {
  const kept = ownLimits ?? [];
  const open = (['requests', 'tokens', 'usd'] as const).filter((l) => limits[l] !== null && !kept.includes(l));
  return open.map((limit) => ({
    level: 'error',
    what: `with its own login nothing holds ${name} to agentLimits.${limit}`,
    where: `agentLimits.${limit}`,
    fix: `take it out: ${kept.length === 0 ? '' : `${kept.join(' and ')} and `}the time of a rollout (timeouts.agentSec) hold; or use a key`,
  }));
}

const ok = (what: string, where: string): Finding => ({ level: 'ok', what, where, fix: '' });

const errorOf = ({ what, where, fix }: Failure): Finding => ({ level: 'error', what, where, fix });
