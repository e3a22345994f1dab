import type { RunState } from './run-state.ts';

const PROGRAM = 'rehearsal';

/** Who of agent and optimizer is a small program in the place of a model. */
function programs({ session, plan }: Pick<RunState, 'session' | 'plan'>) {
  const agent = session?.environment.agent === PROGRAM;
  return { agent, optimizer: plan === null ? agent : plan.optimizer === PROGRAM };
}

/** No model takes part, so that nothing can be paid for one. */
export function callsNoModel(state: Pick<RunState, 'session' | 'plan'>): boolean {
  const { agent, optimizer } = programs(state);
  return agent && optimizer;
}

/** What of a session is a rehearsal, in a few words; null = nothing is. */
export function rehearsed(state: Pick<RunState, 'session' | 'plan'>): string | null {
  if (!state.session?.rehearsal) return null;
  const { agent, optimizer } = programs(state);
  if (agent && optimizer) return 'no model is called';
  return agent ? 'a small program does the tasks' : 'a small program proposes the edits';
}

/** The same as every surface says it, ` · ` before it; empty = it is none. */
export function rehearsalNote(state: Pick<RunState, 'session' | 'plan'>): string {
  const what = rehearsed(state);
  return what === null ? '' : ` · REHEARSAL (${what})`;
}
