import type { Protocol } from '../../../ports/gateway.ts';
import { claudeCode } from './claude-code.ts';
import type { CliKind } from './cli-kind.ts';
import { codex } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';

/** The coding agents that this program drives. A new one is a file here and a line below. */
export const cliKinds: readonly CliKind[] = [claudeCode, codex, pi, opencode, geminiCli];

/** What the built-in agent's model has to answer. */
const builtinSpeaks: readonly Protocol[] = ['messages', 'chat'];

/** Agents that can work with a model that answers these APIs, by name. */
export function agentsThatSpeak(
  protocols: readonly Protocol[],
  kinds: readonly CliKind[] = cliKinds,
): readonly string[] {
  const all = [...kinds.map(({ name, speaks }) => ({ name, speaks })), { name: 'builtin', speaks: builtinSpeaks }];
  return all.filter(({ speaks }) => speaks.some((protocol) => protocols.includes(protocol))).map(({ name }) => name);
}
