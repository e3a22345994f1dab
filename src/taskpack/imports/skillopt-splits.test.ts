import { afterAll, describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { checkConfig } from '../../config/load.ts';
import { makeSplits } from '../../engine/splits.ts';
import { imported, refused, removeImported } from './imports-fixture.ts';
import { readItem } from './skillopt-item.ts';

afterAll(removeImported);

const list = (...items: readonly unknown[]) => JSON.stringify(items, null, 1);
const qa = (id: string, question: string, answer: unknown = 'x') => ({ id, question, answers: [answer] });

describe('a folder of train, val and test', () => {
  test('becomes a pack with its splits, val as selection', async () => {
    const { report, pack, score, dir } = await imported({
      'train/items.json': list(qa('a', 'A?', 'Paris'), qa('b', 'B?')),
      'val/items.jsonl': '{"id":"c","question":"C?","answer":"x"}\n\n{"id":"d","question":"D?","ground_truth":8}\n',
      'test/items.csv': 'id,question,answer\ne,"E, or F?",x\nf,F?,y\n',
      'split_manifest.json': '{}',
    });
    expect(report).toMatchObject({ format: 'skillopt', entries: 6, splits: 'splits.json' });
    const { splits } = JSON.parse(await readFile(join(dir, 'pack/splits.json'), 'utf8')) as {
      splits: Record<'train' | 'selection' | 'test', string[]>;
    };
    expect(splits).toEqual({ train: ['a', 'b'], selection: ['c', 'd'], test: ['e', 'f'] });
    // as a session takes it
    const config = checkConfig({ skill: 's', pack: 'p', backend: 'chat', optimizer: 'rehearsal', splits }, 'test');
    expect(
      makeSplits(pack.tasks, config.splits, '1')
        .test.map(({ id }) => id)
        .toSorted(),
    ).toEqual(['e', 'f']);
    expect(
      [
        '<answer>Paris</answer>',
        'It is big.\n\nparis.',
        'First <answer>Rome</answer>, no: <answer> the "Paris" </answer>',
      ].map((answer) => score('a', answer)),
    ).toEqual([1, 1, 1]);
    expect(
      [
        'Paris it is',
        '<answer>Paris</answer> or <answer>Rome</answer>',
        '<answer>Parish</answer>',
        '',
        'Paris\nRome',
      ].map((answer) => score('a', answer)),
    ).toEqual([0, 0, 0, 0, 0]);
    expect(['8', '<answer>8</answer>', '-8', '88'].map((answer) => score('d', answer))).toEqual([1, 1, 0, 0]);
  });

  test('keeps what stands in two splits in the first of them, and says so', async () => {
    const { report, told } = await imported({
      'train/a.json': list(qa('1', 'Same?'), qa('2', 'B?'), qa('2b', 'b?  ')),
      'val/a.json': list(qa('3', 'same?'), qa('4', 'C?'), qa('5', 'D?'), qa('5', 'D?', 'other')),
      'test/a.json': list(qa('6', 'D?', 'y'), qa('7', 'Same?'), qa('8', 'E?'), qa('9', 'F?')),
    });
    expect(report.tasks.map(({ id }) => id)).toEqual(['1', '2', '2b', '4', '5', '5-2', '8', '9']);
    expect(told('left')).toEqual([
      expect.stringMatching(/^val\/a.json:2 item 3 of val: a leak: train asks the same \(train\/a.json:2\)/),
      expect.stringMatching(/item 6 of test: a leak: val asks the same/),
      expect.stringMatching(/item 7 of test: a leak: train asks the same/),
    ]);
  });

  test('lists items without question or answer, and what is no text', async () => {
    const { told, report } = await imported({
      'train/a.json': list(
        { id: 'only' },
        { id: 'img', question: 'What?', image_path: 'a.png', answer: 'x' },
        { id: 'doc', question: 'How much?', source_files: ['a.txt'], answer: '3' },
        { id: 'open', question: 'Why?' },
        3,
        qa('ok', 'Ok?'),
      ),
      'train/b.json': '[]',
      'val/a.json': '{"data": [{"id": "v", "question": "V?", "answer": "x"}]}',
      'test/a.json': '{"t": {"question": "T?", "answer": "x"}}',
    });
    expect(report.tasks.map(({ id }) => id)).toEqual(['ok', 'v', 'test-8']);
    const left = told('left').join('\n');
    for (const why of [
      /b\.json a file of items: only a\.json/,
      /only of train: it has no question/,
      /img of train: it shows an image/,
      /doc of train: it asks about documents/,
      /open of train: it has no answer/,
      /it is no object/,
    ])
      expect(left).toMatch(why);
    expect(report.splits).toBeNull();
    expect(told('changed').join('\n')).toMatch(/fewer than 2 tasks are left for train and selection and test/);
  });

  test('without one of the folders is drawn by ratio; a manifest of ids makes nothing', async () => {
    const { report, told } = await imported({
      'train/a.json': list(qa('a', 'A?'), qa('b', 'B?')),
      'test/a.json': list(qa('c', 'C?')),
      'test/note.txt': '',
    });
    expect(report.splits).toBeNull();
    expect(told('changed').join('\n')).toMatch(/val the split val: there is no such folder/);
    const manifest = { 'train/items.json': '[{"id":"1"}]', 'val/items.json': '[{"id":"2"}]', 'test/items.json': '[]' };
    expect(await refused(manifest)).toMatchObject({
      code: 'pack',
      where: expect.stringMatching(/list of ids, not of tasks/),
    });
  });

  test.each([
    ['broken JSON', { 'train/a.json': '[{"id": 1},\n {]' }, /train\/a\.json:2:3$/],
    ['a broken line', { 'train/a.jsonl': '{"id":1}\n{"id"\n' }, /train\/a\.jsonl:2$/],
    ['a broken table', { 'train/a.csv': 'id,question\n"1,2\n' }, /train\/a\.csv/],
  ])('%s is told with its place', async (_name, files, where) => {
    expect(await refused({ ...files, 'val/a.json': '[]' })).toMatchObject({
      code: 'pack',
      where: expect.stringMatching(where),
    });
  });
});

describe('choices', () => {
  const choices = [
    ['a list of texts', { choices: ['red', 'blue'], correct_choice: { label: 'B' } }],
    [
      'labelled ones',
      {
        choices: [
          { label: 'A', text: 'red' },
          { label: 'B', text: 'blue' },
        ],
        answer: 'b.',
      },
    ],
    ['an object', { choices: { A: 'red', B: 'blue' }, correct_choice: 'Blue' }],
    ['inside of mcq', { mcq: { question: 'Which?', choices: ['red', 'blue'], correct_choice: { text: 'blue' } } }],
  ] as const;
  test.each(choices)('%s', (_name, item) => {
    const made = readItem({ id: 'q', question: 'Which?', ...item });
    if (!made.ok) throw new Error(made.why);
    expect(made.prompt).toBe('## Question\nWhich?\n\n## Choices\nA. red\nB. blue');
    const passes = (answer: string) => new RegExp(String(made.check.regex), String(made.check.flags)).test(answer);
    expect(['<answer>B</answer>', 'b', 'Blue.', 'so\n(B)', '<answer>B. blue</answer>'].map(passes)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(['<answer>A</answer>', 'A or B', 'red', '<answer>B or A</answer>'].map(passes)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('without a right one are no task', () => {
    expect(readItem({ question: 'Which?', choices: ['red'], correct_choice: 'C' })).toMatchObject({ ok: false });
  });
});

test('an answer passes as it stands, without its case, with blanks around it, in a tag or on the last line; another does not', async () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcXYZ019é.-'+(*,$"), minLength: 1, maxLength: 8 });
  const answer = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 3 }), (answers) => {
      const made = readItem({ id: 'q', question: 'What?', answers });
      const speaking = answers.filter((one) => /[\p{L}\p{N}]/u.test(one));
      if (speaking.length === 0) return;
      if (!made.ok) throw new Error(made.why);
      const passes = (text: string) => new RegExp(String(made.check.regex), String(made.check.flags)).test(text);
      for (const one of speaking) {
        for (const text of [
          one,
          one.toUpperCase(),
          ` ${one} `,
          `Well:\n${one}\n`,
          `<answer>${one}</answer>`,
          `So <answer>\n${/^an? /.test(one) ? '' : 'the '}${one}.\n</answer>`,
        ])
          expect([one, text, passes(text)]).toEqual([one, text, true]);
        expect([
          one,
          passes(`${one} qq`),
          passes(`<answer>${one}</answer> <answer>qq</answer>`),
          passes(`${one}\nqq`),
        ]).toEqual([one, false, false, false]);
      }
    }),
    { numRuns: 300 },
  );
});
