import { afterAll, describe, expect, test } from 'bun:test';
import { checkOfExpectation } from './expectation-text.ts';
import { imported, refused, removeImported } from './imports-fixture.ts';

afterAll(removeImported);

const evals = (list: readonly unknown[]) => JSON.stringify({ skill_name: 'reports', evals: list }, null, 1);

describe('the evals of a skill', () => {
  test('become tasks with what can be checked; each thing that needs a judge is told', async () => {
    const { report, task, score, told } = await imported({
      'evals/evals.json': evals([
        {
          id: 1,
          prompt: 'Write the report.',
          expected_output: 'A report with a total',
          files: ['evals/files/march.csv', 'files/april.csv'],
          expectations: [
            'The output contains "TOTAL: 42"',
            'The tone is friendly',
            'The answer does not include `draft`.',
          ],
        },
        { id: 2, prompt: 'Draw it.', expected_output: 'A drawing', expectations: ['The drawing is pretty'] },
        {
          id: 'named',
          name: 'Year end',
          prompt: 'When?',
          assertions: [{ name: 'year', type: 'regex', pattern: '\\b\\d{4}\\b' }],
        },
        { id: 4, prompt: 'Is this yours?', should_trigger: false },
        { id: 5, prompt: ' ', expectations: ['The output contains "x"'] },
        { id: 6, prompt: 'No statements at all.' },
        'not an object',
      ]),
      'evals/files/march.csv': 'a,b\n',
      'evals/files/april.csv': 'c,d\n',
    });
    expect(report.format).toBe('skill-creator');
    expect({ tasks: report.tasks.map(({ id }) => id), entries: report.entries }).toEqual({
      tasks: ['eval-1', 'Year-end', 'eval-4'],
      entries: 7,
    });
    expect(task('eval-1').files.map(({ name, text }) => [name, text])).toEqual([
      ['evals/files/march.csv', 'a,b\n'],
      ['evals/files/april.csv', 'c,d\n'],
    ]);
    expect(['TOTAL: 42', 'total: 42', 'TOTAL: 42, a draft'].map((answer) => score('eval-1', answer))).toEqual([
      1, 0.5, 0.5,
    ]);
    expect(['in 1999', 'in 99'].map((answer) => score('Year-end', answer))).toEqual([1, 0]);
    expect(task('eval-4')).toMatchObject({ shouldTrigger: false, checks: [] });
    expect(told('left').map((line) => line.replace(/: a judge would.*$/, ''))).toEqual([
      'evals/evals.json:14 eval 1: “The tone is friendly”',
      'evals/evals.json:23 eval 2: “The drawing is pretty”',
      expect.stringMatching(/^evals\/evals.json:18 eval 2: nothing in it can be checked/),
      expect.stringMatching(/eval 5: “The output contains "x"”: its eval is left/),
      expect.stringMatching(/eval 5: it has no prompt$/),
      expect.stringMatching(/eval 6: nothing in it can be checked/),
      expect.stringMatching(/eval 7: it is no object$/),
    ]);
    expect(told('unused')).toEqual([expect.stringMatching(/expected_output \(2 times\)/)]);
  });

  test('lists of prompts that should and should not trigger become tasks, beside the evals too', async () => {
    const queries = [
      { query: 'Make the monthly report, please', should_trigger: true },
      { query: 'What is 2+2?', should_trigger: false },
      { query: 'Yes or no?', should_trigger: 'yes' },
      { query: 'What is 2+2?', should_trigger: false },
    ];
    const { report, task, told } = await imported({
      'evals/evals.json': evals([{ id: 1, prompt: 'Go', expectations: ["The response equals exactly 'gone'"] }]),
      'evals/triggers.json': JSON.stringify(queries),
      'evals/notes.json': '{"other": 1}',
    });
    expect(report.tasks.map(({ id }) => id)).toEqual(['eval-1', 'make-the-monthly-report-please', 'what-is-2-2']);
    expect(task('make-the-monthly-report-please').shouldTrigger).toBe(true);
    expect(task('what-is-2-2').shouldTrigger).toBe(false);
    expect(told('left')).toEqual([
      expect.stringMatching(/query 3: should_trigger is neither/),
      expect.stringMatching(/the same as what-is-2-2: it would count twice$/),
    ]);
    const alone = await imported({ 'q.json': JSON.stringify(queries.slice(0, 2)) }, { path: 'q.json' });
    expect(alone.pack.tasks).toHaveLength(2);
  });

  test('with statements under other names, or keys that are not known, lose nothing silently', async () => {
    const { score, told } = await imported(
      {
        'evals.json': evals([
          {
            id: 1,
            prompt: 'Rename it.',
            scorers: [
              { type: 'regex', name: 'renames', pattern: 'rename\\s+--symbol' },
              { type: 'llm_judge', criterion: 'nice' },
            ],
          },
          { id: 2, prompt: 'Go.', expect: 'The output contains "gone"', fail: ['It says stop'] },
        ]),
      },
      { path: 'evals.json' },
    );
    expect([score('eval-1', 'rename --symbol add'), score('eval-2', 'gone')]).toEqual([1, 1]);
    expect(told('left')).toEqual([
      expect.stringMatching(/eval 1: .*llm_judge.*: a judging model|eval 1: .*llm_judge.*not known/),
    ]);
    expect(told('unused')).toEqual([expect.stringMatching(/fail of an eval: a key that is not known here/)]);
  });

  test('inputs that are no text, missing or elsewhere leave their eval', async () => {
    const one = (id: number, file: unknown) => ({
      id,
      prompt: 'Read',
      files: [file],
      expectations: ['The output contains "x"'],
    });
    const { report, told } = await imported({
      'evals/evals.json': evals([
        one(1, 'a.pdf'),
        one(2, 'gone.txt'),
        one(3, '../../up.txt'),
        one(4, '/etc/hostname'),
        one(5, 7),
        one(6, 'ok.txt'),
      ]),
      'a.pdf': new Uint8Array([0x25, 0x50, 0, 0xff]),
      'ok.txt': 'ok',
    });
    expect(report.tasks.map(({ id }) => id)).toEqual(['eval-6']);
    const left = told('left').join('\n');
    for (const why of [
      /eval 1.*a\.pdf is no text/,
      /eval 2.*gone\.txt is not there/,
      /eval 3.*up\.txt lies outside/,
      /eval 4.*hostname lies outside/,
      /eval 5.*no list of names/,
    ])
      expect(left).toMatch(why);
  });

  test('without anything that can be checked make no pack', async () => {
    const files = { 'evals.json': evals([{ id: 1, prompt: 'Draw', expectations: ['It is pretty'] }]) };
    expect(await refused(files, { path: 'evals.json' })).toMatchObject({
      code: 'pack',
      what: 'no task could be carried over',
      where: expect.stringMatching(/^evals\.json:\d+ eval 1: “It is pretty”/),
    });
  });
});

