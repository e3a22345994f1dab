import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Edit, editIdentity } from '../ports/edit.ts';
import type { ModelRequest } from '../ports/model.ts';
import { merged, shared } from './readers.ts';
import { createReflectingOptimizer } from './reflecting.ts';
import {
  edit,
  failing,
  handInText,
  modelError,
  partText,
  perCall,
  proposed,
  reflect,
  request,
  ScriptedModel,
  says,
} from './reflecting-fixture.ts';

const tasks = (n: number) => Array.from({ length: n }, (_, i) => failing(`task-${i}`));
const sizes = (n: number, readers: number, minibatchSize: number | null) =>
  shared(request({ failing: tasks(n), atMost: 8 }), { readers, minibatchSize }).map((r) => [
    r.failing.length,
    r.atMost,
  ]);

describe('the failing trajectories of a reflection', () => {
  test.each([
    [7, 1, null, [[7, 8]]],
    [7, 1, 3, [[3, 8]]],
    [
      7,
      3,
      null,
      [
        [2, 2],
        [3, 3],
        [2, 2],
      ],
    ],
    [
      7,
      2,
      2,
      [
        [2, 2],
        [2, 2],
      ],
    ],
    [
      2,
      4,
      null,
      [
        [1, 1],
        [1, 1],
      ],
    ],
    [
      20,
      2,
      null,
      [
        [10, 8],
        [10, 8],
      ],
    ],
    [3, 4, 8, [[3, 8]]],
  ] as const)('%i over %i readers, at most %p each', (n, readers, minibatchSize, wanted) => {
    expect(sizes(n, readers, minibatchSize)).toEqual(wanted.map((pair) => [...pair]));
  });

  test('each is shown to one reader at most, in order, and all of them where nothing bounds a reader', () => {
    const bound = fc.option(fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 16 }),
        bound,
        (n, readers, minibatchSize) => {
          const parts = shared(request({ failing: tasks(n) }), { readers, minibatchSize });
          expect(parts.length).toBeGreaterThan(0);
          expect(parts.length).toBeLessThanOrEqual(Math.min(n, readers));
          const shown = parts.flatMap((p) => p.failing.map((f) => f.task));
          const all = tasks(n).map((f) => f.task);
          expect(shown).toEqual(all.slice(0, minibatchSize === null ? n : readers * minibatchSize));
        },
      ),
    );
  });
});

test('it is told how many of them are read', () => {
  const of = (readers: number, minibatchSize: number | null) =>
    createReflectingOptimizer({
      model: new ScriptedModel(false, []),
      form: 'auto',
      maxCalls: 8,
      readers,
      minibatchSize,
      now: () => 0,
    }).reads?.(request({ failing: tasks(7) }));
  expect([of(1, null), of(3, null), of(2, 2), of(1, 3)]).toEqual([7, 7, 4, 3]);
});

