import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { maxSearched } from './answer.ts';
import { runCheck, softScore, type TextCheck } from './run-check.ts';

type Part<T> = T extends TextCheck ? Partial<T> & Pick<T, 'kind'> : never;
const defaults = { weight: 1, after: null, ignoreCase: false, flags: '', tolerance: 0 };
const check = (more: Part<TextCheck>) => ({ ...defaults, ...more }) as TextCheck;

/** `+` passes, `-` fails. */
type Row = readonly ['+' | '-', string];

function table(name: string, asked: TextCheck, rows: readonly Row[]) {
  test.each(rows.map((row) => [...row]))(`${name}: %s %j`, (want, answer) => {
    expect(runCheck(asked, answer)).toBe(want === '+');
  });
}

describe('equals', () => {
  table('a word', check({ kind: 'equals', value: 'Paris' }), [
    ['+', 'Paris'],
    ['+', '  Paris \r\n'],
    ['+', 'Paris.'],
    ['+', '"Paris"'],
    ['+', '“Paris.”'],
    ['+', '**Paris**'],
    ['+', '`Paris`'],
    ['+', '```\nParis\n```'],
    ['+', '```text\n**Paris.**\n```\n'],
    ['-', ''],
    ['-', '.'],
    ['-', 'paris'],
    ['-', 'Paris, France'],
    ['-', 'The answer is Paris.'],
    ['-', 'Not Paris'],
    ['-', '"Paris" or "Rome"'],
    ['-', 'Paris..'],
    ['-', '"Paris'],
  ]);
  table('whatever its case', check({ kind: 'equals', value: 'PARIS', ignoreCase: true }), [
    ['+', 'paris'],
    ['-', 'pari'],
  ]);
  table('with what is left out elsewhere', check({ kind: 'equals', value: '"a"' }), [
    ['+', '"a"'],
    ['-', 'a'],
    ['-', '""a""'],
  ]);
  table('a full stop of its own', check({ kind: 'equals', value: 'a.' }), [
    ['+', 'a.'],
    ['-', 'a'],
  ]);
  table('lines and what is before them', check({ kind: 'equals', value: 'if x:\n  y' }), [
    ['+', '```python\r\nif x:\r\n  y\r\n```'],
    ['-', 'if x:\ny'],
    ['-', 'if x: y'],
  ]);
  table('one character, written in two ways', check({ kind: 'equals', value: 'caf\u00e9' }), [['+', 'cafe\u0301']]);
  table('after a marker', check({ kind: 'equals', value: 'Paris', after: 'ANSWER:' }), [
    ['+', 'ANSWER: Paris'],
    ['+', 'ANSWER:Paris'],
    ['+', 'I think of Rome.\n\nANSWER: Rome\nNo.\nANSWER: Paris\nDone.'],
    ['+', '**ANSWER:** Paris'],
    ['+', '**ANSWER: Paris**'],
    ['+', '> ANSWER: *Paris*.'],
    ['+', '- ANSWER: Paris'],
    ['-', 'Paris'],
    ['-', 'ANSWER: Paris\nANSWER: Rome'],
    ['-', 'ANSWER:\nParis'],
    ['-', 'My ANSWER: Paris'],
    ['-', 'answer: Paris'],
    ['-', 'ANSWER: Paris or Rome'],
    ['-', 'ANSWER: '],
  ]);
});

