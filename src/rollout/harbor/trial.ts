import { z } from 'zod';
import { markName } from '../local/environment.ts';

/** Harbor leaves out or nulls what it does not know, and adds keys from release to release: all is optional, the rest is ignored. */
const maybe = <T extends z.ZodType>(shape: T) => shape.nullish().catch(null);

const timing = z.object({ started_at: maybe(z.string()), finished_at: maybe(z.string()) });

const exception = z.object({
  exception_type: z.string(),
  exception_message: maybe(z.string()),
});

const agentResult = z.object({
  n_input_tokens: maybe(z.number()),
  n_output_tokens: maybe(z.number()),
  cost_usd: maybe(z.number()),
  metadata: maybe(z.record(z.string(), z.unknown())),
});

/** Values that are no number stand as null: so Harbor writes NaN. */
const verifierResult = z.object({ rewards: maybe(z.record(z.string(), z.number().nullable().catch(null))) });

const step = z.object({
  step_name: maybe(z.string()),
  agent_result: maybe(agentResult),
  verifier_result: maybe(verifierResult),
  exception_info: maybe(exception),
});

/**
 * `<job>/<trial>/result.json` of Harbor 0.25 and later, as far as this program reads it. `reward_valid` is Harbor's own
 * verdict on the reward. Of a trial of several steps `agent_result` and `exception_info` stand in its steps alone.
 */
const trialResult = z.object({
  task_id: z.object({ path: z.string() }),
  trial_name: z.string(),
  config: z.object({
    agent: z.object({ env: maybe(z.record(z.string(), z.string().catch(''))), name: maybe(z.string()) }),
  }),
  agent_info: maybe(z.object({ name: maybe(z.string()), version: maybe(z.string()) })),
  agent_result: maybe(agentResult),
  verifier_result: maybe(verifierResult),
  exception_info: maybe(exception),
  started_at: maybe(z.string()),
  finished_at: maybe(z.string()),
  environment_setup: maybe(timing),
  agent_setup: maybe(timing),
  agent_execution: maybe(timing),
  verifier: maybe(timing),
  step_results: maybe(z.array(step)),
  reward_valid: maybe(z.boolean()),
});
export type TrialResult = z.output<typeof trialResult>;
export type TrialStep = z.output<typeof step>;

/** The variable by which an agents entry of a job is known in the results of its trials; agents and verifiers see it, too. */
export const ENTRY_VARIABLE = markName;

/** What a trial's result file says; null = it is not there whole: Harbor writes it in place. */
export function readTrial(text: string): TrialResult | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const read = trialResult.safeParse(value);
  return read.success && typeof read.data.finished_at === 'string' ? read.data : null;
}

/** The agents entry that a trial belongs to; null = it is none of ours. */
export function entryOf({ config }: Pick<TrialResult, 'config'>): string | null {
  return config.agent.env?.[ENTRY_VARIABLE] ?? null;
}
