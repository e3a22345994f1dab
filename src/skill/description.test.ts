import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Edit, EditOp } from '../ports/edit.ts';
import { descriptionPlace, oneParagraph, withDescription } from './description.ts';
import { applyDescriptionEdit, validateDescription } from './description-edits.ts';
import { descriptionOps } from './description-ops.ts';
import { readSkill } from './document.ts';

/** Ways to write the frontmatter around a description; `\n` may become CRLF. */
const heads: readonly string[] = [
  'name: demo\ndescription: Reads CSV files.\nlicense: MIT\n',
  '# first\nname: demo\ndescription: Reads   CSV files. # a remark\nmetadata: {a: "1", b: two}\n',
  'description: Reads CSV\n  files.\nname: demo\n',
  'name: demo\ndescription:\n  Reads CSV\n  files.\n',
  "name: demo\ndescription: 'Reads CSV files.'\nx: y\n",
  'name: demo\ndescription: "Reads CSV\n  files."   # a remark\n',
  'name: demo\ndescription: >-\n  Reads CSV\n  files.\n\nx: y\n',
  'name: demo\ndescription: >\n    Reads CSV files.\nx: y\n',
  'name: demo\ndescription: |+ # a remark\n  Reads CSV\n  files.\n\n\n',
  'name: demo\ndescription: >2-\n  Reads CSV files.\n',
  '{name: demo, description: Reads CSV files., z: [1, 2]}\n',
  'name: demo\n? description\n: Reads CSV files.\n',
  'name: demo\ndescription: &d Reads CSV files.\n',
  'name: demo\ndescription: !!str Reads CSV files.\n',
];
const BODY = '# Demo\n\ndescription: not this one\n---\nReads CSV files.\n';
const documentOf = (head: string, crlf = false, bom = false) => {
  const text = `---\n${head}---\n${BODY}`;
  return (bom ? '\uFEFF' : '') + (crlf ? text.replaceAll('\n', '\r\n') : text);
};

/** Descriptions of all that may stand in one, with what troubles YAML more often than chance would. */
const troubling = [': ', ' #', '#', "'", '"', '\\', '- ', '? ', '*', '&', '!', '%', '@', '`', '|', '{', '}', '[', ']'];
const words = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('use', 'CSV', 'yes', 'null', '12', '1e3', '汉', '🦀', 'é', ',', ':', '~', '='),
  },
  { weight: 2, arbitrary: fc.constantFrom(...troubling) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
);
const descriptions = fc
  .array(words, { minLength: 1, maxLength: 60 })
  .chain((list) => fc.constantFrom('', ' ').map((between) => oneParagraph(list.join(between))))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these may not stand in a description
  .filter((d) => d !== '' && !/[<>\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|---/.test(d));

describe('withDescription', () => {
  test('any description reads back, and all else keeps its bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...heads), descriptions, fc.boolean(), fc.boolean(), (head, wanted, crlf, bom) => {
        const before = documentOf(head, crlf, bom);
        const after = withDescription(before, wanted);
        if (after === null) throw new Error('it could not be written');
        expect(readSkill(after).description).toBe(wanted);
        const [was, is] = [descriptionPlace(before), descriptionPlace(after)];
        if (was === null || is === null) throw new Error('no place');
        expect(after.slice(0, is.start)).toBe(before.slice(0, was.start));
        expect(after.slice(is.end)).toBe(before.slice(was.end));
        expect(validateDescription(after, readSkill(before))).toEqual({ ok: true });
      }),
      { numRuns: 1_500 },
    );
  });

  test('another parser reads the same', () => {
    fc.assert(
      fc.property(fc.constantFrom(...heads.slice(0, 5)), descriptions, (head, wanted) => {
        const after = withDescription(documentOf(head), wanted) ?? '';
        const yaml = after.slice(4, after.indexOf('\n---\n'));
        // a schema in which far more words are no texts
        expect(oneParagraph(String((parse(yaml, { version: '1.1' }) as { description: unknown }).description))).toBe(
          wanted,
        );
      }),
    );
  });

  test.each([
    ['plain', heads[0]!, 'Reads TSV files.', 'description: Reads TSV files.\n'],
    ['plain with a remark', heads[1]!, 'Reads TSV files.', 'description: Reads TSV files. # a remark\n'],
    ['plain that can’t stay so', heads[0]!, 'Reads: TSV "files".', 'description: "Reads: TSV \\"files\\"."\n'],
    ['a word that is none', heads[0]!, 'yes', 'description: "yes"\n'],
    ['single quotes', heads[4]!, "Reads Ann's: files", "description: 'Reads Ann''s: files'\n"],
    ['a block', heads[6]!, 'Reads: TSV #files.', 'description: >-\n  Reads: TSV #files.\n\nx: y\n'],
    [
      'a block with its width',
      heads[7]!,
      `${'word '.repeat(20).trim()}`,
      `description: >\n    ${'word '.repeat(12).trim()}\n    ${'word '.repeat(8).trim()}\nx: y\n`,
    ],
    ['a flow map', heads[10]!, 'Reads a, b', '{name: demo, description: "Reads a, b", z: [1, 2]}\n'],
  ])('%s', (_name, head, wanted, expected) => {
    const after = withDescription(documentOf(head), wanted);
    expect(after).toContain(expected);
  });

  test('an alias, and a value that others refer to, are left alone', () => {
    const alias = documentOf('x: &d Reads CSV files.\nname: demo\ndescription: *d\n');
    const named = documentOf('name: demo\ndescription: &d Reads CSV files.\nx: *d\n');
    expect(withDescription(alias, 'Reads TSV files.')).toBeNull();
    expect(withDescription(named, 'Reads TSV files.')).toBeNull();
  });
});

