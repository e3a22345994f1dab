import { afterAll, describe, expect, test } from 'bun:test';
import { aliases } from '../config/cfg-options.ts';
import { jsonOf, removePlaces } from './binary.ts';
import { insert, lines, QuizSession, target } from './quiz.ts';

afterAll(removePlaces);

/** Ids of the failing tasks that a request shows. */
const shownIn = (text: string) => [...text.matchAll(/^Failing task ([\w-]+)/gm)].map(([, id]) => id ?? '');

/** What came of a session under these options, whose optimizer reads a digest and always hands in both useful edits. */
async function seenWith(...options: readonly string[]) {
  const own = new QuizSession({
    optimizer: { tools: false },
    play: (question) => {
      if (question.model === 'target') return target(question);
      const failing = shownIn(question.turns[0]?.text ?? '');
      const edits = [insert(lines.form, failing), insert(lines.base, failing)];
      return { text: JSON.stringify({ summary: 'both', edits }) };
    },
  });
  const flags = options.length === 0 ? [] : ['--cfg-options', ...options];
  const end = await own.succeed(['run', 'session', '--json', ...flags]);
  const { events } = own;
  const first = events.findIndex((e) => e.type === 'reflection.finished');
  const calls = events.slice(0, first).filter((e) => e.type === 'model.called' && e.preflight !== true).length;
  const answer = events[first]?.answer as { readonly proposal?: { readonly edits: readonly unknown[] } };
  const splits = events.find((e) => e.type === 'splits.fixed');
  return {
    cause: jsonOf(end).cause,
    taken: [...(end.stderr.match(/^taken {7}.*$/gm) ?? [])],
    /** How many failing tasks each conversation of the first reflection was shown. */
    shown: own
      .asked('optimizer')
      .slice(0, calls)
      .map((q) => shownIn(q.turns[0]?.text ?? '').length),
    edits: answer.proposal?.edits.length,
    workers: events.find((e) => e.type === 'concurrency.changed')?.workers,
    splits: (['train', 'selection', 'test'] as const).map(
      (name) => (splits?.[name] as readonly unknown[] | undefined)?.length,
    ),
  };
}

const plain = { cause: 'ceiling', taken: [] as string[], shown: [4], edits: 2, workers: 4, splits: [4, 6, 4] };

const effects: Readonly<
  Record<string, readonly [value: string, effect: Partial<Record<keyof typeof plain, unknown>>]>
> = {
  'train.num_epochs': ['1', { cause: 'completed' }],
  'train.batch_size': ['1', { shown: [1] }],
  'gradient.analyst_workers': ['2', { shown: [2, 2] }],
  'gradient.minibatch_size': ['3', { shown: [3] }],
  'env.workers': ['1', { workers: 1 }],
  'env.limit': ['2', { splits: [2, 2, 2] }],
  'optimizer.learning_rate': ['1', { edits: 1 }],
};

describe('--cfg-options', () => {
  test('is nothing without options', async () => {
    expect(await seenWith()).toEqual(plain);
  });

  test('has an effect in this table for each of its names', () => {
    expect(Object.keys(effects).sort()).toEqual(Object.keys(aliases).sort());
  });

  test.each(Object.entries(effects))('%s does here what its name says', async (name, [value, effect]) => {
    const seen = await seenWith(`${name}=${value}`);
    expect(seen).toMatchObject(effect);
    expect(seen.taken).toEqual([`taken       ${name}=${value} is ${aliases[name]?.key}=${value}`]);
    const [key] = Object.keys(effect);
    expect(effect[key as keyof typeof plain]).not.toEqual(plain[key as keyof typeof plain]);
  });

  test('several at once have all their effects', async () => {
    const all = Object.entries(effects).filter(([name]) => name.startsWith('env.') || name === 'train.num_epochs');
    expect(await seenWith(...all.map(([name, [value]]) => `${name}=${value}`))).toMatchObject({
      cause: 'completed',
      workers: 1,
      splits: [2, 2, 2],
    });
  });
});
