import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { applyEdit } from './edits.ts';
import { editsBetween } from './edits-between.ts';
import { sameText } from './same-text.ts';
import { bodyOf, viewOf } from './view.ts';

const head = '---\nname: demo\ndescription: d\n---\n';
const said = { cites: [], reason: 'by hand' };
const between = (before: string, after: string) => editsBetween(head + before, head + after, said) ?? [];
const shown = (before: string, after: string) => between(before, after).map((e) => [e.target, e.content]);

function applied(before: string, after: string): string {
  let text = head + before;
  for (const edit of between(before, after)) {
    const result = applyEdit(text, edit);
    if (!result.ok) throw new Error(`${result.reason}: ${result.detail}`);
    text = result.text;
  }
  return bodyOf(viewOf(text)!);
}

describe('edits from one body to another', () => {
  test('one for each place, with no more around it than makes it unique', () => {
    const before = '# A\n\n- one\n- two\n\n# B\n\n- three\n- four\n';
    expect(shown(before, before.replace('two', 'TWO').replace('four', 'FOUR'))).toEqual([
      ['- two', '- TWO'],
      ['- four', '- FOUR'],
    ]);
  });

  test('lines that come in stand beside a line that stays', () => {
    expect(shown('# A\n- one\n', '# A\n- one\n- two\n')).toEqual([['- one', '- one\n- two']]);
    expect(shown('- one\n', '# A\n\n- one\n')).toEqual([['- one', '# A\n\n- one']]);
  });

  test('a line that goes leaves one beside it', () => {
    expect(shown('# A\n- one\n- two\n', '# A\n- two\n')).toEqual([['# A\n- one', '# A']]);
  });

  test('of lines that are alike the right one is meant', () => {
    const before = '# A\n- x\n# B\n- x\n';
    expect(shown(before, '# A\n- x\n# B\n- y\n')).toEqual([['# B\n- x', '# B\n- y']]);
  });

  test('the same body, or one with other trailing blanks, needs none', () => {
    expect(between('a\n', 'a\n')).toEqual([]);
    expect(between('a\n', 'a  \n\n')).toEqual([]);
    expect(editsBetween('a', 'b', said)).toBeNull();
  });

  test('line ends of the text stay', () => {
    const crlf = `${head}a\nb\nc\n`.replaceAll('\n', '\r\n');
    const [edit] = editsBetween(crlf, `${head}a\nx\nc\n`, said) ?? [];
    expect(applyEdit(crlf, edit!)).toEqual({ ok: true, text: crlf.replace('b', 'x') });
  });

  test('any two bodies: one after the other they lead there', () => {
    const line = fc.constantFrom('', ' ', '- a', '- b', '# A', '```', '\tx', 'a b', 'b');
    const body = fc.array(line, { minLength: 1, maxLength: 14 }).map((lines) => `${lines.join('\n')}\n`);
    fc.assert(
      fc.property(body, body, (before, after) => {
        fc.pre(before.trim() !== '' && after.trim() !== '');
        const led = (body: string) => body.replace(/^(?:[ \t]*\n)+/, '');
        expect(sameText(led(applied(before, after)), led(after))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
