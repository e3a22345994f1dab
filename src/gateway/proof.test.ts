import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Protocol, protocols } from '../ports/gateway.ts';
import { ask } from './answers-fixture.ts';
import { ReadingProof } from './proof.ts';
import { hasTools } from './request-texts.ts';

const description = 'Use when a report in "CSV" has to be cleaned: quotes & commas <before> anything is counted.';
const body = `
# Clean reports

Take every line that begins with a semicolon for a comment.

- Write the total into \`out/total.txt\`, and nothing else beside it.
- A price such as "1.234,50" uses a comma: turn it into 1234.50 first.

\`\`\`sh
sed --regexp-extended -e 's/\\t/ /g' "$1" \\
  | sort -u > clean.csv
\`\`\`
`;
const skill = { description, body };
const first = ['You are an agent.', `Skills:\n- clean: ${description}`, 'Do the task.'];

/** Shows a skill in requests one after another, and says what is known after each. */
function seen(
  protocol: Protocol,
  requests: readonly (readonly string[])[],
  { tools = true, of = skill }: { tools?: boolean; of?: typeof skill | null } = {},
) {
  const proof = new ReadingProof(of);
  return requests.map((texts) => {
    const asked = ask(protocol, texts, { tools }) as Record<string, unknown>;
    proof.see(asked, hasTools(protocol, asked));
    return [proof.visible, proof.read];
  });
}

describe.each(protocols)('a skill at %s', (protocol) => {
  test('is visible, then read', () => {
    expect(seen(protocol, [first, [...first, 'ls: a b'], [...first, body], ['compacted']])).toEqual([
      [true, false],
      [true, false],
      [true, true],
      [true, true],
    ]);
  });

  test('that is not offered is not visible, whatever comes later', () => {
    expect(seen(protocol, [['Do the task.'], first])).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  test('that is read though nobody offered it was there to be read', () => {
    expect(seen(protocol, [['Read /skill/SKILL.md first.'], ['Read it.', body]])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  test('that is shown whole from the start is read', () => {
    expect(seen(protocol, [[...first, body]])).toEqual([[true, true]]);
    expect(seen(protocol, [['Do the task.', body]])).toEqual([[true, true]]);
  });

  test('without tools is known where it is found, and only there', () => {
    const o = { tools: false };
    expect(seen(protocol, [['A title?'], first, [...first, body]], o)).toEqual([
      [null, null],
      [true, false],
      [true, true],
    ]);
    expect(seen(protocol, [['A title?'], ['Go on.']], o).at(-1)).toEqual([null, null]);
    expect(seen(protocol, [['A title?'], ['Go on.', body]], o).at(-1)).toEqual([true, true]);
  });

  test('is looked for in the agent’s work, not in what it asks before', () => {
    const proof = new ReadingProof(skill);
    proof.see(ask(protocol, ['Name this.', body], { tools: false }), false);
    expect([proof.visible, proof.read]).toEqual([null, null]);
    proof.see(ask(protocol, first), true);
    expect(proof.visible).toBe(true);
  });
});

describe('a description', () => {
  const long = `Use when ${'reports of every kind and size have to be read, sorted and cleaned; '.repeat(20)}`;
  const at = (text: string, of = { description: long, body }) => seen('chat', [[text]], { of })[0]?.[0];

  test('may be cut by the agent behind a distinctive beginning', () => {
    expect(at(`- clean: ${long.slice(0, 1_000)}…`)).toBe(true);
    expect(at(`- clean: ${long.slice(0, 60)}...`)).toBe(true);
    expect(at(`- clean: ${long.slice(0, 40)}...`)).toBe(false);
  });

  test('may be written as XML, as JSON or over several lines', () => {
    const xml = description.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    expect(at(`<description>${xml}</description>`, skill)).toBe(true);
    expect(at(JSON.stringify({ description }), skill)).toBe(true);
    expect(at(JSON.stringify(JSON.stringify({ description })), skill)).toBe(true);
    expect(at(description.replaceAll(' ', '\n    '), skill)).toBe(true);
  });

  test('of a few letters proves nothing', () => {
    expect(at('all about csv', { description: 'csv', body })).toBeNull();
  });
});

describe('a line of the body', () => {
  const [, ...lines] = body.split('\n').filter((line) => line.length >= 24);
  const read = (text: string, of = skill, firstText = first) =>
    seen('messages', [firstText, [...first, text]], { of })[1]?.[1];

  test('proves the reading however a tool shows it', () => {
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      expect(read(`     7→${line}`)).toBe(true);
      expect(read(`00007| ${line}\n00008| x`)).toBe(true);
      expect(read(JSON.stringify({ stdout: `a\n${line}\n` }))).toBe(true);
      expect(read(JSON.stringify({ output: JSON.stringify([{ text: line }]) }))).toBe(true);
      expect(read(line.toUpperCase())).toBe(false);
    }
  });

  test('proves nothing where the task or the agent says it, too', () => {
    const own = [...first, ...lines.slice(1)];
    expect(read(lines[1] ?? '', skill, own)).toBe(false);
    expect(read(lines[0] ?? '', skill, own)).toBe(true);
  });

  test('is a shorter one where there are no others; a body of a few words can’t tell', () => {
    const of = (text: string) => ({ description, body: text });
    expect(read('12: sort by date', of('Sort by\n\nsort by date'))).toBe(true);
    expect(read('short', of('short'))).toBeNull();
    expect(read('anything', of(''))).toBeNull();
  });

  test('is not looked for without a skill', () => {
    expect(seen('chat', [first, [body]], { of: null })).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});

describe('for any skill', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((w) => /^[^\s\p{Cc}]+$/u.test(w));
  const line = fc.array(word, { minLength: 5, maxLength: 20 }).map((words) => words.join(' '));
  const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((all) => all.join('\n'));
  const nested = (value: string, times: number): string =>
    times === 0 ? value : nested(JSON.stringify({ o: value }), times - 1);

  test('reading is seen however deep the output is wrapped, and not before', () => {
    fc.assert(
      fc.property(
        text,
        line,
        fc.nat(3),
        fc.nat(2),
        fc.constantFrom(...protocols),
        (ofBody, ofDescription, deep, deeper, protocol) => {
          const lines = ofBody.split('\n').map((l) => `rule ${l} ends here`);
          const of = { description: `Use it when ${ofDescription}`, body: lines.join('\n') };
          const offer = [nested(`- x: ${of.description}`, deeper)];
          const numbered = lines.map((l, i) => `${String(i + 1).padStart(6)}\t${l}`).join('\n');
          const got = seen(protocol, [offer, [...offer, 'nothing yet'], [...offer, nested(numbered, deep)]], { of });
          // a line that stands in the description is no proof
          const expected = lines.every((l) => of.description.includes(l)) ? null : true;
          expect(got.map(([visible]) => visible)).toEqual([true, true, true]);
          expect(got.map(([, read]) => read)).toEqual([expected && false, expected && false, expected]);
        },
      ),
    );
  });
});
