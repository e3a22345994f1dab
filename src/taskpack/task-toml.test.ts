import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseTaskToml } from './task-toml.ts';

const problems = (text: string) => {
  const reading = parseTaskToml(text);
  return reading.ok ? [] : reading.problems;
};

/** The line behind the longest run of whole lines that parses, found by trying each. */
function lineByTrying(text: string): number {
  const lines = text.split('\n');
  let valid = 0;
  for (let count = 1; count <= lines.length; count++) {
    try {
      Bun.TOML.parse(lines.slice(0, count).join('\n'));
      valid = count;
    } catch {}
  }
  return valid + 1;
}

describe('the line of a fault', () => {
  test('is where trying each line finds it', () => {
    const line = fc.constantFrom(
      ...['a = 1', 'b = "x"', '[t]', '[[u]]', 'c = [1,', '2]', 'd = """', '"""', "e = '''", "x'''", 'f = "\\""'],
      ...["g = 'C:\\'", 'h = ', "# it's [", 'i = {a = 1}', '', '[t', 'j = "a""', 'k = ["""q""""]', '  ', 'l = 1 # "'],
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 9 }), (lines) => {
        const text = lines.join('\n');
        const [first] = problems(text);
        if (first?.what.startsWith('not valid TOML')) expect(first.line).toBe(lineByTrying(text));
      }),
      { numRuns: 2000 },
    );
  });

  const entries = (count: number) => Array.from({ length: count }, (_, n) => `k${n} = 1`).join('\n');

  test.each<[string, string, number | null]>([
    ['at the end of many entries', `${entries(9000)}\nx = \n`, 9001],
    ['at their start', `x = \n${entries(9000)}`, 1],
    ['in a list of many lines', `a = 1\nb = [\n${'1,\n'.repeat(9000)}`, 2],
    ['an entry given twice', `${entries(1000)}\nk5 = 2`, 1001],
    ['an entry given twice, among very many', `${entries(9000)}\nk5 = 2`, null],
  ])('%s', (_name, text, line) => {
    expect(problems(text).map((problem) => problem.line)).toEqual([line]);
  });

  test('each of many wrong values has its own', () => {
    const found = problems(`[environment.env]\n${entries(5000)}`);
    expect(found.map((problem) => problem.line)).toEqual(Array.from({ length: 5000 }, (_, n) => n + 2));
  });

  test('behind a line that opens a bracket and is blank for long', () => {
    expect(problems(`a = [\n[${' '.repeat(50_000)}\n1]]\n[agent]\ntimeout_sec = "x"`)[0]?.line).toBe(5);
  });
});

test('a text of a megabyte is refused unread', () => {
  expect(problems('# x\n'.repeat(300_000)).map(({ line, what }) => [line, what])).toEqual([
    [null, 'over 100 kB, which no description of a task needs'],
  ]);
});
