import { join } from 'node:path';
import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { requireHolding } from './holding.ts';
import { type LoginAgent, noLogin, orAKey } from './login-agent.ts';
import { readLoginFile, textOf, tokensIn } from './login-file.ts';

const agent: LoginAgent = { name: 'gemini-cli', logIn: '/auth in `gemini`', renewedBy: '`gemini`' };

const IN_A_FILE = orAKey(
  'log in with /auth in `gemini`, with GEMINI_FORCE_ENCRYPTED_FILE_STORAGE not set, as it can’t be read from its encrypted store',
);

/**
 * gemini-cli's login: the access token of `oauth_creds.json`, which holds for an hour. Without a refresh token the agent
 * uses it until five minutes before its end and then asks for a new login. Its settings have to select `oauth-personal`.
 */
export async function geminiLogin(o: CliLoginOptions): Promise<CliLogin> {
  const home = textOf(o.variables.GEMINI_CLI_HOME) ?? o.hostHome;
  const where = join(home, '.gemini', 'oauth_creds.json');
  const file = await readLoginFile(where, agent, IN_A_FILE);
  const access = textOf(file.access_token);
  if (access === null) throw noLogin(agent, 'its file holds no access token', where);
  const { expiry_date: expiry, scope, token_type: type } = file;
  const expiresMs = requireHolding(agent, where, typeof expiry === 'number' ? expiry : null, o);
  const copy = { access_token: access, expiry_date: expiresMs, ...texts({ scope, token_type: type }) };
  return {
    // an account of a company can't do without its project
    env: texts({ GOOGLE_CLOUD_PROJECT: o.variables.GOOGLE_CLOUD_PROJECT }),
    homeFiles: { '.gemini/oauth_creds.json': JSON.stringify(copy) },
    secrets: tokensIn(file),
    logIn: agent.logIn,
    where,
    expiresMs,
  };
}

function texts(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const text = textOf(value);
      return text === null ? [] : [[name, text]];
    }),
  );
}