describe('contains and regex', () => {
  table('contains', check({ kind: 'contains', value: 'a\r\nb' }), [
    ['+', 'x a\nb y'],
    ['-', 'a b'],
    ['-', ''],
    ['-', 'A\nB'],
  ]);
  table('contains, whatever its case', check({ kind: 'contains', value: 'Paris', ignoreCase: true }), [
    ['+', 'in PARIS!'],
  ]);
  table('regex', check({ kind: 'regex', pattern: '^[A-Z]{3}$', flags: 'm' }), [
    ['+', 'so:\r\nABC\r\n'],
    ['-', 'ABCD'],
    ['-', ''],
  ]);
  table('regex for all that follows a marker', check({ kind: 'regex', pattern: '^[A-D]$', after: 'ANSWER:' }), [
    ['+', 'ANSWER: B'],
    ['+', 'ANSWER:  B  '],
    ['+', '**ANSWER:** B'],
    ['-', 'ANSWER: B, I think'],
    ['-', 'ANSWER:'],
  ]);
  table('regex after a marker', check({ kind: 'regex', pattern: '^\\s*[A-D]\\b', after: 'CHOICE' }), [
    ['+', 'A is tempting.\nCHOICE B'],
    ['-', 'A is tempting.\nCHOICE none'],
    ['-', 'A'],
  ]);

  test('of a long answer only the end is searched, all of it compared', () => {
    const long = `first ${'x'.repeat(maxSearched)} last`;
    expect(runCheck(check({ kind: 'regex', pattern: 'last$' }), long)).toBe(true);
    expect(runCheck(check({ kind: 'contains', value: 'first' }), long)).toBe(true);
    expect(
      runCheck(check({ kind: 'equals', value: `x${'y'.repeat(maxSearched)}` }), `z${'y'.repeat(maxSearched)}`),
    ).toBe(false);
    expect(runCheck(check({ kind: 'regex', pattern: 'first' }), long)).toBe(false);
  });
});

describe('number', () => {
  table('42', check({ kind: 'number', value: 42 }), [
    ['+', '42'],
    ['+', 'The answer is **42**.'],
    ['+', '42.0'],
    ['+', '+42'],
    ['+', '$42'],
    ['+', '42 km/h'],
    ['+', '42%'],
    ['+', '42g'],
    ['+', '42 m'],
    ['+', '12 × 3.5 = 42'],
    ['+', 'First 3 and 4.\nSo 42!'],
    ['+', '- 42'],
    ['+', '> 42'],
    ['+', '=> 42'],
    ['+', '\\boxed{42}'],
    ['+', '$x = 42$'],
    ['+', 'GPT-4 and H2O say 42'],
    ['+', '4.2e1'],
    ['-', ''],
    ['-', 'forty-two'],
    ['-', '-42'],
    ['-', 'x = -42'],
    ['-', 'x = - 42'],
    ['-', 'x = -(42)'],
    ['-', 'x = –42'],
    ['-', '41'],
    ['-', '42 or 43'],
    ['-', '41 42'],
    ['-', '42 of 50'],
    ['-', '40-42'],
    ['-', '5 - 42'],
    ['-', '1/42'],
    ['-', '42/2'],
    ['-', '42k'],
    ['-', '42 M'],
    ['-', '42 million'],
    ['-', '42^2'],
    ['-', '42e3'],
    ['-', '4,2'],
    ['-', '42,5'],
    ['-', '42.5'],
    ['-', '0x42'],
    ['-', '42x2'],
    ['-', 'x != 42'],
    ['-', 'x < 42'],
    ['-', '> 41 and ≥ 42'],
    ['-', '42 = y'],
    ['-', 'v42'],
    ['-', '42:00'],
    ['-', '42\nThat was hard. Ask me 2 more.'],
  ]);
  table('1234.5', check({ kind: 'number', value: 1234.5 }), [
    ['+', '1234.5'],
    ['+', '1,234.5'],
    ['+', '1,234.50'],
    ['+', "1'234.5"],
    ['+', '1_234.5'],
    ['+', '1\u202f234.5'],
    ['+', '€1,234.5'],
    ['-', '1 234.5'],
    ['-', '1.234,5'],
    ['-', '12,34.5'],
    ['-', '1,2345'],
  ]);
  table('a million', check({ kind: 'number', value: 1_000_000 }), [
    ['+', '1,000,000'],
    ['+', '1e6'],
    ['-', '1,000.000'],
    ['-', "1,000'000"],
    ['-', '1 million'],
  ]);
  table('below zero', check({ kind: 'number', value: -0.5 }), [
    ['+', '-0.5'],
    ['+', '−.5'],
    ['+', 'x=-0.5'],
    ['-', '0.5'],
    ['-', '1-0.5'],
  ]);
  table('with a tolerance', check({ kind: 'number', value: 3.14, tolerance: 0.01 }), [
    ['+', '3.13'],
    ['+', '3.15'],
    ['+', 'pi ≈ 3.14159'],
    ['-', '3.1'],
    ['-', '3.1500001'],
  ]);
  table('after a marker', check({ kind: 'number', value: 42, after: 'TOTAL:' }), [
    ['+', '1, 2, 3\nTOTAL: 42 EUR\n7'],
    ['+', '**TOTAL:** 42'],
    ['-', '42'],
    ['-', 'TOTAL: 42 (of 50)'],
    ['-', 'TOTAL:\n42'],
  ]);

  test('any number is read as it was written, and no other for it', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (value, other) => {
        const asked = check({ kind: 'number', value });
        expect(runCheck(asked, `So it is ${value}.`)).toBe(true);
        expect(runCheck(asked, `${other}`)).toBe(other === value);
        expect(runCheck(asked, `${value} or ${other}`)).toBe(false);
      }),
    );
    fc.assert(
      fc.property(fc.integer(), (value) => {
        expect(runCheck(check({ kind: 'number', value }), value.toLocaleString('en'))).toBe(true);
        expect(runCheck(check({ kind: 'number', value: value + 1 }), value.toLocaleString('en'))).toBe(false);
      }),
    );
  });
});

