import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readHandIn } from './hand-in.ts';
import { edit, handIn, handInText } from './reflecting-fixture.ts';
import { readReplyText } from './reply-text.ts';

const fencedShell = edit({ content: 'Run it so:\n\n```sh\nset -e\necho "{x}" # } not an end\n```\n\nand look.' });
const whole = handIn(fencedShell, edit({ op: 'delete', target: 'Use relative links.', content: '' }));
const json = JSON.stringify(whole, null, 2);
const other = handInText();

function value(text: string): unknown {
  const read = readReplyText(text);
  return read.ok ? read.value : read.problem;
}

describe('a hand-in is found whole', () => {
  test.each([
    ['alone', json],
    ['in a fence, though its content holds a fenced shell block', `\`\`\`json\n${json}\n\`\`\``],
    ['behind prose that holds braces', `I looked at {x} and {"y"} and { z: 1 }.\n\n${json}`],
    ['before a stray brace', `${json}\n}`],
    ['before prose', `${json}\n\nThat is all {really}.`],
    ['with trailing commas', json.replaceAll('date."\n', 'date.",\n').replaceAll('}\n  ]\n', '},\n  ],\n')],
    ['with comments', json.replace('"edits":', '// the edits "follow"\n "edits": /* } */')],
    ['with raw line breaks in a text', json.replaceAll('\\n', '\n')],
    ['behind closed thoughts', `<think>First {"summary": "no", "edits": []}.</think>\n${json}`],
    ['behind thoughts that were opened elsewhere', `Perhaps ${other}? No.\n</think>\n${json}`],
    ['twice the same', `${json}\n\nOnce more:\n${json}`],
  ])('%s', (_, text) => {
    expect(value(text)).toEqual(whole);
  });

  test('though it speaks of thoughts', () => {
    const speaks = handIn(edit({ content: 'Write no <think> and no </think> into the file.' }));
    expect(value(JSON.stringify(speaks))).toEqual(speaks);
    expect(value(JSON.stringify(handIn(edit({ content: 'End it with </think>, as {"a": 1}.' }))))).toEqual(
      handIn(edit({ content: 'End it with </think>, as {"a": 1}.' })),
    );
  });

  test('whatever its texts hold, and whatever prose stands around', () => {
    const prose = fc.string().map((s) => s.replace(/[{}"<]/g, ''));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), prose, prose, (content, reason, before, after) => {
        const given = handIn(edit({ content, reason }));
        expect(value(`${before}\n\`\`\`json\n${JSON.stringify(given)}\n\`\`\`\n${after}`)).toEqual(given);
      }),
    );
  });
});

describe('there is no hand-in', () => {
  test.each([
    ['nothing', '', 'empty'],
    ['blanks', ' \n', 'empty'],
    ['prose alone', 'I would change {x}.', 'no JSON object'],
    ['an object of another kind', '{"answer": 1}', 'no JSON object'],
    ['a bare list', '[{"op": "delete"}]', 'no JSON object'],
    ['thoughts that do not end', `<think>Perhaps so:\n${json}`, 'thoughts'],
    ['thoughts that open in the middle', `Well. <think> ${json}`, 'thoughts'],
    ['a hand-in that was only thought of', `<think>${json}</think>\nI have nothing.`, 'no JSON object'],
    ['one thought of where the server opened the thoughts', `${json}\n</think>\nI have nothing.`, 'no JSON object'],
    ['two that differ', `${json}\n${other}`, 'differ'],
    ['an example before one that is cut', `Such as ${other}. Now mine: ${json.slice(0, -30)}`, 'ends before'],
    ['an unescaped quotation mark', '{"summary": "a "b" c", "edits": []}', "can't be read"],
    ['the same piece over and over', '{"a '.repeat(50_000), 'full of braces'],
    ['brackets that do not match', '{"summary": "", "edits": [}', "can't be read"],
  ])('in %s', (_, text, why) => {
    expect(value(text)).toContain(why);
  });

  test('wherever it is cut', () => {
    for (let length = 0; length < json.length; length++) expect(readReplyText(json.slice(0, length)).ok).toBe(false);
  });
});

describe('readHandIn', () => {
  test('reads each edit by itself', () => {
    const read = readHandIn(handIn(edit(), { op: 'rewrite' }, 'x', edit({ op: 'delete', content: '' })));
    if ('problem' in read) throw new Error(read.problem);
    expect(read.edits.map((e) => ('edit' in e ? e.edit.op : e.problem))).toEqual([
      'insert_after',
      expect.stringContaining('op'),
      expect.stringContaining('the edit'),
      'delete',
    ]);
  });

  test('takes lists and single ids that were written as texts', () => {
    const read = readHandIn({ summary: 's', edits: JSON.stringify([{ ...edit(), cites: ' alpha ' }]) });
    expect(read).toEqual({ summary: 's', edits: [{ edit: edit() }] });
  });

  test.each([
    ['null', null],
    ['a number', 3],
    ['no edits', { summary: 's' }],
    ['edits that are no list', { edits: { op: 'delete' } }],
    ['edits cut off', { edits: '[{"op":' }],
  ])('%s is none', (_, input) => {
    expect(readHandIn(input)).toHaveProperty('problem');
  });
});
