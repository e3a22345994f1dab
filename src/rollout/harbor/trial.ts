import { z } from 'zod';
import { markName } from '../local/environment.ts';

/** Harbor leaves out or nulls what it does not know, and adds keys from release to release: all is optional, the rest is ignored. */
const maybe = <T extends z.ZodType>(shape: T) => shape.nullish().catch(null);

const timing = z.object({ started_at: maybe(z.string()), finished_at: maybe(z.string()) });
export type Timing = z.output<typeof timing>;

/** Stands for what can't be read: it is no end that an agent comes to. */
const unreadable = { exception_type: 'UnreadableError', exception_message: 'Harbor’s record of it can’t be read' };

/** Where anything stands, something was raised, however little of it can be read. */
const exception = z
  .object({ exception_type: z.string(), exception_message: maybe(z.string()), occurred_at: maybe(z.string()) })
  .nullish()
  .catch(unreadable);

const count = maybe(z.number().nonnegative());
const agentResult = z.object({
  n_input_tokens: count,
  n_output_tokens: count,
  cost_usd: count,
  metadata: maybe(z.record(z.string(), z.unknown())),
});

/** Values that are no number stand as null: so Harbor writes NaN. */
const verifierResult = z.object({ rewards: maybe(z.record(z.string(), z.number().nullable().catch(null))) });

/** What one run of the agent and the verdict on it are: of a whole trial, or of one of its steps. */
const part = z.object({
  agent_result: maybe(agentResult),
  verifier_result: maybe(verifierResult),
  exception_info: exception,
  agent_execution: maybe(timing),
  verifier: maybe(timing),
});
const step = part.extend({ step_name: maybe(z.string()) }).catch({ exception_info: unreadable });

/**
 * `<job>/<trial>/result.json` of Harbor 0.25 and later, as far as this program reads it. `reward_valid` is Harbor's own
 * verdict on the reward. Of a trial of several steps the run of the agent and what was raised in it stand in its steps.
 */
const trialResult = part.extend({
  task_id: z.object({ path: z.string() }),
  trial_name: z.string(),
  config: z.object({
    agent: z.object({ env: maybe(z.record(z.string(), z.string().catch(''))), name: maybe(z.string()) }),
  }),
  agent_info: maybe(z.object({ name: maybe(z.string()), version: maybe(z.string()) })),
  started_at: maybe(z.string()),
  finished_at: maybe(z.string()),
  environment_setup: maybe(timing),
  agent_setup: maybe(timing),
  step_results: z
    .array(step)
    .nullish()
    .catch([{ exception_info: unreadable }]),
  reward_valid: z.boolean().optional().catch(false),
});
export type TrialResult = z.output<typeof trialResult>;
export type TrialPart = z.output<typeof part> & { readonly step_name?: string | null | undefined };

/** The variable by which an agents entry of a job is known in the results of its trials; agents and verifiers see it, too. */
export const ENTRY_VARIABLE = markName;

/** What a trial's result file says; null = it is not there whole: Harbor writes it in place. */
export function readTrial(text: string): TrialResult | null {
  try {
    const read = trialResult.safeParse(JSON.parse(text));
    return read.success && typeof read.data.finished_at === 'string' ? read.data : null;
  } catch {
    return null;
  }
}

/** The runs of the agent in a trial: its steps, or itself where it has none. */
export function partsOf(trial: TrialResult): readonly TrialPart[] {
  const steps = trial.step_results ?? [];
  return steps.length === 0 ? [trial] : steps;
}

/** The agents entry that a trial belongs to; null = it is none of ours. */
export function entryOf({ config }: Pick<TrialResult, 'config'>): string | null {
  return config.agent.env?.[ENTRY_VARIABLE] ?? null;
}
