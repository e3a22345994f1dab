import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SkilloptError } from '../ports/failure.ts';
import { decodeSkill, readSkill } from './document.ts';

const SEED = '---\nname: demo\ndescription: Does a thing\n---\n# Demo\n\nText.\n';

function failureOf(run: () => unknown) {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof SkilloptError) return thrown.failure;
    throw thrown;
  }
  throw new Error('expected a failure, and there was none');
}

const withYaml = (yaml: string) => `---\n${yaml}\n---\nBody\n`;

describe('readSkill', () => {
  test('finds the parts and keeps the text', () => {
    const skill = readSkill(SEED);
    expect(skill.text).toBe(SEED);
    expect(SEED.slice(skill.frontmatter.start, skill.frontmatter.end)).toBe(
      '---\nname: demo\ndescription: Does a thing\n---\n',
    );
    expect(SEED.slice(skill.body.start, skill.body.end)).toBe('# Demo\n\nText.\n');
    expect(skill).toMatchObject({
      name: 'demo',
      description: 'Does a thing',
      hasBom: false,
      lineEnding: 'lf',
      yamlWarnings: [],
    });
  });

  test.each([
    ['CRLF', SEED.replaceAll('\n', '\r\n'), 'crlf', false],
    ['mixed', SEED.replace('# Demo\n', '# Demo\r\n'), 'mixed', false],
    ['lone carriage return', SEED.replace('Text.', 'Te\rxt.'), 'mixed', false],
    ['byte order mark', `\uFEFF${SEED}`, 'lf', true],
    ['no final line end', SEED.trimEnd(), 'lf', false],
    ['blanks after ---', SEED.replaceAll('---\n', '--- \t\n'), 'lf', false],
  ] as const)('reads %s', (_name, text, lineEnding, hasBom) => {
    const skill = readSkill(text);
    expect(skill).toMatchObject({ text, lineEnding, hasBom, name: 'demo', description: 'Does a thing' });
    expect(text.slice(skill.body.start)).toStartWith('# Demo');
    expect(text.slice(skill.frontmatter.start)).toStartWith('---');
  });

  test.each([
    ['unknown keys', 'name: demo\ndescription: d\nmodel: x\nhooks: {a: [1, 2]}'],
    ['a block description', 'name: demo\ndescription: >-\n  one: two\n  three'],
    ['a quoted description', 'name: demo\ndescription: "Use when: x"'],
    ['comments', '# a\nname: demo # b\ndescription: d'],
    ['capitals in the name', 'name: Demo Skill\ndescription: d'],
    ['64 characters', `name: ${'汉'.repeat(64)}\ndescription: d`],
    ['200 bytes', `name: ${'🦀'.repeat(50)}\ndescription: d`],
    ['1024 code points', `name: demo\ndescription: ${'🦀'.repeat(1024)}`],
  ])('accepts %s', (_name, yaml) => {
    expect(readSkill(withYaml(yaml)).text).toBe(withYaml(yaml));
  });

  test('keeps a later --- in the body', () => {
    const text = `${SEED}\n---\n\nMore\n`;
    const skill = readSkill(text);
    expect(text.slice(skill.body.start)).toBe('# Demo\n\nText.\n\n---\n\nMore\n');
  });

  test.each([
    ['no frontmatter', '# Demo\n', 1, 'no frontmatter', '"---"'],
    ['empty file', '', 1, 'no frontmatter', '"---"'],
    ['blank line first', `\n${SEED}`, 1, 'before the opening', 'very first line'],
    ['four dashes', SEED.replace('---', '----'), 1, 'no frontmatter', '"---"'],
    ['classic Mac line ends', SEED.replaceAll('\n', '\r'), 1, 'lone carriage returns', 'LF or CRLF'],
    ['unclosed', '---\nname: demo\ndescription: d\n# Demo\n', 1, 'not closed', 'add a line "---"'],
    ['--- inside', withYaml('name: demo\ndescription: a --- b'), 3, 'another "---"', 'another way'],
    ['indented --- inside', withYaml('name: demo\ndescription: |\n  a\n  ---\n  b'), 5, 'another "---"', 'another way'],
    ['--- put at line 1', `---\n${SEED}`, 2, 'not a list of "key: value"', 'name: …'],
    ['unquoted colon', withYaml('name: demo\ndescription: Use when: x'), 3, 'holds ": "', 'description: "Use when: x"'],
    ['duplicate key', withYaml('name: demo\nname: demo\ndescription: d'), 3, 'name is given twice', 'remove one'],
    ['unclosed quote', withYaml('name: demo\ndescription: "d'), 3, 'not closed', 'closing quote'],
    ['tab', withYaml('name: demo\nmetadata:\n\ta: b\ndescription: d'), 4, 'tab', 'spaces'],
    ['reserved character', withYaml('name: demo\ndescription: @x'), 3, 'does not parse', 'description: "@x"'],
    ['text in the frontmatter', withYaml('name: demo\nhello\ndescription: d'), 3, 'key: value', 'colon'],
    ['no blank after the colon', withYaml('name: demo\ndescription:d'), 3, 'key: value', 'colon'],
    ['unknown alias', withYaml('name: demo\ndescription: *x'), 2, 'does not resolve', 'without *'],
    ['list', withYaml('- name: demo'), 2, 'not a list of "key: value"', 'name: …'],
    ['empty frontmatter', '---\n---\nBody\n', 2, 'not a list of "key: value"', 'name: …'],
    ['no name', withYaml('description: d'), 1, 'no name', 'name: …'],
    ['no description', withYaml('name: demo'), 1, 'no description', 'description: …'],
    ['name null', withYaml('name:\ndescription: d'), 2, 'name is empty', 'write a name'],
    ['empty description', withYaml('name: demo\ndescription: ""'), 3, 'description is empty', 'write a description'],
    ['blank description', withYaml('name: demo\ndescription: "  "'), 3, 'description is empty', 'write a description'],
    ['name a number', withYaml('name: 12\ndescription: d'), 2, 'name is not a text', 'quote it'],
    ['description a list', withYaml('name: demo\ndescription: [a]'), 3, 'description is not a text', 'quote it'],
    ['long name', withYaml(`name: ${'a'.repeat(65)}\ndescription: d`), 2, '65 characters', 'shorten it to 64'],
    [
      'long description',
      withYaml(`name: demo\ndescription: ${'é'.repeat(1100)}`),
      3,
      '1100 characters',
      'shorten it to 1024',
    ],
    ['name that leaves the folder', withYaml('name: ../x\ndescription: d'), 2, 'name of a folder', 'hyphens'],
    ['name of a hidden folder', withYaml('name: .git\ndescription: d'), 2, 'starts with a dot', 'hyphens'],
    ['name of the folder itself', withYaml('name: .\ndescription: d'), 2, 'starts with a dot', 'hyphens'],
    ['name with a control character', withYaml('name: "a\\u009b"\ndescription: d'), 2, 'control character', 'hyphens'],
    ['name of half a pair', withYaml('name: "a\\ud83e"\ndescription: d'), 2, 'half a surrogate pair', 'hyphens'],
    ['name of many bytes', withYaml(`name: ${'🦀'.repeat(51)}\ndescription: d`), 2, '204 bytes', 'hyphens'],
    ['empty body', '---\nname: demo\ndescription: d\n---\n', 5, 'body is empty', 'write the instructions'],
    ['blank body', '---\nname: demo\ndescription: d\n---\n \n\t\n', 5, 'body is empty', 'write the instructions'],
    [
      'closing line ends the file',
      '---\nname: demo\ndescription: d\n---',
      4,
      'body is empty',
      'write the instructions',
    ],
  ] as const)('refuses: %s', (_name, text, line, what, fix) => {
    const failure = failureOf(() => readSkill(text, 'skills/demo/SKILL.md'));
    expect(failure.code).toBe('skill');
    expect(failure.where).toBe(`skills/demo/SKILL.md:${line}`);
    expect(failure.what).toContain(what);
    expect(failure.fix).toContain(fix);
  });

  test('lines are counted in CRLF files too', () => {
    const text = withYaml('name: demo\ndescription: Use when: x').replaceAll('\n', '\r\n');
    expect(failureOf(() => readSkill(text)).where).toBe('SKILL.md:3');
  });

  test('an alias bomb is refused, not expanded', () => {
    const rows = Array.from({ length: 12 }, (_, n) => `k${n + 1}: &k${n + 1} [${`*k${n}, `.repeat(9)}*k${n}]`);
    const text = withYaml(['name: demo', 'description: d', 'k0: &k0 [x]', ...rows].join('\n'));
    expect(failureOf(() => readSkill(text)).what).toContain('does not resolve');
  });

  test('arbitrary text either reads or fails as a skill', () => {
    const piece = fc.constantFrom(
      '---',
      '\n',
      '\r\n',
      '\r',
      'name: demo',
      'description: d',
      ': ',
      '"',
      '\uFEFF',
      '- ',
      '&a',
      '*a',
      '\t',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 20 }), (pieces) => {
        const text = pieces.join('');
        try {
          expect(readSkill(text).text).toBe(text);
        } catch (thrown) {
          if (!(thrown instanceof SkilloptError)) throw thrown;
          expect(thrown.failure.code).toBe('skill');
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('decodeSkill', () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text);

  test('gives back every byte, the byte order mark and carriage returns included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, bom) => {
        const bytes = bytesOf(`${bom ? '\uFEFF' : ''}${text.replaceAll('\0', '')}\r\n`);
        expect(bytesOf(decodeSkill(bytes, 'SKILL.md'))).toEqual(bytes);
      }),
    );
  });

  test.each([
    ['a lone continuation byte', [0x61, 0x0a, 0x80, 0x0a], 2],
    ['a cut character at the end', [0x61, 0x0a, 0x62, 0x0a, 0xe2, 0x82], 3],
    ['an encoded surrogate', [0xed, 0xa0, 0x80], 1],
    ['UTF-16', [0xff, 0xfe, 0x2d, 0x00], 1],
  ])('names the line of invalid UTF-8: %s', (_name, bytes, line) => {
    const failure = failureOf(() => decodeSkill(new Uint8Array(bytes), 'a/SKILL.md'));
    expect(failure).toMatchObject({ code: 'skill', where: `a/SKILL.md:${line}`, fix: 'save it as UTF-8' });
  });

  test('refuses NUL with its line', () => {
    expect(failureOf(() => decodeSkill(bytesOf('a\nb\0'), 'SKILL.md'))).toMatchObject({
      what: 'the file holds a NUL character',
      where: 'SKILL.md:2',
    });
  });
});
