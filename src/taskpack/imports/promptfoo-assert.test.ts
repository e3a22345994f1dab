import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runCheck, type TextCheck } from '../../rollout/checks/run-check.ts';
import { temporaryFolder } from '../pack-fixture.ts';
import { readPromptPack } from '../prompt-pack.ts';
import { checkOfAssert, knownAsserts } from './promptfoo-assert.ts';

/** The check as our own reader takes it from a tasks.json. */
async function read(checks: readonly unknown[]): Promise<readonly TextCheck[]> {
  const { dir, remove } = await temporaryFolder({
    'tasks.json': JSON.stringify([{ id: 'a', prompt: 'Say it.', checks }]),
  });
  const { pack } = await readPromptPack(dir);
  await remove();
  return (pack.tasks[0]?.checks ?? []) as readonly TextCheck[];
}

async function carried(type: string, value: unknown): Promise<(answer: string) => boolean> {
  const made = checkOfAssert(type, value);
  if (!made.ok) throw new Error(made.why);
  const [check] = await read([made.check]);
  if (check === undefined) throw new Error('no check');
  return (answer) => runCheck(check, answer);
}

/** What each assert passes for, after the public description of it. */
const original: Readonly<Record<string, (answer: string, value: string | readonly string[]) => boolean>> = {
  equals: (answer, value) => answer === value,
  contains: (answer, value) => answer.includes(String(value)),
  icontains: (answer, value) => answer.toLowerCase().includes(String(value).toLowerCase()),
  'starts-with': (answer, value) => answer.startsWith(String(value)),
  regex: (answer, value) => new RegExp(String(value)).test(answer),
  'contains-any': (answer, value) => [...value].some((one) => answer.includes(one)),
  'contains-all': (answer, value) => [...value].every((one) => answer.includes(one)),
  'icontains-any': (answer, value) => [...value].some((one) => answer.toLowerCase().includes(one.toLowerCase())),
  'icontains-all': (answer, value) => [...value].every((one) => answer.toLowerCase().includes(one.toLowerCase())),
};

const singles = ['equals', 'contains', 'icontains', 'starts-with'];
const lists = ['contains-any', 'contains-all', 'icontains-any', 'icontains-all'];
const both = (types: readonly string[]) => types.flatMap((type) => [type, `not-${type}`]);

/** Few letters and every sign that means something in an expression, so that texts meet each other. */
const text = fc.string({ unit: fc.constantFrom(...'abAB .*+?()[]{}|^$\\/-\n",é'), minLength: 1, maxLength: 6 });
const answerAround = (value: string) =>
  fc.oneof(
    text,
    fc.constant(value),
    fc.constant(value.toUpperCase()),
    fc.tuple(text, text).map(([before, after]) => before + value + after),
    text.map((after) => value + after),
    text.map((before) => before + value),
  );

