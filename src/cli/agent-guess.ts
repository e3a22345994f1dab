import type { Config } from '../config/schema.ts';
import type { Range, RoleGuess } from '../events/estimate.ts';
import type { Charge } from '../models/index.ts';
import { BUILTIN_AGENT } from '../rollout/agents/builtin/agent.ts';
import type { Asked } from './roles.ts';

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

/** Of one run as the optimizer: tokens of all its requests, which show again what was read before, and milliseconds. */
const RUN_INPUT: Range = [20_000, 500_000];
const RUN_OUTPUT: Range = [1_000, 12_000];
const RUN_MS: Range = [15_000, 300_000];

/** An agent as the optimizer, by its runs: some reflections take a second one. */
export function agentRunGuess(
  { reflection: { readers, agentSec } }: Pick<Config, 'reflection'>,
  { id }: Pick<Asked, 'id'>,
  price: Charge,
): RoleGuess {
  const most = agentSec * 1_000;
  return {
    role: 'optimizer',
    model: id,
    price,
    isAgent: true,
    calls: [1, 1.5 * readers],
    inputTokens: RUN_INPUT,
    outputTokens: RUN_OUTPUT,
    durationMs: [Math.min(RUN_MS[0], most / 2) / readers, Math.min(RUN_MS[1], most)],
  };
}
