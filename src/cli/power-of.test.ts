import { expect, test } from 'bun:test';
import { gatePower } from '../engine/power.ts';
import { gateRule } from '../engine/rules.ts';
import { goldenLogs, watch } from '../events/played-fixture.ts';
import { powerOf } from './power-of.ts';

const [, demo] = goldenLogs().find(([name]) => name.includes('demo')) ?? ['', []];

test('is told from the baseline on, and what comes later changes nothing', () => {
  const baseline = demo.findIndex((e) => e.type === 'evaluation.finished' && e.split === 'selection');
  const before = watch(demo.slice(0, baseline), {});
  expect(powerOf(before)).toBeNull();
  const [first, last] = [watch(demo.slice(0, baseline + 1), {}), watch(demo, {})];
  const passed = first.seed.selection?.passed;
  const tasks = Array.from({ length: 8 }, (_, i) => {
    const hard = i < (passed ?? 0) ? 1 : 0;
    return { passes: hard, scored: 1, banked: [hard] } as const;
  });
  expect(passed).toBe(2);
  // which tasks pass is nothing to it
  expect(powerOf(first)).toEqual(gatePower(tasks, gateRule('balanced', 0), 'hard'));
  expect(powerOf(last)).toEqual(powerOf(first));
});

test('an outcome that could not be scored counts for none; other metrics have no figure', () => {
  const at = demo.findIndex((e) => e.type === 'evaluation.finished' && e.split === 'selection');
  const event = demo[at];
  if (event?.type !== 'evaluation.finished') throw new Error('no baseline');
  const lost = { ...event, tasks: event.tasks.map(([t], i) => [t, i === 0 ? null : 1] as [string, number | null]) };
  expect(powerOf(watch([...demo.slice(0, at), lost], {}))).toMatchObject({ kind: 'told', tasks: 8, scored: 7 });
  const soft = watch(
    demo.map((e) => (e.type === 'plan.fixed' ? { ...e, gate: { ...e.gate, metric: 'soft' as const } } : e)),
    {},
  );
  expect(powerOf(soft)).toMatchObject({ kind: 'untold' });
});