describe('json', () => {
  table('the whole answer', check({ kind: 'json', place: 'whole' }), [
    ['+', '{"a": [1, null]}'],
    ['+', '\n [] \n'],
    ['+', '3'],
    ['+', '"text"'],
    ['-', ''],
    ['-', 'text'],
    ['-', '{"a": 1,}'],
    ['-', 'So: {"a": 1}'],
    ['-', '```json\n{"a": 1}\n```'],
  ]);
  table('anywhere', check({ kind: 'json', place: 'anywhere' }), [
    ['+', '[1]'],
    ['+', 'So: {"a": 1}.'],
    ['+', '```json\n{"a": 1}\n```'],
    ['-', 'none'],
    ['-', 'So: {"a": }'],
  ]);
  table('whole after a marker, over lines', check({ kind: 'json', place: 'whole', after: 'JSON:' }), [
    ['+', 'Well.\nJSON: {"a":\n 1}'],
    ['-', '{"a": 1}'],
    ['-', 'JSON: {"a": 1}\nDone.'],
  ]);
});

describe('json-path', () => {
  table('a value', check({ kind: 'json-path', path: 'items[1].name', value: 'b' }), [
    ['+', '{"items": [{}, {"name": "b"}]}'],
    ['+', 'Here:\n```json\n{"items": [{}, {"name": "b"}]}\n```\nDone.'],
    ['+', 'Sure: {"items": [{}, {"name": "b"}]} - done'],
    ['+', '```\n{"items": []}\n```\nBetter:\n```\n{"items": [{}, {"name": "b"}]}\n```'],
    ['-', '```\n{"items": [{}, {"name": "b"}]}\n```\nBetter:\n```\n{"items": []}\n```'],
    ['-', '{"items": [{"name": "b"}]}'],
    ['-', '{"items": {"1": {"name": "b"}}}'],
    ['-', '{"items": [{}, {"name": "B"}]}'],
    ['-', '{"items": [{}, {"name": "b"}'],
    ['-', 'b'],
    ['-', ''],
  ]);
  table('null is not nothing', check({ kind: 'json-path', path: 'a', value: null }), [
    ['+', '{"a": null}'],
    ['-', '{}'],
    ['-', 'null'],
    ['-', '{"a": 0}'],
  ]);
  table('the whole, keys in any order', check({ kind: 'json-path', path: '$', value: { a: 1, b: [1, 2] } }), [
    ['+', '{"b": [1, 2], "a": 1.0}'],
    ['-', '{"b": [2, 1], "a": 1}'],
    ['-', '{"a": 1, "b": [1, 2], "c": 0}'],
    ['-', '{"a": "1", "b": [1, 2]}'],
  ]);
  table('keys with signs', check({ kind: 'json-path', path: '["a.b"]["c]"]', value: 1 }), [
    ['+', '{"a.b": {"c]": 1}}'],
    ['-', '{"a": {"b": 1}}'],
  ]);
  table('one character, written in two ways', check({ kind: 'json-path', path: 'cafe\u0301', value: 'cafe\u0301' }), [
    ['+', '{"caf\u00e9": "caf\u00e9"}'],
    ['+', '{"cafe\u0301": "cafe\u0301"}'],
    ['-', '{"cafe": "cafe"}'],
  ]);
  table('fences', check({ kind: 'json-path', path: 'a', value: 1 }), [
    ['+', '````json\n{"a": 1, "b": "```"}\n````'],
    ['+', 'x\n  ~~~\n  {"a": 1}\n  ~~~\ny'],
    ['+', '```js\nlet x\n```\n```json\n{"a": 1}\n```\n'],
  ]);
  table('after a marker, over lines', check({ kind: 'json-path', path: 'a', value: 1, after: 'JSON:' }), [
    ['+', '{"a": 2}\nJSON:\n{\n  "a": 1\n}'],
    ['-', '{"a": 1}'],
  ]);

  test('what nobody wrote is not found', () => {
    for (const path of ['constructor', '__proto__', 'length', 'a.length'])
      expect(runCheck(check({ kind: 'json-path', path, value: 1 }), '{"a": "x"}')).toBe(false);
  });
});