describe('an assert passes for the same answers before and after', () => {
  test.each(both(singles))('%s', async (type) => {
    const base = type.replace(/^not-/, '');
    await fc.assert(
      fc.asyncProperty(
        text.chain((value) => fc.tuple(fc.constant(value), fc.array(answerAround(value), { maxLength: 8 }))),
        async ([value, answers]) => {
          const passes = await carried(type, value);
          for (const answer of ['', ...answers])
            expect([value, answer, passes(answer)]).toEqual([
              value,
              answer,
              original[base]?.(answer, value) !== type.startsWith('not-'),
            ]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each(both(lists))('%s', async (type) => {
    const base = type.replace(/^not-/, '');
    const drawn = fc.array(text, { minLength: 1, maxLength: 3 }).chain((values) =>
      fc.tuple(
        fc.constant(values),
        fc.array(
          fc.oneof(
            ...values.map(answerAround),
            fc.constant(values.join(' ')),
            fc.constant(values.toReversed().join('b')),
          ),
          {
            maxLength: 8,
          },
        ),
      ),
    );
    await fc.assert(
      fc.asyncProperty(drawn, async ([values, answers]) => {
        const passes = await carried(type, values);
        for (const answer of ['', ...answers])
          expect([values, answer, passes(answer)]).toEqual([
            values,
            answer,
            original[base]?.(answer, values) !== type.startsWith('not-'),
          ]);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['\\d{4}', ['in 1984', '198', 'no']],
    ['^A', ['A', 'xA', 'x\nA', '']],
    ['(\\w)\\1$', ['book', 'boo', 'aab']],
    ['(?<!not )yes', ['yes', 'not yes', 'yes, not yes']],
    ['a|b$', ['cab', 'xb', 'bx']],
  ])('regex %s, and its opposite', async (pattern, answers) => {
    const [passes, fails] = [await carried('regex', pattern), await carried('not-regex', pattern)];
    for (const answer of answers) {
      const matches = new RegExp(pattern).test(answer);
      expect([answer, passes(answer), fails(answer)]).toEqual([answer, matches, !matches]);
    }
  });
});

describe('equality', () => {
  test('is that of the whole text, with its case, its blanks and its full stop', async () => {
    const passes = await carried('equals', 'Paris');
    expect(['Paris', 'paris', 'Paris.', ' Paris', 'Paris\n', '"Paris"', 'Paris\nParis'].filter(passes)).toEqual([
      'Paris',
    ]);
    expect([42, true].map((value) => checkOfAssert('equals', value))).toEqual([
      { ok: true, check: { regex: '^42$' } },
      { ok: true, check: { regex: '^true$' } },
    ]);
  });

  test('with JSON is that of the value, and says what differs', async () => {
    const made = checkOfAssert('equals', { a: [1, 'x'] });
    expect(made).toMatchObject({ ok: true, changed: expect.stringContaining('fence') });
    const passes = await carried('equals', { a: [1, 'x'] });
    expect(['{"a":[1,"x"]}', '{ "a" : [1, "x"] }', '{"a":[1]}', 'a'].map(passes)).toEqual([true, true, false, false]);
  });
});

describe('a javascript expression about the answer', () => {
  const answers = ['', 'Paris', 'paris', ' Paris\n', 'In Paris.', 'PARIS', 'x\nParis', 'a/b', 'No 42', "it's"];

  test.each([
    "output.includes('Paris')",
    '!output.includes("Paris")',
    'return output.includes(`Paris`);',
    "output.toLowerCase().includes('paris')",
    "! output.toLowerCase().includes('paris')",
    "output.startsWith('Par')",
    "!output.endsWith('is.')",
    "output.toLowerCase().endsWith('paris')",
    "output === 'Paris'",
    "output.trim() == 'Paris'",
    '/^par/i.test(output)',
    '!/\\d+$/.test(output)',
    '/[/a]\\/b/.test(output)',
    '/^Paris/m.test(output)',
    '/a.*s/gs.test(output)',
  ])('%s is a check that passes for the same answers', async (expression) => {
    const original = new Function('output', expression.startsWith('return') ? expression : `return ${expression}`) as (
      output: string,
    ) => boolean;
    const passes = await carried('javascript', expression);
    expect(answers.map((answer) => [answer, passes(answer)])).toEqual(
      answers.map((answer) => [answer, original(answer)]),
    );
    if (expression.includes('/m.')) return;
    const fails = await carried('not-javascript', expression);
    expect(answers.map((answer) => [answer, fails(answer)])).toEqual(
      answers.map((answer) => [answer, !original(answer)]),
    );
  });

  test.each([
    'output.length < 10',
    "output.includes('a') && output.includes('b')",
    "output.includes('a') || true",
    "output.toLowerCase().includes('Paris')",
    "output.includes('it\\'s')",
    'output.includes(`$' + '{context.vars.a}`)',
    "!output === 'a'",
    "output.trim() === ' a'",
    '/(a+)+$/.test(output)',
    '/a/y.test(output)',
    '/a/.test(context.vars.a)',
    "JSON.parse(output).a === 'x'",
    'file://check.js',
    '',
    7,
  ])('%s is a program, which is left', (expression) => {
    expect(checkOfAssert('javascript', expression)).toEqual({ ok: false, why: expect.stringMatching(/./) });
  });

  test('the opposite of an expression over lines is left', () => {
    expect(checkOfAssert('not-javascript', '/^a/m.test(output)')).toMatchObject({ ok: false });
  });
});

describe('JSON', () => {
  test('of the whole answer is asked for as before; a schema is not', async () => {
    const passes = await carried('is-json', undefined);
    expect(['{"a":1}', ' [] ', '3', 'a', '', '```json\n{}\n```', 'So: {}'].filter(passes)).toEqual([
      '{"a":1}',
      ' [] ',
      '3',
    ]);
    for (const [type, value] of [
      ['is-json', { type: 'object' }],
      ['not-is-json', undefined],
      ['contains-json', 'file://s.json'],
    ] as const)
      expect(checkOfAssert(type, value)).toEqual({ ok: false, why: expect.stringMatching(/no check of ours/) });
  });

  test('within the answer is found, with a difference that is told', async () => {
    expect(checkOfAssert('contains-json', undefined)).toMatchObject({
      ok: true,
      changed: expect.stringMatching(/first bracket/),
    });
    const passes = await carried('contains-json', undefined);
    expect(['So: {"a": 1}!', '```\n{}\n```', 'none'].map(passes)).toEqual([true, true, false]);
  });
});

describe('values', () => {
  test('of a list may be numbers, or one text with commas', () => {
    expect(checkOfAssert('contains-all', [1, 'b'])).toEqual({
      ok: true,
      check: { regex: '^(?=[\\s\\S]*1)(?=[\\s\\S]*b)' },
    });
    expect(checkOfAssert('contains-any', 'Madrid, "1,000", ,b"c')).toEqual({
      ok: true,
      check: { regex: '(?:Madrid|1,000|b"c)' },
    });
    expect(checkOfAssert('contains-any', '"a ""b"" \\"c\\""')).toEqual({ ok: true, check: { contains: 'a "b" "c"' } });
  });

  test.each([
    ['contains', ''],
    ['contains', undefined],
    ['contains', ['a']],
    ['contains-any', []],
    ['contains-any', [{}]],
    ['contains-any', '"open'],
    ['regex', 7],
    ['regex', '('],
    ['regex', '(?i)x'],
    ['regex', '(a+)+$'],
    ['not-regex', '(a+)+$'],
    ['starts-with', 3],
    ['equals', null],
    ['not-equals', {}],
    ['contains', '\ud800'],
    ['no-such-type', 'x'],
    ['constructor', 'x'],
  ])('that no check can be made of: %s %j', (type, value) => {
    expect(checkOfAssert(type, value)).toEqual({ ok: false, why: expect.stringMatching(/./) });
  });

  test('every known type is either carried or has its reason', () => {
    for (const type of knownAsserts)
      for (const one of [type, `not-${type}`]) {
        const made = checkOfAssert(one, 'x');
        expect(made.ok || made.why.length > 10).toBe(true);
      }
  });
});
