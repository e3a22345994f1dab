import { describe, expect, test } from 'bun:test';
import type { Edit, EditOp } from '../ports/edit.ts';
import { applyEdit } from './edits.ts';
import { sameText } from './same-text.ts';

const HEAD = '---\nname: demo\ndescription: Does a thing\n---\n';

const edit = (op: EditOp, target: string, content = ''): Edit => ({ op, target, content, cites: [], reason: '' });

/** Applies to HEAD + body and gives the new body. */
function bodyAfter(body: string, change: Edit, head = HEAD): string {
  const applied = applyEdit(head + body, change);
  if (!applied.ok) throw new Error(`${applied.reason}: ${applied.detail}`);
  expect(applied.text).toStartWith(head);
  return applied.text.slice(head.length);
}

function rejection(body: string, change: Edit, head = HEAD): { reason: string; detail: string } {
  const applied = applyEdit(head + body, change);
  if (applied.ok) throw new Error(`applied: ${JSON.stringify(applied.text)}`);
  return { reason: applied.reason, detail: applied.detail };
}

describe('replace', () => {
  test.each([
    ['inside a line', 'use grep here\n', 'grep', 'rg', 'use rg here\n'],
    ['over lines', 'a\nb\nc\n', 'a\nb', 'x', 'x\nc\n'],
    ['by more lines', 'a\nb\n', 'a', 'x\ny', 'x\ny\nb\n'],
    ['whole lines by whole lines', 'a\nb\n', 'a\n', 'x\n', 'x\nb\n'],
    ['a line end that the content leaves out stays', 'a\nb\n', 'a\n', 'x', 'x\nb\n'],
    ['a leading line end that the content leaves out stays', 'a\nb\nc\n', '\nb', 'x', 'a\nx\nc\n'],
    ['by nothing', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
    ['at the end without line end', 'a\nb', 'b', 'c', 'a\nc'],
    ['dollar signs are plain', 'a\n', 'a', "$& $1 $$ $'", "$& $1 $$ $'\n"],
    ['Unicode', 'é 汉 🦀\n', '汉 🦀', '→ —', 'é → —\n'],
  ])('%s', (_name, body, target, content, expected) => {
    expect(bodyAfter(body, edit('replace', target, content))).toBe(expected);
  });
});

describe('insert_after and insert_before', () => {
  test.each([
    ['after a part of a line', 'one two\nthree\n', 'insert_after', 'one', 'x', 'one two\nx\nthree\n'],
    ['before a part of a line', 'one two\nthree\n', 'insert_before', 'hree', 'x', 'one two\nx\nthree\n'],
    ['content with its own line end', 'a\nb\n', 'insert_after', 'a', 'x\n', 'a\nx\nb\n'],
    ['blank lines of the content stay', 'a\nb\n', 'insert_after', 'a', '\nx\n\n', 'a\n\nx\n\nb\n'],
    ['after a target of two lines', 'a\nb\nc\n', 'insert_after', 'a\nb', 'x', 'a\nb\nx\nc\n'],
    ['before a target of two lines', 'a\nb\nc\n', 'insert_before', 'b\nc', 'x', 'a\nx\nb\nc\n'],
    ['after a target with line end', 'a\nb\n', 'insert_after', 'a\n', 'x', 'a\nx\nb\n'],
    ['before a target with a leading line end', 'a\nb\n', 'insert_before', '\nb', 'x', 'a\nx\nb\n'],
    ['after the last line', 'a\nb\n', 'insert_after', 'b', 'x', 'a\nb\nx\n'],
    ['after a last line without line end', 'a\nb', 'insert_after', 'b', 'x\n', 'a\nb\nx'],
    ['before the first line', 'a\nb\n', 'insert_before', 'a', 'x', 'x\na\nb\n'],
    ['a tab-indented list keeps its tabs', '- a\n\t- b\n', 'insert_after', '- b', '\t- x', '- a\n\t- b\n\t- x\n'],
  ] as const)('%s', (_name, body, op, target, content, expected) => {
    expect(bodyAfter(body, edit(op, target, content))).toBe(expected);
  });
});

describe('delete', () => {
  test.each([
    ['a part of a line', 'one two three\n', ' two', 'one three\n'],
    ['a whole line', 'a\nb\nc\n', 'b', 'a\nc\n'],
    ['a whole line typed with its line end', 'a\nb\nc\n', 'b\n', 'a\nc\n'],
    ['a whole line typed with the line end before', 'a\nb\nc\n', '\nb', 'a\nc\n'],
    ['lines of which only blanks would be left', 'a\n  - b \nc\n', '- b', 'a\nc\n'],
    ['several lines', 'a\nb\nc\nd\n', 'b\nc', 'a\nd\n'],
    ['from mid line to mid line', 'one two\nthree four\n', 'two\nthree', 'one  four\n'],
    ['no joining at the end', 'one two\nthree\n', 'two\n', 'one \nthree\n'],
    ['no joining at the start', 'one\ntwo three\n', '\ntwo ', 'one\nthree\n'],
    ['the last line without line end', 'a\nb', 'b', 'a\n'],
  ])('%s', (_name, body, target, expected) => {
    expect(bodyAfter(body, edit('delete', target))).toBe(expected);
  });
});

describe('append_section', () => {
  const SECTIONS = '# Demo\n\nIntro.\n\n## Rules\n\n- a\n\n### Deep\n\ndeep\n\n## Examples\n\n```md\n## Rules\n```\n';

  test.each([
    ['end of the body', 'a\n', '', 'x', 'a\n\nx\n'],
    ['end of a body without line end', 'a', '', 'x', 'a\n\nx'],
    ['end of a body with a blank line', 'a\n\n', '', 'x\n', 'a\n\nx\n'],
    ['end of a body that ends with blanks', 'a\n  ', '', 'x', 'a\n  \nx'],
    ['blank lines around the content are not doubled', 'a\n', '', '\n\nx\n\n', 'a\n\nx\n'],
    ['a section with subsections', SECTIONS, '## Rules', 'x', SECTIONS.replace('deep\n\n', 'deep\n\nx\n\n')],
    ['a subsection', SECTIONS, '### Deep', 'x\n', SECTIONS.replace('deep\n\n', 'deep\n\nx\n\n')],
    ['the last section', SECTIONS, '## Examples', 'x', `${SECTIONS}\nx\n`],
    ['the title', SECTIONS, '# Demo', 'x', `${SECTIONS}\nx\n`],
    [
      'blanks around the heading do not matter',
      SECTIONS,
      ' ## Rules \n',
      'x',
      SECTIONS.replace('deep\n\n', 'deep\n\nx\n\n'),
    ],
    ['a heading right below', '## A\n## B\nb\n', '## A', 'x', '## A\n\nx\n\n## B\nb\n'],
    ['an underlined heading', 'A\n===\na\n\nB\n===\nb\n', 'A', 'x', 'A\n===\na\n\nx\n\nB\n===\nb\n'],
    ['an underlined heading with its line', 'A\n---\na\n', 'A\n---', 'x', 'A\n---\na\n\nx\n'],
    [
      'a comment in a code block ends no section',
      '## A\n```sh\n# c\n```\n# B\n',
      '## A',
      'x',
      '## A\n```sh\n# c\n```\n\nx\n\n# B\n',
    ],
  ])('%s', (_name, body, target, content, expected) => {
    expect(bodyAfter(body, edit('append_section', target, content))).toBe(expected);
  });

  test('a line that is a heading only in a fence is none', () => {
    const found = rejection('# A\n\n```md\n## Rules\n```\n', edit('append_section', '## Rules', 'x'));
    expect(found.reason).toBe('target-missing');
    expect(found.detail).toContain('line 8, but not as a heading');
    expect(found.detail).toContain('5| # A');
  });

  test('the same heading twice is ambiguous', () => {
    const found = rejection('## A\n\na\n\n## A\n', edit('append_section', '## A', 'x'));
    expect(found).toMatchObject({ reason: 'target-ambiguous' });
    expect(found.detail).toContain('lines 5, 9');
  });

  test('a heading inside a quote or list opens no section', () => {
    expect(rejection('> ## A\n\n- ## B\n', edit('append_section', '> ## A', 'x')).reason).toBe('target-missing');
    expect(rejection('> ## A\n\n- ## B\n', edit('append_section', '## B', 'x')).detail).toContain('no headings');
  });

  test('a comment of the frontmatter is no heading', () => {
    const head = HEAD.replace('name:', '# Keys\nname:');
    expect(rejection('# A\n', edit('append_section', '# Keys', 'x'), head).reason).toBe('target-in-frontmatter');
  });
});

describe('fault 5: edits that change nothing', () => {
  test.each([
    ['the same text', 'a b\n', edit('replace', 'a', 'a')],
    ['trailing blanks', 'a b\nc\n', edit('replace', 'a b', 'a b  ')],
    ['a blank line at the end', 'a\n', edit('replace', 'a', 'a\n')],
    ['trailing blanks deleted', 'a  \nb\n', edit('replace', 'a  ', 'a')],
    ['an empty insertion', 'a\n', edit('insert_after', 'a', '')],
    ['a blank insertion', 'a\nb\n', edit('insert_before', 'b', ' \n')],
    ['an empty section', 'a\n', edit('append_section', '', '')],
  ])('%s', (_name, body, change) => {
    expect(rejection(body, change).reason).toBe('no-change');
  });

  test.each([
    ['equal', 'a\n', 'a\n', true],
    ['trailing blanks', 'a \t\nb', 'a\nb\n\n', true],
    ['line ends', 'a\r\nb\r\n', 'a\nb\n', true],
    ['leading blanks', ' a\n', 'a\n', false],
    ['a blank line inside', 'a\n\nb\n', 'a\nb\n', false],
    ['case', 'A\n', 'a\n', false],
  ] as const)('sameText: %s', (_name, a, b, same) => {
    expect(sameText(a, b)).toBe(same);
    expect(sameText(b, a)).toBe(same);
  });
});

describe('fault 11: where the target stands', () => {
  test('only in the frontmatter', () => {
    const found = rejection('# Demo\n', edit('replace', 'Does a thing', 'x'));
    expect(found.reason).toBe('target-in-frontmatter');
    expect(found.detail).toContain('line 3');
    expect(found.detail).toContain('from line 5 on');
  });

  test('over the end of the frontmatter', () => {
    expect(rejection('# Demo\n', edit('replace', '---\n# Demo', 'x')).reason).toBe('target-in-frontmatter');
  });

  test('in the frontmatter and once in the body: the body alone changes', () => {
    expect(bodyAfter('name: demo\n', edit('replace', 'name: demo', 'x'))).toBe('x\n');
  });

  test('overlapping itself', () => {
    const found = rejection('aa\naa\naa\n', edit('replace', 'aa\naa', 'x'));
    expect(found.reason).toBe('target-ambiguous');
    expect(found.detail).toContain('2 times');
    expect(found.detail).toContain('lines 5, 6');
  });

  test('overlapping itself on one line, in frontmatter and body', () => {
    const head = HEAD.replace('Does a thing', 'aaa');
    const found = rejection('x\naaa\n', edit('delete', 'aa'), head);
    expect(found.reason).toBe('target-ambiguous');
    expect(found.detail).toContain('line 6:');
  });

  test('nowhere: the nearest lines are quoted', () => {
    const found = rejection(
      '# Demo\n\n- Use grep to search files\n- Write tests\n',
      edit('replace', '- Use `grep` for searching files', 'x'),
    );
    expect(found.reason).toBe('target-missing');
    expect(found.detail).toContain('7| - Use grep to search files');
    expect(found.detail).not.toContain('Write tests');
  });

  test('nowhere, with several lines: the block that fits best is quoted', () => {
    const found = rejection(
      '# Demo\n\nfirst step: read\nsecond step: write it down\nthird\n',
      edit('replace', 'First: read\nSecond step: write it all down', 'x'),
    );
    expect(found.detail).toContain('7| first step: read\n8| second step: write it down');
    expect(found.detail).not.toContain('9|');
  });

  test('nowhere and like nothing', () => {
    expect(rejection('# Demo\n', edit('delete', 'zzzzqq')).detail).toContain('no line of the body resembles it');
  });

  test('an empty target', () => {
    expect(rejection('# Demo\n', edit('delete', '')).reason).toBe('target-missing');
  });
});

describe('fault 12: byte order marks, line ends, tabs', () => {
  const head = `\uFEFF${HEAD}`.replaceAll('\n', '\r\n');
  const body = '# Demo\r\n\r\n- a\r\n\t- lone\n\t- c\r\nlast';

  test('a target of several lines typed with LF matches CRLF and mixed lines', () => {
    expect(bodyAfter(body, edit('replace', '- a\n\t- lone\n\t- c', '- x\n- y'), head)).toBe(
      '# Demo\r\n\r\n- x\r\n- y\r\nlast',
    );
  });

  test('a target typed with CRLF matches LF lines', () => {
    expect(bodyAfter('a\nb\nc\n', edit('replace', 'a\r\nb', 'x\r\ny'))).toBe('x\ny\nc\n');
  });

  test('the lone LF stays when the line beside it changes', () => {
    expect(bodyAfter(body, edit('replace', 'lone', 'LONE'), head)).toBe(body.replace('lone', 'LONE'));
    expect(bodyAfter(body, edit('insert_after', 'lone', '\t- x'), head)).toBe(
      body.replace('lone\n', 'lone\n\t- x\r\n'),
    );
  });

  test('a section at the end of a file without final line end', () => {
    expect(bodyAfter(body, edit('append_section', '', 'x\ny'), head)).toBe(`${body}\r\n\r\nx\r\ny`);
  });

  test('the line end of a single-line body comes from the frontmatter', () => {
    expect(bodyAfter('one', edit('insert_after', 'one', 'two'), head)).toBe('one\r\ntwo');
  });

  test('whole lines are deleted with the line end they have', () => {
    expect(bodyAfter(body, edit('delete', '- lone'), head)).toBe('# Demo\r\n\r\n- a\r\n\t- c\r\nlast');
    expect(bodyAfter(body, edit('delete', '- a\n'), head)).toBe('# Demo\r\n\r\n\t- lone\n\t- c\r\nlast');
  });
});

describe('texts that cannot be used', () => {
  test.each([
    ['NUL in the content', edit('replace', 'a', 'x\0')],
    ['half a surrogate pair in the content', edit('insert_after', 'a', '\ud83e')],
    ['half a surrogate pair in the target', edit('replace', '\udd80', 'x')],
    ['an escape sequence in the content', edit('replace', 'a', '\u001b[2J')],
    ['a backspace in the content', edit('insert_after', 'a', 'b\b')],
    ['a C1 control in the content', edit('insert_after', 'a', '\u009b2J')],
    ['DEL in the content', edit('insert_after', 'a', '\u007f')],
    ['a bidi override in the content', edit('append_section', '', 'x \u202e y')],
    ['a bidi isolate in the content', edit('append_section', '', 'x \u2066 y')],
    ['an escape in the target', edit('replace', '\u001b', 'x')],
  ])('%s', (_name, change) => {
    expect(rejection('a 🦀\n', change).reason).toBe('bad-text');
  });

  test('says which character it is, and where in the edit', () => {
    const { detail } = rejection('a\n', edit('replace', 'a', 'x\r\ny\n\u202ez'));
    expect(detail).toContain('the content holds the character U+202E in its line 3');
  });

  test('tabs, line ends, joiners and marks of direction can', () => {
    const content = 'x\ty\r\n👩‍💻 \u200f שלום\u00a0\u2028z';
    expect(bodyAfter('a\n', edit('replace', 'a', content))).toBe(`${content.replace('\r\n', '\n')}\n`);
  });

  test('what the seed holds already stays, and text beside it can be edited', () => {
    expect(bodyAfter('\u001b[1m kept\nb\n', edit('replace', 'b', 'c'))).toBe('\u001b[1m kept\nc\n');
  });

  test('a text without frontmatter', () => {
    const applied = applyEdit('# Demo\n', edit('replace', 'Demo', 'x'));
    expect(applied).toMatchObject({ ok: false, reason: 'invalid-document' });
  });

  test('an operation that does not exist', () => {
    expect(rejection('a\n', { ...edit('replace', 'a', 'b'), op: 'rewrite' as EditOp }).reason).toBe('bad-text');
  });
});
