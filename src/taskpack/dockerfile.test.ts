// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of Dockerfiles are meant
import { describe, expect, test } from 'bun:test';
import { expand, parseDockerfile, words } from './dockerfile.ts';
import { finalStage } from './dockerfile-stage.ts';

describe('parseDockerfile', () => {
  const read = (text: string) => parseDockerfile(text).map(({ line, name, rest }) => [line, name, rest]);

  test.each<[string, string, readonly (readonly [number, string, string])[]]>([
    [
      'instructions, comments, blank lines',
      '# c\n\nfrom a\n  run b # c\n',
      [
        [3, 'FROM', 'a'],
        [4, 'RUN', 'b # c'],
      ],
    ],
    [
      'continued lines',
      'RUN a \\\n  b \\  \nc\nENV x 1',
      [
        [1, 'RUN', 'a   b c'],
        [4, 'ENV', 'x 1'],
      ],
    ],
    [
      'comments and blank lines within',
      'RUN a \\\n# no\n\n  # no\n  b\nUSER x',
      [
        [1, 'RUN', 'a   b'],
        [6, 'USER', 'x'],
      ],
    ],
    ['a comment does not go on', '# a \\\nRUN b', [[2, 'RUN', 'b']]],
    ['a continuation at the end', 'RUN a \\', [[1, 'RUN', 'a \\']]],
    ['a comment at the end of a continuation', 'RUN a \\\n# b', [[1, 'RUN', 'a']]],
    [
      'another escape',
      '# escape=`\nRUN a `\n b \\\nUSER x',
      [
        [2, 'RUN', 'a  b \\'],
        [4, 'USER', 'x'],
      ],
    ],
    [
      'CRLF and BOM',
      '\uFEFFFROM a\r\nRUN b \\\r\n c\r\n',
      [
        [1, 'FROM', 'a'],
        [2, 'RUN', 'b  c'],
      ],
    ],
    [
      'here-documents',
      'RUN <<EOF\nWORKDIR /no\nEOF\nWORKDIR /yes',
      [
        [1, 'RUN', '<<EOF'],
        [4, 'WORKDIR', '/yes'],
      ],
    ],
    [
      'here-documents with tabs and quotes',
      "COPY <<-'E' /x\n\tWORKDIR /no\n\tE\nUSER x",
      [
        [1, 'COPY', "<<-'E' /x"],
        [4, 'USER', 'x'],
      ],
    ],
    [
      'two here-documents',
      'COPY <<A <<B /x/\n1\nA\n2\nB\nUSER x',
      [
        [1, 'COPY', '<<A <<B /x/'],
        [6, 'USER', 'x'],
      ],
    ],
    [
      'a shift is no here-document',
      'RUN echo $((1<<n))\nUSER x',
      [
        [1, 'RUN', 'echo $((1<<n))'],
        [2, 'USER', 'x'],
      ],
    ],
    ['a here-document that never ends', 'RUN <<EOF\nUSER x', [[1, 'RUN', '<<EOF']]],
    ['nothing', '', []],
    ['a continuation of nothing', '\\\n\n', []],
    ['very many continued lines', `RUN ${'a \\\n'.repeat(50_000)}b`, [[1, 'RUN', `${'a '.repeat(50_000)}b`]]],
  ])('%s', (_name, text, expected) => {
    expect(read(text)).toEqual(expected.map((row) => [...row]));
  });
});

test.each<[string, readonly string[]]>([
  ['a b  c', ['a', 'b', 'c']],
  ['["a b", "c"]', ['a b', 'c']],
  ['[a] b', ['[a]', 'b']],
  ['"a b" \'c d\' e\\ f', ['a b', 'c d', 'e f']],
  ['A="x y"z', ['A=x yz']],
])('words of %s', (text, expected) => {
  expect(words(text)).toEqual([...expected]);
});

test.each<[string, string | null]>([
  ['$A/${A}x', 'one/onex'],
  ['${B:-two}', 'two'],
  ['${EMPTY:-two}${EMPTY-two}', 'two'],
  ['${B:-}', ''],
  ['$B', null],
  ['${A:+x}', null],
  ['${A:-$B}', 'one'],
  ['${B:-$A/x}', 'one/x'],
  ['${B:-$B}', null],
  ['${B:-${A}}', null],
  ['${A-'.repeat(50_000), null],
  ['$', null],
])('%.40s expands to %p', (text, expected) => {
  expect(
    expand(
      text,
      new Map([
        ['A', 'one'],
        ['EMPTY', ''],
      ]),
    ),
  ).toBe(expected);
});

describe('finalStage', () => {
  const folder = (path: string) => ({ kind: 'folder' as const, path });
  test.each<[string, object]>([
    ['FROM a\nWORKDIR /x', folder('/x')],
    ['FROM a\nWORKDIR x/', folder('/x')],
    ['FROM a\nWORKDIR /x\nWORKDIR ../y/./z', folder('/y/z')],
    ['FROM a\nWORKDIR "/x y"', folder('/x y')],
    ['FROM a\nWORKDIR /', folder('/')],
    ['FROM a', { kind: 'none' }],
    ['', { kind: 'none' }],
    ['FROM a AS b\nWORKDIR /x\nFROM c', { kind: 'none' }],
    ['FROM a AS b\nWORKDIR /x\nFROM c\nWORKDIR /c\nFROM b\nWORKDIR y', folder('/x/y')],
    ['ARG D=/x\nFROM a\nWORKDIR $D', { kind: 'unknown' }],
    ['ARG D=/x\nFROM a\nARG D\nWORKDIR $D', folder('/x')],
    ['ARG BASE=b\nFROM a AS b\nWORKDIR /x\nFROM ${BASE}', folder('/x')],
    ['FROM --platform=linux/amd64 a AS b\nWORKDIR /x\nFROM b', folder('/x')],
    ['FROM a\nENV A=/a B=$A/b\nENV C /c d\nWORKDIR $C', folder('/c d')],
    ['FROM a\nENV A=/a\nENV B=$A/b\nWORKDIR $B', folder('/a/b')],
    ['FROM a\nWORKDIR $HOME\nWORKDIR x', { kind: 'unknown' }],
    ['FROM a\nWORKDIR $HOME\nWORKDIR /x', folder('/x')],
  ])('%j', (text, expected) => {
    expect(finalStage(text).workdir).toEqual(expected as ReturnType<typeof finalStage>['workdir']);
  });
});
