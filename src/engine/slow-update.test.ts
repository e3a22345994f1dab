import { describe, expect, test } from 'bun:test';
import { RulebookWorld, WorldPorts, worldOps, worldPlan, worldPresets } from '../bench/rulebook-world.ts';
import type { Edit } from '../ports/edit.ts';
import type { ProposeAsk } from '../ports/engine.ts';
import type { Input } from '../ports/inputs.ts';
import { guidanceIn } from '../skill/guidance.ts';
import { optimize } from './loop.ts';
import { basePlan, line, needs, play, refs, type Script } from './script-fixture.ts';

const guidance = (content: string): Edit => ({ op: 'guidance', target: '', content, cites: [], reason: '' });
const on = { slowUpdate: true as const };

/** Edits that mend nothing, and guidance by the number of its ask, which begins with 1. */
function script(guide: (nth: number, ask: ProposeAsk) => readonly Edit[] | null, more: Partial<Script> = {}) {
  const asks: { readonly ask: ProposeAsk; readonly text: string }[] = [];
  const whole: Script = {
    outcome: needs,
    propose: (ask, text) => {
      if (ask.kind !== 'slow-update')
        return ask.failing.slice(0, 1).map((f) => line(`try ${f.task} ${ask.round}`, f.task));
      asks.push({ ask, text });
      return guide(asks.length, ask);
    },
    ...more,
  };
  return { whole, asks };
}

describe('at the end of an epoch', () => {
  test('guidance is asked for before the sweep, from what was tried alone', async () => {
    const { whole, asks } = script(() => []);
    const { ports } = await play(whole, on);
    expect(asks.length).toBeGreaterThan(1);
    const [first] = asks;
    expect(first?.ask).toMatchObject({ kind: 'slow-update', atMost: 1, failing: [], passing: [] });
    expect(first?.text).toBe('seed\n');
    expect(first?.ask.tried.map((t) => t.fate)).toEqual(['failed-screening', 'failed-screening', 'failed-screening']);
    const at = ports.decisions.findIndex((d) => d.consumed[0] === first?.ask.key);
    expect(ports.decisions[at]).toMatchObject({ type: 'edit.rejected', reason: 'none-offered', edit: null });
    expect(ports.decisions[at + 1]).toMatchObject({ type: 'evaluation.finished', why: 'sweep' });
    expect(new Set(asks.map((a) => a.ask.key)).size).toBe(asks.length);
  });

  test('it is not asked for where nothing was kept or refused since the last one', async () => {
    const { whole, asks } = script(() => [], { propose: () => [] });
    const { end } = await play(whole, on);
    expect([end.cause, asks.length]).toEqual(['plateau', 0]);
  });

  test('without the option nothing is asked, and the same is decided as without slow updates at all', async () => {
    const { whole, asks } = script(() => [guidance('fix t0')]);
    const { ports } = await play(whole);
    expect(asks).toEqual([]);
    expect(ports.of('gate.decided').some((d) => d.kind !== undefined)).toBe(false);
  });
});

