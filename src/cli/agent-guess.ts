import type { Config } from '../config/schema.ts';
import type { Range } from '../events/estimate.ts';
import { BUILTIN_AGENT } from '../rollout/agents/builtin/agent.ts';

// What an agent asks of its model in one rollout, on the mean over a pack; single rollouts may lie far outside.

/** Requests of one rollout. */
const TURNS: Range = [2, 15];
/** Characters of rules and tools that go with each request: of this program's own agent, and of others. */
const OWN_RULES: Range = [4_000, 4_500];
const RULES: Range = [6_000, 50_000];
/** Characters of what was said and shown before a request. */
const SHOWN: Range = [500, 20_000];
/** Tokens of one reply. */
const REPLY: Range = [30, 500];

/** One request of an agent, before anything of it was measured; `prompt` = characters of task and skill. */
export function agentGuess(
  { agent, agentLimits }: Pick<Config, 'agent' | 'agentLimits'>,
  prompt: Range,
): { readonly calls: Range; readonly characters: Range; readonly outputTokens: Range } {
  const most = agentLimits.requests ?? TURNS[1];
  const rules = agent === BUILTIN_AGENT ? OWN_RULES : RULES;
  return {
    calls: [Math.min(TURNS[0], most), Math.min(TURNS[1], most)],
    characters: [prompt[0] + rules[0] + SHOWN[0], prompt[1] + rules[1] + SHOWN[1]],
    outputTokens: REPLY,
  };
}
