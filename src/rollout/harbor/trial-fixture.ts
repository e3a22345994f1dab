import { readTrial, type TrialResult } from './trial.ts';

const timing = { started_at: '2026-12-01T12:00:00Z', finished_at: '2026-12-01T12:00:01Z' };

/** A trial that came to a pass, with what differs; as Harbor would write it, unless a test wants otherwise. */
export function trialJson(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    task_id: { path: '/pack/task' },
    trial_name: 'task__AbCdEfG',
    config: { agent: { name: 'claude-code', env: { SKILLOPT_ROLLOUT: 'session/entry' } } },
    agent_info: { name: 'claude-code', version: '2.1.0' },
    agent_result: { n_input_tokens: 100, n_output_tokens: 10, cost_usd: 0.01, metadata: null },
    verifier_result: { rewards: { reward: 1 } },
    exception_info: null,
    ...timing,
    environment_setup: timing,
    agent_setup: timing,
    agent_execution: timing,
    verifier: timing,
    step_results: null,
    reward_valid: true,
    ...more,
  };
}

/** A trial of several steps: what one step has stands in it alone. */
export function stepsJson(
  steps: readonly Readonly<Record<string, unknown>>[],
  more: Readonly<Record<string, unknown>> = {},
) {
  return trialJson({
    agent_result: null,
    agent_execution: null,
    verifier: null,
    step_results: steps.map((step, i) => ({
      step_name: `step-${i}`,
      agent_result: { n_input_tokens: 100, n_output_tokens: 10, cost_usd: 0.01 },
      verifier_result: { rewards: { reward: 1 } },
      exception_info: null,
      agent_execution: timing,
      verifier: timing,
      ...step,
    })),
    ...more,
  });
}

/** The same as it is read. */
export function trialOf(more: Readonly<Record<string, unknown>> = {}): TrialResult {
  const read = readTrial(JSON.stringify(trialJson(more)));
  if (read === null) throw new Error('no trial');
  return read;
}