describe('hand-ins of several readers', () => {
  const named = (content: string, ...cites: string[]): Edit => edit({ content, cites });
  const hand = (good: readonly Edit[], refused: readonly Edit[] = []) => ({ good, refused, summary: '' });

  test('come in turn, refused ones last, and no more than were asked for', () => {
    const { edits, beyond } = merged(
      [hand([named('a1', 'a'), named('a2', 'a'), named('a3', 'a')], [named('bad', 'a')]), hand([named('b1', 'b')])],
      4,
    );
    expect(edits.map((e) => e.content)).toEqual(['a1', 'b1', 'a2', 'a3']);
    expect(beyond).toBe(1);
  });

  test('the same text counts once and cites the tasks of both', () => {
    const { edits, beyond } = merged(
      [hand([named('same', 'a'), named('a2', 'a')]), hand([named('same', 'b', 'a')])],
      8,
    );
    expect(edits).toEqual([named('same', 'a', 'b'), named('a2', 'a')]);
    expect(beyond).toBe(0);
  });

  test('no reader is starved', () => {
    const content = fc.nat(20).map((n) => named(`text ${n}`, 't'));
    fc.assert(
      fc.property(
        fc.array(fc.array(content, { maxLength: 8 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 8 }),
        (lists, atMost) => {
          const { edits, beyond } = merged(
            lists.map((list) => hand(list)),
            atMost,
          );
          const identities = edits.map(editIdentity);
          const all = new Set(lists.flat().map(editIdentity));
          expect(new Set(identities).size).toBe(identities.length);
          expect(identities.length).toBe(Math.min(atMost, all.size));
          expect(beyond).toBe(all.size - identities.length);
          const withFirst = lists.filter((list) => list.length > 0).slice(0, atMost);
          for (const list of withFirst) expect(identities).toContain(editIdentity(list[0]!));
        },
      ),
    );
  });
});

/** Answers by what a request shows, since readers ask side by side. */
function byTask(answers: Readonly<Record<string, () => ReturnType<typeof says>>>, calls: number) {
  const answer = (asked: ModelRequest) => {
    const text = asked.messages.flatMap((m) => m.parts.map(partText)).join('\n');
    const task = Object.keys(answers).find((id) => text.includes(`Failing task ${id}`));
    return answers[task ?? '']!();
  };
  return new ScriptedModel(
    false,
    Array.from({ length: calls }, () => answer),
  );
}

describe('a reflection with readers', () => {
  const two = { readers: 2, minibatchSize: null };
  const ofAlpha = edit({ content: 'Of alpha.', cites: ['alpha'] });
  const ofBeta = edit({ content: 'Of beta.', cites: ['beta'] });
  const refuse = () => {
    throw modelError('overloaded');
  };

  test('each sees its own failures, all calls are reported, and one proposal comes of it', async () => {
    const m = byTask({ alpha: () => says(handInText(ofAlpha)), beta: () => says(handInText(ofBeta)) }, 2);
    const { result, calls } = await reflect(m, {}, two);
    expect(
      m.requests.map((_, at) => ['alpha', 'beta'].filter((id) => m.sent(at).includes(`Failing task ${id}`))),
    ).toEqual([['alpha'], ['beta']]);
    expect(new Set(m.requests.map((r) => r.draw)).size).toBe(2);
    expect(calls.length).toBe(2);
    expect(result).toMatchObject({
      kind: 'proposal',
      proposal: { edits: [ofAlpha, ofBeta], summary: 'Reader 1: What I saw. Reader 2: What I saw.' },
      usage: { inputTokens: 2 * (perCall.inputTokens ?? 0), requests: 2 },
    });
  });

  test('a reader can cite only what it was shown', async () => {
    const m = byTask({ alpha: () => says(handInText(ofBeta)), beta: () => says(handInText()) }, 3);
    const { edits } = await proposed(m, {}, two);
    expect(edits).toEqual([{ ...ofBeta, cites: [] }]); // refused even so, for the engine to reject
  });

  test('one that fails is told in the summary; the others count', async () => {
    const m = byTask({ alpha: refuse, beta: () => says(handInText(ofBeta)) }, 2);
    const { edits, summary } = await proposed(m, {}, two);
    expect(edits).toEqual([ofBeta]);
    expect(summary).toBe('Reader 1: nothing, the call ended in overloaded. Reader 2: What I saw.');
  });

  test('comes to nothing only when all of them do', async () => {
    const both = await reflect(byTask({ alpha: () => says('Hm.'), beta: () => says('Hm.') }, 4), {}, two);
    expect(both.result).toMatchObject({ kind: 'unusable', detail: expect.stringMatching(/^Reader 1: .* Reader 2: /) });
    expect(both.calls.length).toBe(4);
    const down = await reflect(byTask({ alpha: refuse, beta: () => says('Hm.') }, 3), {}, two);
    expect(down.result).toMatchObject({ kind: 'failed', failure: { what: 'the call ended in overloaded' } });
  });

  test('where there is room for one call at a time they come one after another, and end when there is none', async () => {
    let running = 0;
    let most = 0;
    let left = 3;
    class Counting extends ScriptedModel {
      override async performCompletion(asked: ModelRequest) {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        left--;
        return super.performCompletion(asked);
      }
    }
    const answers = Array.from({ length: 3 }, () => says(handInText()));
    const m = new Counting(false, answers);
    const mayCall = (beside = 0) => beside === 0 && left > 0;
    const { summary } = await proposed(m, { failing: tasks(4) }, { readers: 4, minibatchSize: null, mayCall });
    expect([most, m.requests.length]).toEqual([1, 3]);
    expect(summary).toContain('Reader 4: nothing, a limit is spent');
  });

  test('a stop ends all of them, and each call under way is reported', async () => {
    const stop = new AbortController();
    const m = byTask(
      {
        alpha: () => says(handInText(ofAlpha)),
        beta: () => {
          stop.abort(new Error('stopped by hand'));
          return says(handInText(ofBeta));
        },
      },
      2,
    );
    const heard: (string | null)[] = [];
    const end = await reflect(m, {}, { ...two, signal: stop.signal, onCall: (call) => heard.push(call.problem) }).then(
      () => null,
      (error) => error,
    );
    expect(end).toEqual(new Error('stopped by hand'));
    expect(heard).toContain('stopped before it answered');
    expect(heard.length).toBe(2);
  });
});
