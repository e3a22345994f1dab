import { enoughTasks, gatePower, type PowerTask } from '../engine/power.ts';
import { gateRule } from '../engine/rules.ts';
import type { Power } from '../events/power.ts';
import type { Measured, RunState } from '../events/run-state.ts';

/** A measurement stays as it is, so what follows from it is worked out once. */
const known = new WeakMap<Measured, Power>();

/** What one gate of the session can tell, by the seed's outcomes on selection; null = they are not there yet. */
export function powerOf(state: RunState): Power | null {
  const { plan, timeline } = state;
  const seed = timeline.selection.flatMap((t) => (t.kind === 'measured' ? [t.measured] : []));
  const measured = seed.findLast((m) => m.why === 'seed');
  if (plan === null || measured === undefined) return null;
  const power = known.get(measured) ?? powerFor(measured.tasks.map(taskOf), plan.gate);
  known.set(measured, power);
  return power;
}

function powerFor(tasks: readonly PowerTask[], gate: NonNullable<RunState['plan']>['gate']): Power {
  const rule = gateRule(gate.rule, 0);
  const power = gatePower(tasks, rule, gate.metric);
  return power.kind === 'told' && power.underpowered ? { ...power, enough: enoughTasks(tasks, rule) } : power;
}

function taskOf([, score]: Measured['tasks'][number]): PowerTask {
  if (score === null) return { passes: 0, scored: 0, banked: [null] };
  const passed = score === 1 ? 1 : 0;
  return { passes: passed, scored: 1, banked: [passed] };
}