describe('the share of what passed', () => {
  const results = fc.array(
    fc.record({ weight: fc.double({ min: 1e-3, max: 1e6, noNaN: true }), passed: fc.boolean() }),
    { minLength: 1 },
  );

  test('is 1 exactly when all passed, 0 exactly when none did, and never falls with one more', () => {
    fc.assert(
      fc.property(results, (list) => {
        const score = softScore(list);
        expect(score === 1).toBe(list.every((r) => r.passed));
        expect(score === 0).toBe(list.every((r) => !r.passed));
        expect(score >= 0 && score <= 1).toBe(true);
        expect(softScore(list.map((r, i) => (i === 0 ? { ...r, passed: true } : r)))).toBeGreaterThanOrEqual(
          score - 1e-12,
        );
      }),
    );
    expect(
      softScore([
        { weight: 3, passed: true },
        { weight: 1, passed: false },
      ]),
    ).toBe(0.75);
    expect(softScore([])).toBe(0);
    const tenths = (passed: number) => Array.from({ length: 10 }, (_, i) => ({ weight: 0.1, passed: i < passed }));
    for (let n = 1; n < 10; n++) expect(softScore(tenths(n))).toBe(n / 10);
  });
});

describe('any answer', () => {
  const answers = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.lorem().map((text) => `**${text}**\n\`\`\`\n${text}\n\`\`\``),
  );
  const checks: readonly TextCheck[] = [
    check({ kind: 'equals', value: 'zq9' }),
    check({ kind: 'contains', value: 'zq9' }),
    check({ kind: 'number', value: 987654321 }),
    check({ kind: 'json-path', path: 'zq9', value: 1 }),
    check({ kind: 'equals', value: 'zq9', after: 'ANSWER:' }),
  ];

  test('that holds nothing of the right one fails, and none is too odd', () => {
    fc.assert(
      fc.property(answers, fc.constantFrom(...checks), (answer, asked) => {
        expect(runCheck(asked, answer)).toBe(false);
      }),
    );
  });

  test('that is the right one passes, with blanks around it', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
        (value) => {
          expect(runCheck(check({ kind: 'equals', value }), `\n ${value}  \r\n`)).toBe(true);
          expect(runCheck(check({ kind: 'contains', value }), `so ${value} it is`)).toBe(true);
        },
      ),
    );
  });
});