const edit = (op: EditOp, target: string, content = ''): Edit => ({ op, target, content, cites: [], reason: '' });
const SEED = documentOf('name: demo\ndescription: Reads CSV files, tables too. Use it for CSV.\n');

describe('applyDescriptionEdit', () => {
  test.each([
    [
      'replace',
      edit('replace', 'CSV files', 'TSV and CSV files'),
      'Reads TSV and CSV files, tables too. Use it for CSV.',
    ],
    ['replace by nothing', edit('replace', ', tables too'), 'Reads CSV files. Use it for CSV.'],
    ['delete', edit('delete', 'tables too'), 'Reads CSV files,. Use it for CSV.'],
    ['delete words before a comma', edit('delete', 'files'), 'Reads CSV, tables too. Use it for CSV.'],
    [
      'insert after',
      edit('insert_after', 'tables too', 'and lists'),
      'Reads CSV files, tables too and lists. Use it for CSV.',
    ],
    [
      'insert after a part of a word',
      edit('insert_after', 'table', 'and lists'),
      'Reads CSV files, tables and lists too. Use it for CSV.',
    ],
    ['insert a clause', edit('insert_after', 'files', ', logs'), 'Reads CSV files, logs, tables too. Use it for CSV.'],
    ['insert before', edit('insert_before', 'Use it', 'Fast.'), 'Reads CSV files, tables too. Fast. Use it for CSV.'],
    [
      'append',
      edit('append_section', '', 'Not for\n  PDFs.'),
      'Reads CSV files, tables too. Use it for CSV. Not for PDFs.',
    ],
    ['line ends in the target', edit('replace', 'tables\n too', 'lists'), 'Reads CSV files, lists. Use it for CSV.'],
  ])('%s', (_name, change, expected) => {
    const applied = applyDescriptionEdit(SEED, change);
    if (!applied.ok) throw new Error(applied.detail);
    expect(readSkill(applied.text).description).toBe(expected);
    expect(applied.text.endsWith(BODY)).toBe(true);
  });

  test.each([
    ['a target that is not there', edit('replace', 'PDF', 'x'), 'target-missing', 'the description is: "Reads CSV'],
    ['a target in the body', edit('replace', '# Demo', 'x'), 'target-missing', 'elsewhere in the file'],
    ['a target twice', edit('replace', 'CSV', 'x'), 'target-ambiguous', 'more than once'],
    ['no target', edit('replace', '', 'x'), 'target-missing', 'empty'],
    [
      'an appended text with a target',
      edit('append_section', '# Demo', 'x'),
      'target-missing',
      'leave the target empty',
    ],
    ['nothing to insert', edit('insert_after', 'files', ' \n'), 'no-change', 'empty'],
    ['what it says already', edit('append_section', '', 'tables\n too'), 'no-change', 'holds these words'],
    ['the same', edit('replace', 'files', 'files'), 'no-change', 'the same'],
    ['nothing left', edit('delete', 'Reads CSV files, tables too. Use it for CSV.'), 'invalid-document', 'empty'],
    ['too long', edit('append_section', '', '🦀'.repeat(1_000)), 'too-large', 'more than 1024'],
    ['a tag', edit('append_section', '', '<b>'), 'bad-text', '"<"'],
    ['an end of the frontmatter', edit('append_section', '', 'a --- b'), 'bad-text', '"---"'],
    ['a NUL', edit('append_section', '', 'a\0b'), 'bad-text', 'NUL'],
    ['what turns the text around', edit('append_section', '', 'a\u202eb'), 'bad-text', 'U+202E'],
  ])('%s is refused', (_name, change, reason, detail) => {
    const applied = applyDescriptionEdit(SEED, change);
    if (applied.ok) throw new Error(applied.text);
    expect(applied.reason).toBe(reason as never);
    expect(applied.detail).toContain(detail);
  });

  test('counts code points, as the format does', () => {
    const room = 1_024 - [...readSkill(SEED).description].length - 1;
    expect(applyDescriptionEdit(SEED, edit('append_section', '', '🦀'.repeat(room))).ok).toBe(true);
    expect(applyDescriptionEdit(SEED, edit('append_section', '', '🦀'.repeat(room + 1))).ok).toBe(false);
  });

  test('signs that the seed has stay', () => {
    const tagged = documentOf("name: demo\ndescription: 'Reads <table> tags.'\n");
    expect(applyDescriptionEdit(tagged, edit('insert_after', 'tags', 'and lists')).ok).toBe(true);
  });
});

