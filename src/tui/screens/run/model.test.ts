import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runKeys } from '../../keys.ts';
import { type RunContext, type RunIntent, type RunModel, reduceRun, startModel } from './model.ts';

const at: RunContext = {
  steps: 5,
  lines: 40,
  height: 10,
  stage: 'search',
  paused: false,
  matrixTab: 0,
  hunks: [0, 12, 30],
};

/** Presses keys one after the other. */
function press(
  keys: readonly string[],
  from: RunModel = startModel,
  context = at,
): readonly [RunModel, readonly RunIntent[]] {
  let model = from;
  const intents: RunIntent[] = [];
  for (const key of keys) {
    const [next, more] = reduceRun(model, { kind: 'key', key }, context);
    model = next;
    intents.push(...more);
  }
  return [model, intents];
}

describe('keys of the run screen', () => {
  test.each<[string, readonly string[], readonly RunIntent[]]>([
    ['pause', ['p'], [{ kind: 'pause' }]],
    ['sleep', ['ctrl+z'], [{ kind: 'suspend' }]],
    [
      'stop after the step, and take it back',
      ['s', 's'],
      [
        { kind: 'stop-after-step', wanted: true },
        { kind: 'stop-after-step', wanted: false },
      ],
    ],
    ['stop now, once', ['x', 'x'], [{ kind: 'stop' }]],
    ['ctrl+c once and twice', ['ctrl+c', 'ctrl+c'], [{ kind: 'stop' }, { kind: 'end-now' }]],
    ['quit asks, no leaves all as it is', ['q', 'n'], []],
    ['quit asks, esc leaves all as it is', ['q', 'esc'], []],
    ['quit, then yes', ['q', 'y'], [{ kind: 'stop' }]],
    ['quit, then after this step', ['q', 's'], [{ kind: 'stop-after-step', wanted: true }]],
    [
      'stop after step stays wanted when it is answered again',
      ['s', 'q', 's'],
      [
        { kind: 'stop-after-step', wanted: true },
        { kind: 'stop-after-step', wanted: true },
      ],
    ],
    ['ctrl+c while a question stands', ['q', 'ctrl+c'], [{ kind: 'stop' }]],
    ['finish asks', ['F', 'enter'], [{ kind: 'finish' }]],
    ['finish is asked for once', ['F', 'enter', 'F', 'enter'], [{ kind: 'finish' }]],
    ['finish, then no', ['F', 'esc'], []],
    ['esc never ends a run', ['esc', 'd', 'esc', 'esc', 'esc'], []],
    ['nothing is paused once it stops', ['x', 'p', 's'], [{ kind: 'stop' }]],
    ['keys without a meaning do nothing', ['z', 'Z', '%'], []],
  ])('%s', (_what, keys, intents) => expect(press(keys)[1]).toEqual(intents));

  test('finish is offered only while the search goes on', () => {
    expect(press(['F'], startModel, { ...at, stage: 'confirmation' })[0].question).toBeNull();
  });

  test('a paused run is resumed', () => {
    expect(press(['p'], startModel, { ...at, paused: true })[1]).toEqual([{ kind: 'resume' }]);
  });

  test('wishes that nobody could hear are not taken', () => {
    const opening: RunContext = { ...at, stage: 'opening' };
    const [model, intents] = press(['p', 's', 'F', 'q', 's', 'n', 'x'], startModel, opening);
    expect(intents).toEqual([{ kind: 'stop' }]);
    expect(model).toMatchObject({ ending: 'now', finishing: false });
    expect(press(['s', 'F', 'q', 's'], startModel, { ...at, stage: 'test' })[1]).toEqual([]);
  });

  test('a signal stops a run that goes on, and closes one that is over', () => {
    expect(reduceRun(startModel, { kind: 'stopping' }, at)).toEqual([{ ...startModel, ending: 'now' }, []]);
    expect(reduceRun({ ...startModel, ending: 'over' }, { kind: 'stopping' }, at)[1]).toEqual([{ kind: 'close' }]);
  });

  test('the evidence that is read stays that of its step; back in the overview the newest is followed again', () => {
    const [reading] = press(['e']);
    expect(reading).toMatchObject({ step: 5, pinned: true });
    expect(press(['esc'], reading, { ...at, steps: 7 })[0]).toMatchObject({ step: null, pane: 'overview' });
    expect(press(['k', 'e', 'esc'])[0].step).toBe(4);
  });

  test('panes open at their top, the feed at its end, and esc leads back', () => {
    for (const [key, pane] of [
      ['d', 'diff'],
      ['e', 'evidence'],
      ['m', 'matrix'],
      ['w', 'draft'],
      ['?', 'help'],
    ] as const) {
      expect(press([key])[0]).toMatchObject({ pane, scroll: 0 });
      expect(press([key, 'esc'])[0].pane).toBe('overview');
    }
    expect(press(['f'])[0]).toMatchObject({ pane: 'feed', scroll: 'end' });
  });

  test('tab goes around the panes, shift+tab the other way', () => {
    const around = ['feed', 'matrix', 'draft', 'evidence', 'diff', 'overview'] as const;
    for (const [at, pane] of around.entries()) expect(press(Array(at + 1).fill('tab'))[0].pane).toBe(pane);
    expect(press(['shift+tab'])[0].pane).toBe('diff');
    expect(press(['tab', 'tab', 'shift+tab'])[0].pane).toBe('feed');
  });

  test('scrolling stays inside; at its end the feed follows again', () => {
    expect(press(['d', 'k'])[0].scroll).toBe(0);
    expect(press(['d', 'G'])[0].scroll).toBe(30);
    expect(press(['d', 'G', 'j'])[0].scroll).toBe(30);
    expect(press(['d', 'pagedown', 'pageup'])[0].scroll).toBe(0);
    expect(press(['f', 'k'])[0].scroll).toBe(29);
    expect(press(['f', 'k', 'j'])[0].scroll).toBe('end');
    expect(press(['f', 'g'])[0].scroll).toBe(0);
  });

  test('steps are selected one by one; beyond the last one the newest is followed', () => {
    expect(press(['k'])[0].step).toBe(4);
    expect(press(['k', 'k', 'j', 'j'])[0].step).toBeNull();
    expect(press(['g', 'k'])[0].step).toBe(0);
    expect(press(['k', 'e', '['])[0]).toMatchObject({ pane: 'evidence', step: 3 });
  });

  test('the diff is turned hunk by hunk, then to its other tab', () => {
    expect(press(['d', ']'])[0].scroll).toBe(12);
    expect(press(['d', ']', ']', '['])[0].scroll).toBe(12);
    expect(press(['d', ']', ']', ']'])[0]).toMatchObject({ diffTab: 1, scroll: 0 });
    expect(press(['m', ']', ']', ']'])[0].matrixTab).toBe(0);
  });

  test('a run that is over leaves the overview at once, and waits while a pane is read', () => {
    expect(reduceRun(startModel, { kind: 'over' }, at)[1]).toEqual([{ kind: 'close' }]);
    const [reading] = press(['d']);
    const [over, intents] = reduceRun(reading, { kind: 'over' }, at);
    expect(intents).toEqual([]);
    for (const key of ['q', 'esc', 'enter', 'ctrl+c']) expect(press([key], over)[1]).toEqual([{ kind: 'close' }]);
    expect(press(['j', 'm', 'p', 's', 'x', 'F'], over)[1]).toEqual([]);
  });

  test('no run of keys leads out of what the types say, and only some keys have an effect outside', () => {
    const keys = fc.constantFrom(...runKeys.flatMap((b) => b.keys), 'y', 'n', 'z');
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 60 }), fc.nat(8), fc.nat(50), (pressed, steps, lines) => {
        const [model, intents] = press(pressed, startModel, { ...at, steps, lines });
        expect(model.step === null || (model.step >= 0 && model.step <= steps)).toBe(true);
        if (model.scroll !== 'end') expect(model.scroll).toBeGreaterThanOrEqual(0);
        if (!pressed.some((k) => 'psxFq'.includes(k) || k === 'ctrl+c' || k === 'ctrl+z')) expect(intents).toEqual([]);
        expect(intents.filter((i) => i.kind === 'stop').length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('the table of keys', () => {
  test('no key has two meanings', () => {
    const all = runKeys.flatMap((b) => b.keys);
    expect(new Set(all).size).toBe(all.length);
  });
});
