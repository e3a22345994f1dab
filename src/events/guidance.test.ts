import { describe, expect, test } from 'bun:test';
import type { Edit } from '../ports/edit.ts';
import { play } from '../session/session-fixture.ts';
import { draftText } from '../tui/screens/run/draft-text.ts';
import type { LoggedEvent } from './events.ts';
import { openGate } from './gate-view.ts';
import { cutAndGoOn, eventsOf, goldenLogs, pool, watch } from './played-fixture.ts';
import type { RunState } from './run-state.ts';
import { editsText, editTitle } from './words.ts';

const golden = goldenLogs().find(([file]) => file === 'loop-2-guidance.jsonl')?.[1] ?? [];
const search = { draftSize: 3, dryRounds: 3, memory: true };
const isSlow = (e: LoggedEvent) => e.type === 'gate.decided' && e.kind === 'slow-update';

/** Holds what the state says against each decision of a log. */
function hold(events: readonly LoggedEvent[]): {
  readonly gates: number;
  readonly rebased: number;
  readonly state: RunState;
} {
  let gates = 0;
  let rebased = 0;
  const state = watch(events, {
    before: (event, s) => {
      if (event.type !== 'gate.decided') return;
      const view = openGate(s);
      if (view !== null) expect(view.candidate).toBe(event.kind === undefined ? 'draft' : 'guidance');
      if (event.kind === undefined) return;
      gates++;
      expect(s.guidance).toEqual({ edit: event.edits[0] ?? '', skill: event.candidate });
    },
    after: (event, s) => {
      if (event.type === 'incumbent.changed' && event.draft !== undefined) {
        rebased++;
        expect(s.draftSkill).toBe(event.draft);
      }
      // the draft is what its edits make of the incumbent, after every decision but the first of two
      if (
        'digest' in event &&
        event.type !== 'skill.added' &&
        !(event.type === 'gate.decided' && event.gateAction === 'accept')
      )
        expect(draftText(s)).not.toBeNull();
      if (isSlow(event) && event.type === 'gate.decided' && event.gateAction !== 'indecisive')
        expect(s.guidance).toBeNull();
    },
  });
  return { gates, rebased, state };
}

describe('guidance in the state', () => {
  test('is known from its ask to its verdict, and the draft goes on top of what was accepted', () => {
    const { gates, rebased, state } = hold(golden);
    expect([gates > 2, rebased]).toEqual([true, 1]);
    const steps = state.steps.filter((s) => s.kind === 'slow-update');
    for (const step of steps) {
      expect(editsText({ ...step, draft: step.edits.length })).toBe('slow update');
      const edit = state.edits.get(step.edits[0] ?? '');
      expect(edit).toMatchObject({
        source: 'slow-update',
        fate: step.gateAction === 'accept' ? 'accepted' : 'refused',
      });
      if (edit) expect(editTitle(edit)).toMatch(/^guidance “/);
    }
    // edits that were tried since the gate before belong to the draft's next gate
    for (const [at, step] of state.steps.entries())
      if (step.kind === undefined) expect(step.kept).toBeLessThanOrEqual(step.tried);
      else expect([step.kept, step.tried, at > 0]).toEqual([0, 1, true]);
  });

  test('so it is where rollouts run ahead, and where the session was cut', async () => {
    let gates = 0;
    for (const seed of [1, 4, 14, 33]) {
      const o = { world: { seed, infra: 0.1 }, budget: 150, config: { slowUpdate: true }, ...pool(`g${seed}`) };
      gates += hold(eventsOf((await play(o)).log)).gates;
      gates += hold(eventsOf(await cutAndGoOn(o, [0.3, 0.5, 0.8]))).gates;
    }
    expect(gates).toBeGreaterThan(8);
  });

  test('guidance that can’t be tried is no edit of the draft', async () => {
    const o = { world: { seed: 3, infra: 0.1 }, budget: 150, config: { slowUpdate: true }, search };
    const leaks = async () => (edit: Edit) => (edit.op === 'guidance' ? 'it quotes a task' : null);
    const refused = eventsOf((await play({ ...o, leaks })).log);
    const isLeak = (e: LoggedEvent) => e.type === 'edit.rejected' && e.reason === 'leak';
    expect(refused.filter(isLeak).length).toBeGreaterThan(0);
    for (const events of [refused, eventsOf((await play(o)).log)])
      watch(events, {
        before: (event, { openStep }) => {
          if (event.type === 'gate.decided' && event.kind === undefined) expect(openStep.tried).toBe(event.tried);
        },
      });
  });
});