describe('validateDescription', () => {
  const seed = readSkill(SEED);
  test.each([
    ['the body', SEED.replace('# Demo', '# Other'), 'the body is locked'],
    ['the name', SEED.replace('name: demo', 'name: other'), 'another part of the frontmatter'],
    ['a new key', SEED.replace('name: demo', 'name: demo\nx: y'), 'another part of the frontmatter'],
    ['a byte order mark', `\uFEFF${SEED}`, 'another part of the frontmatter'],
    ['no frontmatter', BODY, 'can’t be read'],
  ])('refuses a change of %s', (_name, text, detail) => {
    const validated = validateDescription(text, seed);
    expect(validated).toMatchObject({ ok: false, detail: expect.stringContaining(detail) });
  });
});

describe('descriptionOps', () => {
  test('an edit may not bring in a secret, nor complete one', () => {
    const ops = descriptionOps(SEED, { secrets: ['hunter2 and more'] });
    expect(ops.apply(SEED, edit('append_section', '', 'hunter2 and more'))).toMatchObject({ reason: 'secret' });
    const half = ops.apply(SEED, edit('append_section', '', 'hunter2'));
    if (!half.ok) throw new Error(half.detail);
    expect(ops.apply(half.text, edit('append_section', '', 'and more'))).toMatchObject({ reason: 'secret' });
    expect(ops.apply(half.text, edit('append_section', '', 'and less')).ok).toBe(true);
  });

  test('edits grow together on one description', () => {
    const ops = descriptionOps(SEED, {});
    const one = ops.apply(SEED, edit('replace', 'tables too', 'TSV too'));
    if (!one.ok) throw new Error(one.detail);
    const two = ops.apply(one.text, edit('append_section', '', 'Not for PDFs.'));
    if (!two.ok) throw new Error(two.detail);
    expect(readSkill(two.text).description).toBe('Reads CSV files, TSV too. Use it for CSV. Not for PDFs.');
    expect(ops.apply(two.text, edit('replace', 'tables too', 'lists'))).toMatchObject({ reason: 'target-missing' });
  });
});
