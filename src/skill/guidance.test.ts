import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Edit, editOps } from '../ports/edit.ts';
import { applyEdit } from './edits.ts';
import { GUIDANCE_BEGIN, GUIDANCE_CHARACTERS, GUIDANCE_END, guidanceIn, regionIn } from './guidance.ts';
import { skillOps } from './skill-ops.ts';

const seed = `---
name: notes
description: Writes notes.
---

# Notes

Newest entry first.

## Links

Use relative links.
`;
const guide = (content: string): Edit => ({ op: 'guidance', target: '', content, cites: [], reason: '' });
const edit = (op: Edit['op'], target: string, content = ''): Edit => ({ op, target, content, cites: [], reason: '' });
const text = (base: string, e: Edit): string => {
  const applied = applyEdit(base, e);
  if (!applied.ok) throw new Error(`${applied.reason}: ${applied.detail}`);
  return applied.text;
};
const guided = text(seed, guide('Dates come first.'));

describe('guidance', () => {
  test('stands between its markers at the end of the body, and is replaced as a whole', () => {
    expect(guided).toBe(`${seed}\n${GUIDANCE_BEGIN}\nDates come first.\n${GUIDANCE_END}\n`);
    const other = text(guided, guide('\nLinks come last.\nSay why.\n'));
    expect(other).toBe(`${seed}\n${GUIDANCE_BEGIN}\nLinks come last.\nSay why.\n${GUIDANCE_END}\n`);
    expect([guidanceIn(seed), guidanceIn(guided), guidanceIn(other)]).toEqual([
      '',
      'Dates come first.',
      'Links come last.\nSay why.',
    ]);
  });

  test('keeps the line ends of the document', () => {
    const crlf = text(seed.replaceAll('\n', '\r\n'), guide('One.\nTwo.'));
    expect(crlf).toBe(text(seed, guide('One.\nTwo.')).replaceAll('\n', '\r\n'));
    expect(text(crlf, guide('Three.')).replaceAll('\r\n', '')).not.toContain('\n');
  });

  test('is a sound document for the validator', () => {
    const ops = skillOps(seed, { bundledFiles: [] });
    expect(ops.apply(seed, guide('Dates come first.'))).toEqual({ ok: true, text: guided });
    expect(ops.apply(seed, guide('Run:\n```sh\nls'))).toMatchObject({ ok: false, reason: 'unbalanced-fence' });
    expect(ops.apply(seed, guide('<<<<<<< ours'))).toMatchObject({ ok: false, reason: 'envelope-markers' });
  });

  test.each([
    [seed, '', 'no-change'],
    [guided, 'Dates come first.', 'no-change'],
    [seed, 'x'.repeat(GUIDANCE_CHARACTERS + 1), 'too-large'],
    [seed, `a\n${GUIDANCE_END}\nb`, 'protected'],
    [`${guided}\nMore text.\n`, 'New.', 'protected'],
    [`${seed}\n${GUIDANCE_BEGIN}\n`, 'New.', 'protected'],
    [`${guided}${GUIDANCE_BEGIN}\na\n${GUIDANCE_END}\n`, 'New.', 'protected'],
  ] as const)('%# is refused', (base, content, reason) => {
    expect(applyEdit(base, guide(content))).toMatchObject({ ok: false, reason });
  });
});

describe('other edits', () => {
  test.each([
    ['replace', edit('replace', 'Dates come', 'Links come')],
    ['replace that reaches into it', edit('replace', `Use relative links.\n\n${GUIDANCE_BEGIN}`, 'Links.')],
    ['delete', edit('delete', 'Dates come first.\n')],
    ['delete of a marker', edit('delete', GUIDANCE_END)],
    ['insert_after inside', edit('insert_after', 'Dates come first.', 'More.')],
    ['insert_after the first marker', edit('insert_after', GUIDANCE_BEGIN, 'More.')],
    ['insert_after the last marker', edit('insert_after', GUIDANCE_END, 'More.')],
    ['insert_before inside', edit('insert_before', 'Dates come first.', 'More.')],
    ['a marker in the content', edit('append_section', '', `${GUIDANCE_BEGIN}\nmine\n${GUIDANCE_END}`)],
  ] as const)('%s is refused as protected', (_, e) => {
    expect(applyEdit(guided, e)).toMatchObject({ ok: false, reason: 'protected' });
  });

  test('a section inside the guidance can’t be appended to', () => {
    const withHeading = text(seed, guide('## Order\n\nDates come first.'));
    expect(applyEdit(withHeading, edit('append_section', '## Order', 'More.'))).toMatchObject({ reason: 'protected' });
  });

  test.each([
    ['at the end', edit('append_section', '', '## More\n\nNew.'), '## More\n\nNew.'],
    ['at the end of the last section', edit('append_section', '## Links', 'New.'), 'New.'],
    ['before the first marker', edit('insert_before', GUIDANCE_BEGIN, 'New.'), 'New.'],
    ['after the last line', edit('insert_after', 'Use relative links.', 'New.'), 'New.'],
  ] as const)('what is put %s stands above the guidance', (_, e, added) => {
    const after = text(guided, e);
    expect(after.indexOf(added)).toBeGreaterThan(after.indexOf('Use relative links.'));
    expect(after.indexOf(added)).toBeLessThan(after.indexOf(GUIDANCE_BEGIN));
    expect(guidanceIn(after)).toBe('Dates come first.');
  });

  test('no marker comes about where an edit joins two texts', () => {
    const joined = edit('replace', 't entry first.', 'killopt:guidance:begin -->'); // behind "Newes"
    expect(applyEdit(guided, joined)).toMatchObject({ ok: false, reason: 'protected' });
    expect(applyEdit(seed, joined)).toMatchObject({ ok: false, reason: 'protected' });
    const apart = seed.replace('Newest', 'skillopt:guid-xx-ance:');
    expect(applyEdit(apart, edit('delete', '-xx-'))).toMatchObject({ ok: false, reason: 'protected' });
  });

  test('whatever they do, the guidance stays as it is, whole and at the end', () => {
    const lines = guided.split('\n').slice(4);
    const piece = fc
      .tuple(fc.nat(lines.length - 1), fc.integer({ min: 1, max: 4 }), fc.nat(12), fc.nat(12))
      .map(([from, many, cutStart, cutEnd]) => {
        const whole = lines.slice(from, from + many).join('\n');
        return whole.slice(cutStart, Math.max(cutStart + 1, whole.length - cutEnd));
      });
    const content = fc.oneof(piece, fc.constantFrom('', 'New.', '\n', '# New\n\nText.', '## Links'));
    let applied = 0;
    fc.assert(
      fc.property(fc.constantFrom(...editOps), piece, content, (op, target, inserted) => {
        const result = applyEdit(guided, edit(op, target, inserted));
        if (!result.ok) return;
        applied++;
        const region = regionIn(result.text, 0);
        expect(region).not.toBe('broken');
        expect(guidanceIn(result.text)).toBe('Dates come first.');
      }),
      { numRuns: 2_000 },
    );
    expect(applied).toBeGreaterThan(100);
  });
});
