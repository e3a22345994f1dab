import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { type LoginAgent, noLogin, orAKey } from './login-agent.ts';

const VARIABLE = 'CLAUDE_CODE_OAUTH_TOKEN';

const agent: LoginAgent = { name: 'claude-code', logIn: '`claude setup-token`', renewedBy: null };

const MAKE = orAKey(`run \`claude setup-token\` and set ${VARIABLE} to the token that it prints`);

/**
 * Claude Code's login: the token that `claude setup-token` makes, by name from the environment. It says nothing of when
 * it runs out (a year after it was made); the agent does not renew it.
 */
export async function claudeCodeLogin({ variables }: CliLoginOptions): Promise<CliLogin> {
  const token = variables[VARIABLE]?.trim() ?? '';
  const refuse = (why: string, fix: string) => noLogin(agent, why, VARIABLE, fix);
  if (token === '') throw refuse(`${VARIABLE} is not set`, MAKE);
  if (/\s/.test(token))
    throw refuse('the token has a line break or a blank in it', 'copy the whole token into one line');
  if (token.startsWith('sk-ant-api'))
    throw refuse(
      `${VARIABLE} holds an API key`,
      `${MAKE} (a key belongs into ANTHROPIC_API_KEY, and "login" is left out)`,
    );
  if (token.startsWith('sk-ant-ort')) throw refuse(`${VARIABLE} holds a refresh token`, MAKE);
  return {
    env: { [VARIABLE]: token },
    homeFiles: {},
    secrets: [token],
    logIn: agent.logIn,
    where: VARIABLE,
    expiresMs: null,
  };
}