describe('guidance meets the incumbent at a gate of its own', () => {
  const best = guidance('fix t0\nfix t1\nfix t2');

  test('accepted, it is the incumbent, and comes again in what is asked and confirmed', async () => {
    const { whole, asks } = script((nth) => [nth === 1 ? best : guidance('nothing')]);
    const { ports, end } = await play(whole, on);
    const [gate, second] = ports.of('gate.decided');
    expect(gate).toMatchObject({
      step: 1,
      kind: 'slow-update',
      gateAction: 'accept',
      rounds: 0,
      tried: 1,
      draftDropped: false,
    });
    expect(gate?.edits.length).toBe(1);
    expect(second).toMatchObject({ step: 2, kind: 'slow-update', gateAction: 'reject' });
    expect(ports.of('skill.added')[0]).toMatchObject({
      version: 1,
      step: 1,
      edits: gate?.edits,
      skill: gate?.candidate,
    });
    expect(guidanceIn(ports.of('skill.added')[0]?.text ?? '')).toBe(best.content);
    expect([end.result, guidanceIn(end.text)]).toEqual(['improved', best.content]);
    expect(asks[1]?.text).toBe(end.text);
    expect(asks[1]?.ask.tried.at(-1)).toMatchObject({ edit: best, fate: 'accepted' });
    expect(asks[2]?.ask.tried.filter((t) => t.edit.op === 'guidance').map((t) => t.fate)).toEqual([
      'accepted',
      'rejected',
    ]);
    // what others are shown holds no guidance: they can't hand any in
    const others = ports.asks.filter((a) => a.kind === undefined);
    expect(others.some((a) => a.tried.some((t) => t.edit.op === 'guidance'))).toBe(false);
  });

  test('a tie is rejected, and leaves everything as it was', async () => {
    const { whole } = script(() => [guidance('nothing')]);
    const { ports, end } = await play(whole, on);
    expect(ports.of('gate.decided').map((d) => [d.gateAction, d.why])).toContainEqual([
      'reject',
      'a tie: no task changed',
    ]);
    expect([end.accepted, end.text]).toEqual([0, 'seed\n']);
  });

  test.each([
    ['a leak', { ...best, leak: 'names a task' }, 'leak'],
    ['a banned text', guidance('fix t0 and shout'), 'banned'],
    ['no guidance', line('fix t0', 't0'), 'bad-text'],
  ] as const)('%s is rejected before a rollout is paid', async (_, edit, reason) => {
    const { whole } = script(() => [edit], {
      inputs: (point, { taken }) => (point === 'round' && taken < 12 ? [{ kind: 'ban', text: 'shout' }] : []),
    });
    const { ports } = await play(whole, on);
    expect(ports.of('edit.rejected').filter((d) => d.reason === reason).length).toBeGreaterThan(0);
    expect(ports.of('gate.decided').some((d) => d.kind === 'slow-update')).toBe(false);
  });

  test('an unreadable hand-in is none of the three that end a run', async () => {
    const { whole, asks } = script(() => null);
    const { ports, end } = await play(whole, on);
    expect([end.cause, asks.length > 0]).toEqual(['plateau', true]);
    expect(ports.of('edit.rejected').filter((d) => d.reason === 'unusable').length).toBe(asks.length);
  });

  test('the draft stays, on top of the new guidance', async () => {
    // t0 can be fixed by an edit that wins one task on selection, too few for its gate
    const { whole } = script((nth) => [nth === 1 ? guidance('fix t1\nfix t2\nfix t3') : guidance('nothing')], {
      propose: (ask) => {
        if (ask.kind === 'slow-update') return [guidance('fix t1\nfix t2\nfix t3')];
        return ask.failing.some((f) => f.task === 't5') && ask.round === 1 ? [line('fix t5', 't5')] : [];
      },
    });
    const { ports, end } = await play({ ...whole }, { ...on, selection: refs('s', 4) });
    const [draft, slow] = ports.of('gate.decided');
    expect([draft?.kind, draft?.gateAction]).toEqual([undefined, 'reject']);
    expect([slow?.kind, slow?.gateAction]).toEqual(['slow-update', 'accept']);
    const changed = ports.of('incumbent.changed')[0];
    expect(changed?.draft).toBeDefined();
    expect(changed?.draft).not.toBe(changed?.to);
    const sweep = ports.decisions
      .slice(ports.decisions.indexOf(changed as never))
      .find((d) => d.type === 'evaluation.finished');
    expect(sweep).toMatchObject({ split: 'train', why: 'sweep', skill: changed?.draft });
    const text = ports.taken.find((t) => t.ask.skill === changed?.draft)?.text ?? '';
    expect(text.indexOf('fix t5')).toBeGreaterThan(0);
    expect(text.indexOf('fix t5')).toBeLessThan(text.indexOf('fix t1'));
    expect(end.text).not.toContain('fix t5');
  });

  test('a draft that does not fit it is dropped', async () => {
    const { whole } = script(() => [guidance('fix t1\nfix t2\nfix t3')], {
      propose: (ask) => {
        if (ask.kind === 'slow-update') return [guidance('fix t1\nfix t2\nfix t3')];
        return ask.failing.some((f) => f.task === 't5') && ask.round === 1 ? [line('fix t5', 't5')] : [];
      },
    });
    const picky = {
      ...worldOps,
      apply: (text: string, e: Edit) =>
        text.includes('fix t1') && e.content === 'fix t5'
          ? ({ ok: false, reason: 'too-large', detail: 'too long' } as const)
          : worldOps.apply(text, e),
    };
    const { ports } = await play(whole, on, picky);
    const slow = ports.of('gate.decided').find((d) => d.kind === 'slow-update');
    expect(slow).toMatchObject({ gateAction: 'accept', draftDropped: true });
    expect(ports.of('incumbent.changed')[0]?.draft).toBeUndefined();
  });

  test('a gate that the budget cuts off is held anew with the same guidance, and nothing is asked twice', async () => {
    const { whole, asks } = script((nth) => [nth === 1 ? best : guidance('nothing')]);
    const plain = await play(whole, on);
    const slow = plain.ports.decisions.findIndex((d) => d.type === 'gate.decided' && d.kind === 'slow-update');
    const before = plain.ports.decisions
      .slice(0, slow)
      .reduce((n, d) => n + d.consumed.filter((k) => !k.startsWith('reflection/')).length, 0);
    asks.length = 0;
    let raised = false;
    const inputs = (point: string): readonly Input[] => {
      if (point !== 'spent' || raised) return [];
      raised = true;
      return [{ kind: 'budget.changed', rollouts: 200 }];
    };
    const again = script((nth) => [nth === 1 ? best : guidance('nothing')], { inputs });
    const { ports, end } = await play(again.whole, { ...on, budget: before + 3 + 8 });
    const gates = ports.of('gate.decided').filter((d) => d.kind === 'slow-update');
    expect(gates.slice(0, 2).map((d) => [d.step, d.gateAction, d.why])).toEqual([
      [1, 'indecisive', 'budget'],
      [2, 'accept', 'more wins than losses'],
    ]);
    expect(gates[1]?.edits).toEqual(gates[0]?.edits ?? []);
    const keys = ports.decisions.flatMap((d) => d.consumed);
    expect(new Set(keys).size).toBe(keys.length);
    expect(guidanceIn(end.text)).toBe(best.content);
  });

  test('where the environment moves on the way, all is measured anew and then its gate', async () => {
    let blocks = 0;
    const { whole, asks } = script((nth) => [nth === 1 ? best : guidance('nothing')], {
      inputs: (point) =>
        point === 'block' && ++blocks === 1
          ? [{ kind: 'environment.changed', what: 'agent', versions: { agent: '2' } }]
          : [],
    });
    const { ports, end } = await play(whole, on);
    const slow = ports.of('gate.decided').filter((d) => d.kind === 'slow-update');
    expect(slow.slice(0, 2).map((d) => [d.gateAction, d.why])).toEqual([
      ['indecisive', 'environment-changed'],
      ['accept', 'more wins than losses'],
    ]);
    const between = ports.decisions.slice(ports.decisions.indexOf(slow[0]!) + 1, ports.decisions.indexOf(slow[1]!));
    expect(between.map((d) => (d.type === 'evaluation.finished' ? d.split : d.type))).toEqual(['selection', 'train']);
    expect(asks.filter((a) => a.text === 'seed\n').length).toBe(1);
    expect(guidanceIn(end.text)).toBe(best.content);
  });

  test('an acceptance is something kept: three sweeps without one are a plateau', async () => {
    const { whole } = script((nth) => [nth === 1 ? best : guidance('nothing')]);
    const sweeps = async (more: object) =>
      (await play(whole, more)).ports.of('evaluation.finished').filter((d) => d.split === 'train').length;
    expect(await sweeps(on)).toBeGreaterThan(await sweeps({}));
  });

  test('its gates are steps, and its epochs end before it is too late', async () => {
    const { whole } = script(() => [best]);
    const steps = await play(whole, { ...on, search: { ...basePlan.search, steps: 1 } });
    expect(steps.end).toMatchObject({ cause: 'completed', steps: 1, accepted: 1 });
    const epochs = await play(whole, { ...on, search: { ...basePlan.search, epochs: 1 } });
    expect(epochs.end).toMatchObject({ cause: 'completed', steps: 1, accepted: 1 });
  });
});

describe('on the rulebook world', () => {
  test('every consumed effect stands in exactly one decision, and the same answers give the same decisions', async () => {
    let guided = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const world = () => new RulebookWorld({ ...worldPresets['small-low'], seed, infra: 0.1 });
      const run = async () => {
        const ports = new WorldPorts(world());
        await optimize(worldPlan(ports.world, 300, on), ports, worldOps);
        return { ports };
      };
      const { ports } = await run();
      const keys = ports.decisions.flatMap((d) => d.consumed);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.filter((k) => !k.startsWith('reflection/'))).toEqual(ports.taken);
      for (const d of ports.decisions) expect(d.seen.length).toBe(d.consumed.length);
      expect((await run()).ports.decisions).toEqual(ports.decisions);
      guided += ports.decisions.filter((d) => d.type === 'gate.decided' && d.kind === 'slow-update').length;
      expect(JSON.stringify(ports.proposals)).not.toMatch(/selection-|test-/);
    }
    expect(guided).toBeGreaterThan(8);
  });
});
