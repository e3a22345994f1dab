import { join } from 'node:path';
import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { requireHolding } from './holding.ts';
import { claimsOf, expiryOf } from './jwt.ts';
import { type LoginAgent, noLogin, orAKey } from './login-agent.ts';
import { isData, readLoginFile, textOf, tokensIn } from './login-file.ts';

const agent: LoginAgent = { name: 'codex', logIn: '`codex login`', renewedBy: '`codex`' };

const IN_A_FILE = orAKey(
  'log in with `codex login`; where codex keeps its login in a keyring, set cli_auth_credentials_store = "file" in its config.toml before',
);

/**
 * codex's login: the access token of `auth.json`, as tokens that someone else looks after (`chatgptAuthTokens`). With
 * these codex never asks for a renewal, neither before they run out nor after a 401. `refresh_token` has to be there,
 * empty, and `last_refresh`, too: without them codex takes itself for not logged in. The access token stands for the id
 * token, which says no more that codex needs.
 */
export async function codexLogin(o: CliLoginOptions): Promise<CliLogin> {
  const where = join(textOf(o.variables.CODEX_HOME) ?? join(o.hostHome, '.codex'), 'auth.json');
  const file = await readLoginFile(where, agent, IN_A_FILE);
  const { tokens } = file;
  if (!isData(tokens)) {
    const byKey = textOf(file.OPENAI_API_KEY) !== null;
    throw noLogin(agent, byKey ? 'it is logged in by an API key' : 'its file holds no login of ChatGPT', where);
  }
  const access = textOf(tokens.access_token);
  if (access === null) throw noLogin(agent, 'its file holds no access token', where);
  const claims = claimsOf(access);
  if (claims === null) throw noLogin(agent, 'its access token is of a form that is not known', where);
  const account = textOf(tokens.account_id) ?? accountOf(claims);
  if (account === null) throw noLogin(agent, 'its file names no account', where);
  const expiresMs = requireHolding(agent, where, expiryOf(access), o);
  const copy = {
    auth_mode: 'chatgptAuthTokens',
    OPENAI_API_KEY: null,
    tokens: { id_token: access, access_token: access, refresh_token: '', account_id: account },
    last_refresh: textOf(file.last_refresh) ?? new Date(o.nowMs).toISOString(),
  };
  return {
    env: {},
    homeFiles: { '.codex/auth.json': JSON.stringify(copy) },
    secrets: tokensIn(file),
    logIn: agent.logIn,
    where,
    expiresMs,
  };
}

function accountOf(claims: Readonly<Record<string, unknown>>): string | null {
  const auth = claims['https://api.openai.com/auth'];
  return isData(auth) ? textOf(auth.chatgpt_account_id) : null;
}