describe('a statement about the answer', () => {
  test.each([
    ['The output contains "a.b"', { contains: 'a.b' }],
    ['Output includes the word ‘Paris’.', { contains: 'Paris' }],
    ['The final answer contains the exact text `x | y`', { contains: 'x | y' }],
    ['The response must not contain "draft"', { regex: '^(?![\\s\\S]*(?:draft))' }],
    ['The output doesn’t include "a+b"', { regex: '^(?![\\s\\S]*(?:a\\+b))' }],
    ['The answer starts with "Dear"', { regex: '^\\s*Dear' }],
    ['The answer ends with "Yours."', { regex: 'Yours\\.\\s*$' }],
    ['The output is exactly "42"', { equals: '42' }],
    ['The output matches the regex `^\\d+$`', { regex: '^\\d+$' }],
    ['The output matches /a+/', { regex: 'a+' }],
    [{ type: 'not_contains', value: 'x' }, { regex: '^(?![\\s\\S]*(?:x))' }],
    [{ type: 'exact', expected: 'x' }, { regex: '^x$' }],
    [
      { type: 'json_path', path: 'a[0]', value: 3 },
      { 'json-path': 'a[0]', value: 3 },
    ],
    [{ text: 'The output contains "x"' }, { contains: 'x' }],
  ])('%j is a check', (given, check) => {
    expect(checkOfExpectation(given)).toEqual({ ok: true, check });
  });

  test.each([
    'The output includes X',
    'The skill used script Y',
    'The output contains a table with "Total" in bold',
    'The output contains "a" and "b"',
    'The report contains "x"',
    'The output does not only contain "x"',
    'The output contains no "x"',
    '"x" is in the output',
    'The output matches the expected layout',
    '',
    7,
    null,
    {},
    { type: 'json_path', path: 'a' },
    { type: 'json_path', path: '$..a', value: 1 },
    { type: 'llm-judge', value: 'x' },
    { type: 'file_exists', path: 'a' },
  ])('%j needs a judge, or is none', (given) => {
    expect(checkOfExpectation(given)).toEqual({ ok: false, why: expect.stringMatching(/./) });
  });
});
