import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { requireHolding } from './holding.ts';
import { type LoginAgent, noLogin, orAKey } from './login-agent.ts';
import { isData, type LoginData, readLoginFile, textOf, tokensIn } from './login-file.ts';

/** A login of one provider, as agents keep it that know many. */
type Entry = LoginData & { readonly access: string; readonly expires: number };

/** Nothing that holds for longer is renewed: it is a key. */
const LONGEST_MS = 400 * 86_400_000;

/** What the agents need of an entry beside its token. */
const needed = ['accountId', 'enterpriseUrl', 'clientId', 'scope', 'scopes', 'availableModelIds'];

/**
 * The login of an agent that keeps one for each provider in one file: that of the model's provider, or the only one.
 * Its refresh token is left empty: the agents want the field, and with it they are refused by the provider when they
 * ask for a renewal.
 */
export async function providerLogin(
  agent: LoginAgent,
  where: string,
  homePath: string,
  o: CliLoginOptions,
): Promise<CliLogin> {
  const file = await readLoginFile(where, agent);
  const provider = providerOf(agent, where, file, o.model);
  const entry = entryOf(agent, where, provider, file[provider]);
  const at = `${where}, ${provider}`;
  const expiresMs = requireHolding(agent, at, entry.expires > 0 ? entry.expires : null, o);
  if (expiresMs > o.nowMs + LONGEST_MS) throw isAKey(agent, at, provider);
  const rest = Object.fromEntries(needed.flatMap((name) => (name in entry ? [[name, entry[name]]] : [])));
  const copy = { [provider]: { type: 'oauth', ...rest, access: entry.access, refresh: '', expires: expiresMs } };
  return {
    env: {},
    homeFiles: { [homePath]: JSON.stringify(copy) },
    secrets: tokensIn(file),
    logIn: agent.logIn,
    where: at,
    expiresMs,
  };
}

/** Whose login is wanted: that of the model's provider, or the only one that there is. */
function providerOf(agent: LoginAgent, where: string, file: LoginData, model: string | null): string {
  const logins = Object.keys(file).filter((name) => isLogin(file[name]));
  const has = logins.length === 0 ? 'it has none' : `it has ${logins.join(', ')}`;
  if (model !== null) {
    const slash = model.indexOf('/');
    const provider = slash === -1 ? '' : model.slice(0, slash);
    if (Object.hasOwn(file, provider)) return provider;
    const name = logins.length === 0 ? '' : `name a model of ${logins.join(' or ')} ("model": "${logins[0]}/…"), or `;
    const why = `it has no login of the provider of ${model}; ${has}`;
    throw noLogin(agent, why, where, orAKey(`${name}log in with ${agent.logIn}`));
  }
  const [only, ...others] = logins;
  if (only === undefined) {
    const [first] = Object.keys(file);
    if (first !== undefined) return first; // says why it is none
    throw noLogin(agent, has, where);
  }
  if (others.length === 0) return only;
  const fix = `name a model of one of them ("model": "${only}/…")`;
  throw noLogin(agent, `it has several, ${logins.join(', ')}, and no model says which`, where, orAKey(fix));
}

function isLogin(value: unknown): boolean {
  return isData(value) && value.type === 'oauth';
}

function entryOf(agent: LoginAgent, where: string, provider: string, value: unknown): Entry {
  const at = `${where}, ${provider}`;
  if (!isData(value)) throw noLogin(agent, `what it holds of ${provider} is no login`, at);
  if (value.type === 'api' || value.type === 'api_key') throw isAKey(agent, at, provider);
  if (value.type !== 'oauth') throw noLogin(agent, `its login of ${provider} is of a kind that can’t be copied`, at);
  const access = textOf(value.access);
  if (access === null) throw noLogin(agent, `its login of ${provider} has no access token`, at);
  if (typeof value.expires !== 'number' || !(value.expires > 0))
    throw noLogin(agent, `its login of ${provider} does not say until when it holds`, at);
  return { ...value, access, expires: value.expires };
}

const isAKey = (agent: LoginAgent, at: string, provider: string) =>
  noLogin(agent, `what it holds of ${provider} is a key, and no login`, at, orAKey(`log in with ${agent.logIn}`));
