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
      const of = { description, body: line };
      expect(read(`     7→${line}`, of)).toBe(true);
      expect(read(`00007| ${line}\n00008| x`, of)).toBe(true);
      expect(read(JSON.stringify({ stdout: `a\n${line}\n` }), of)).toBe(true);
      expect(read(JSON.stringify({ output: JSON.stringify([{ text: line }]) }), of)).toBe(true);
      expect(read(line.toUpperCase(), of)).toBe(false);
    }
  });

  test('proves nothing alone where there are many: a file of the task may hold it, too', () => {
    const [a = '', b = ''] = lines;
    expect(read(`12: ${a}`)).toBe(false);
    expect(read(`12: ${a}\nelsewhere\n99: ${b}`)).toBe(true);
  });

  test('is found in whatever part of a long body the agent shows', () => {
    const long = Array.from({ length: 700 }, (_, i) => `Rule ${i} of many is told here${', at length'.repeat(i % 7)}.`);
    const of = { description, body: long.join('\n') };
    for (let from = 0; from < 700; from += 50) expect(read(long.slice(from, from + 50).join('\n'), of)).toBe(true);
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

describe.each(protocols)('what the model wrote itself at %s', (protocol) => {
  const code = 'if __name__ == "__main__":';
  const of = { description, body: `Use a script.\n\n${code}\n` };
  const tools = (ask(protocol, []) as { tools: unknown }).tools;
  const asked = (written: string, came: string): Record<string, unknown> => {
    switch (protocol) {
      case 'messages':
        return {
          messages: [
            { role: 'user', content: description },
            { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: written } }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: came }] },
          ],
        };
      case 'chat':
        return {
          messages: [
            { role: 'user', content: description },
            {
              role: 'assistant',
              tool_calls: [{ id: 't', function: { name: 'bash', arguments: JSON.stringify({ written }) } }],
            },
            { role: 'tool', tool_call_id: 't', content: came },
          ],
        };
      case 'responses':
        return {
          input: [
            { role: 'user', content: [{ type: 'input_text', text: description }] },
            { type: 'function_call', call_id: 't', name: 'shell', arguments: JSON.stringify({ written }) },
            { type: 'function_call_output', call_id: 't', output: came },
          ],
        };
      case 'gemini':
        return {
          contents: [
            { role: 'user', parts: [{ text: description }] },
            { role: 'model', parts: [{ functionCall: { name: 'shell', args: { written } } }] },
            { role: 'user', parts: [{ functionResponse: { name: 'shell', response: { output: came } } }] },
          ],
        };
      default:
        return protocol satisfies never;
    }
  };
  const after = (written: string, came: string) => {
    const proof = new ReadingProof(of);
    proof.see({ ...(ask(protocol, [description]) as object) }, true);
    proof.see({ ...asked(written, came), tools }, true);
    return proof.read;
  };

  test('proves no reading, though a tool shows it again', () => {
    expect(after('cat SKILL.md', `1\t${code}`)).toBe(true);
    expect(after('ls', 'main.py')).toBe(false);
    expect(after(`cat > main.py <<E\n${code}\nE`, `1\t${code}`)).toBeNull();
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
