import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Applied, type Edit, editOps, editRejections } from '../ports/edit.ts';
import { readSkill } from './document.ts';
import { applyEdit, editView } from './edits.ts';
import { lineEndingStyle, toLf } from './lines.ts';
import { mayHoldFence, parseBlocks, unclosedFences } from './markdown.ts';
import { mayHoldReference, referencesOf } from './references.ts';
import { sameText } from './same-text.ts';
import { skillOps } from './skill-ops.ts';
import { steeringCharacters } from './steering.ts';
import { validateEdited } from './validate.ts';
import { type View, viewOf } from './view.ts';

type Sample = { readonly text: string; readonly head: string };

const bodyLine = fc.oneof(
  fc.constantFrom(
    '# Title',
    '## Rules',
    '### Deep',
    '## Rules ',
    'Setext',
    '=====',
    '---',
    '- item',
    '- item',
    '\t- tabbed',
  ),
  fc.constantFrom(
    '```',
    '```bash',
    '~~~',
    '````',
    'aa',
    'aa',
    'aaa',
    '',
    '',
    '  ',
    'name: demo',
    'description: d',
    '> quote',
  ),
  fc.constantFrom(
    '`scripts/run.py`',
    '[x](references/a.md)',
    '<<<<<<< HEAD',
    '=======',
    'é汉 🦀',
    '🦀🦀',
    '…—→',
    '$& $1',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).map((s) => s.replace(/[\0\r\n]/g, '')),
);
const lineEnds = fc.oneof(
  fc.constant(() => fc.constant('\n')),
  fc.constant(() => fc.constant('\r\n')),
  fc.constant(() => fc.constantFrom('\n', '\r\n')),
  fc.constant(() => fc.constantFrom('\n', '\r\n', '\r')),
);
const headLines = fc
  .array(fc.constantFrom('license: MIT', 'x-aa: aa', '# Rules', 'y-🦀: "é\\n"', 'metadata:', 'allowed-tools: Read'), {
    maxLength: 4,
  })
  .map((more) => ['---', 'name: demo', 'description: d', ...new Set(more), '---']);

const sample: fc.Arbitrary<Sample> = fc
  .record({
    bom: fc.boolean(),
    ends: lineEnds,
    head: headLines,
    lines: fc.array(bodyLine, { minLength: 1, maxLength: 14 }),
    final: fc.boolean(),
  })
  .chain(({ bom, ends, head, lines, final }) =>
    fc.array(ends(), { minLength: head.length + lines.length, maxLength: head.length + lines.length }).map((eol) => {
      const headEol = (n: number) => (eol[n] === '\r' ? '\r\n' : eol[n]!);
      const headText = (bom ? '\uFEFF' : '') + head.map((line, n) => line + headEol(n)).join('');
      const body = lines
        .map((line, n) => line + (n === lines.length - 1 && !final ? '' : eol[head.length + n]!))
        .join('');
      return { head: headText, text: headText + body };
    }),
  )
  .filter(({ head, text }) => text.slice(head.length).trim() !== '');

const content = fc.oneof(
  fc
    .array(bodyLine, { maxLength: 4 })
    .chain((lines) => fc.constantFrom(lines.join('\n'), lines.join('\r\n'), `${lines.join('\n')}\n`)),
  fc.constantFrom('', '\n', ' ', '\0', '\ud83e', 'plain'),
);

/** A piece of a text, by fractions of its length; sometimes cut inside a character, as a careless caller would. */
const pieceOf = (text: string) =>
  fc.tuple(fc.nat(text.length), fc.nat(24)).map(([start, length]) => text.slice(start, start + length));
const wholeLinesOf = (text: string) => {
  const lines = text.split('\n');
  return fc
    .tuple(fc.nat(lines.length - 1), fc.nat(3))
    .map(([from, more]) => lines.slice(from, from + more + 1).join('\n'));
};

const editOf = ({ text, head }: Sample): fc.Arbitrary<Edit> => {
  const body = toLf(text.slice(head.length));
  return fc.record({
    op: fc.constantFrom(...editOps),
    target: fc.oneof(
      { weight: 3, arbitrary: pieceOf(body) },
      { weight: 4, arbitrary: wholeLinesOf(body) },
      { weight: 1, arbitrary: pieceOf(text.slice(head.length)) },
      { weight: 1, arbitrary: pieceOf(head) },
      { weight: 1, arbitrary: fc.oneof(bodyLine, content) },
    ),
    content,
    cites: fc.constant([]),
    reason: fc.constant(''),
  });
};

const sampleAndEdit = sample.chain((document) => fc.tuple(fc.constant(document), editOf(document)));

/** Where a target stands in the body, found on the original itself: the oracle for the program's own matching. */
function placesOf({ text, head }: Sample, target: string): { start: number; end: number }[] {
  if (target === '') return [];
  const unitAt = (at: number) => (text.startsWith('\r\n', at) ? '\r\n' : text.charAt(at));
  const wanted = [...toLf(target).split('')];
  const places: { start: number; end: number }[] = [];
  for (let start = head.length; start < text.length; start += unitAt(start).length) {
    let at = start;
    const fits = wanted.every((unit) => {
      const found = unitAt(at);
      at += found.length;
      return found !== '' && toLf(found) === unit;
    });
    if (fits) places.push({ start, end: at });
  }
  return places;
}

const lineStart = (text: string, at: number) => {
  while (at > 0 && !/[\r\n]/.test(text[at - 1]!)) at -= 1;
  return at;
};
const nextLine = (text: string, at: number) => {
  while (at < text.length && !/[\r\n]/.test(text[at]!)) at += 1;
  return text.startsWith('\r\n', at) ? at + 2 : Math.min(at + 1, text.length);
};

/** `after` is `before` with something put in at exactly this place. */
function expectInsertedAt(before: string, after: string, at: number, inserted: string): void {
  expect(after.length).toBeGreaterThan(before.length);
  expect(after.slice(0, at)).toBe(before.slice(0, at));
  expect(after.slice(after.length - (before.length - at))).toBe(before.slice(at));
  const added = toLf(after.slice(at, after.length - (before.length - at)));
  expect(added.trim()).toBe(toLf(inserted).trim());
}

function expectOnlyTheSpanChanged(document: Sample, edit: Edit, after: string): void {
  const before = document.text;
  const [place] = placesOf(document, edit.target);
  switch (edit.op) {
    case 'replace': {
      const { start, end } = place!;
      expect(after.startsWith(before.slice(0, start))).toBe(true);
      expect(after.endsWith(before.slice(end))).toBe(true);
      const middle = toLf(after.slice(start, after.length - (before.length - end)));
      const wanted = toLf(edit.content);
      expect([wanted, `\n${wanted}`, `${wanted}\n`, `\n${wanted}\n`]).toContain(middle);
      return;
    }
    case 'delete': {
      const { start, end } = place!;
      const from = lineStart(before, start);
      const to = nextLine(before, /[\r\n]/.test(before[end - 1]!) ? end - 1 : end);
      expect(after.startsWith(before.slice(0, from))).toBe(true);
      expect(after.endsWith(before.slice(Math.max(to, end)))).toBe(true);
      const letters = (text: string) => text.replace(/\s/g, '');
      const rest = letters(before.slice(from, start)) + letters(before.slice(end, Math.max(to, end)));
      expect(letters(after.slice(from, after.length - (before.length - Math.max(to, end))))).toBe(rest);
      return;
    }
    case 'insert_after': {
      const { end } = place!;
      const at = /[\r\n]/.test(before[end - 1]!) ? end : nextLine(before, end);
      expectInsertedAt(before, after, at, edit.content);
      return;
    }
    case 'insert_before': {
      const { start, end } = place!;
      const first = /[\r\n]/.test(before[start]!) && nextLine(before, start) < end ? nextLine(before, start) : start;
      expectInsertedAt(before, after, lineStart(before, first), edit.content);
      return;
    }
    case 'append_section': {
      if (edit.target.trim() === '') {
        expectInsertedAt(before, after, before.length, edit.content);
        return;
      }
      let at = 0;
      while (at < before.length && before[at] === after[at]) at += 1;
      const length = after.length - before.length;
      expect(after.endsWith(before.slice(at))).toBe(true);
      const lettersOf = (text: string) => [...text.replace(/\s/g, '')].sort().join('');
      expect(lettersOf(after.slice(at, at + length))).toBe(lettersOf(edit.content));
      return;
    }
    case 'guidance':
      throw new Error('a slow update is not among the edits that are drawn here');
    default: {
      const never: never = edit.op;
      throw new Error(`unknown ${String(never)}`);
    }
  }
}

const runs = { numRuns: 1500 };

describe('for random documents and edits', () => {
  test('bytes outside the edited span never change, the frontmatter least of all', () => {
    let applied = 0;
    fc.assert(
      fc.property(sampleAndEdit, ([document, edit]) => {
        const result = applyEdit(document.text, edit);
        if (!result.ok) return;
        applied += 1;
        expect(result.text.startsWith(document.head)).toBe(true);
        expect(sameText(result.text, document.text)).toBe(false);
        expect(result.text.isWellFormed()).toBe(true);
        expectOnlyTheSpanChanged(document, edit, result.text);
      }),
      runs,
    );
    expect(applied).toBeGreaterThan(100);
  });

  test('every edit ends in exactly one of applied and rejected, with a sentence', () => {
    fc.assert(
      fc.property(sampleAndEdit, ([document, edit]) => {
        const result = applyEdit(document.text, edit);
        if (result.ok) return;
        expect(editRejections).toContain(result.reason);
        expect(result.detail).not.toBe('');
      }),
      runs,
    );
  });

  test('a target that occurs once is found, any other is refused for what it is', () => {
    fc.assert(
      fc.property(sampleAndEdit, ([document, edit]) => {
        fc.pre(
          edit.op !== 'append_section' && (edit.op === 'replace' || edit.op === 'delete' || edit.content.trim() !== ''),
        );
        fc.pre(edit.target.isWellFormed() && edit.content.isWellFormed() && !/\0/.test(edit.target + edit.content));
        const count = placesOf(document, edit.target).length;
        const result = applyEdit(document.text, edit);
        const reason = result.ok ? 'applied' : result.reason;
        if (steeringCharacters(edit.target + edit.content).length > 0) expect(reason).toBe('bad-text');
        else if (count === 1) expect(['applied', 'no-change']).toContain(reason);
        else if (count > 1) expect(reason).toBe('target-ambiguous');
        else expect(['target-missing', 'target-in-frontmatter']).toContain(reason);
        if (reason === 'target-in-frontmatter') expect(toLf(document.text)).toContain(toLf(edit.target));
      }),
      runs,
    );
  });

  test('a file of one line ending stays so, and typing the edit with other line ends makes no difference', () => {
    fc.assert(
      fc.property(sampleAndEdit, ([document, edit]) => {
        const result = applyEdit(document.text, edit);
        const typed = {
          ...edit,
          target: edit.target.replace(/\r?\n/g, '\r\n'),
          content: edit.content.replace(/\r?\n/g, '\r\n'),
        };
        expect(applyEdit(document.text, typed)).toEqual(result);
        const style = lineEndingStyle(document.text);
        if (result.ok && style !== 'mixed') expect(lineEndingStyle(result.text)).toBe(style);
      }),
      runs,
    );
  });

  test('the line ends of a document do not decide whether an edit lands', () => {
    fc.assert(
      fc.property(sampleAndEdit, ([document, edit]) => {
        // A lone carriage return and a line feed that come to stand side by side read as one line end.
        fc.pre(!/\r(?!\n)/.test(document.text));
        const result = applyEdit(document.text, edit);
        const plain = applyEdit(toLf(document.text), edit);
        expect(plain.ok).toBe(result.ok);
        if (plain.ok && result.ok) expect(toLf(result.text)).toBe(plain.text);
        if (!plain.ok && !result.ok) expect(result).toEqual(plain);
      }),
      runs,
    );
  });

  test('applied + rejected = proposed, and what is applied is a valid document with the frontmatter of the seed', () => {
    const documentAndEdits = sample.chain((document) =>
      fc.tuple(fc.constant(document), fc.array(editOf(document), { maxLength: 6 })),
    );
    fc.assert(
      fc.property(documentAndEdits, ([document, edits]) => {
        const options = { bundledFiles: ['scripts/run.py'] };
        const seed = readSkill(document.text);
        const ops = skillOps(document.text, options);
        const applied: Edit[] = [];
        const rejected: Applied[] = [];
        let text = document.text;
        for (const edit of edits) {
          const result = ops.apply(text, edit);
          expect(skillOps(document.text, options).apply(text, edit)).toEqual(result);
          if (result.ok) {
            applied.push(edit);
            text = result.text;
            expect(validateEdited(text, seed, options)).toEqual({ ok: true });
            expect(readSkill(text).fields).toEqual(seed.fields);
          } else rejected.push(result);
        }
        expect(applied.length + rejected.length).toBe(edits.length);
        expect(text.slice(0, document.head.length)).toBe(document.head);
        let replayed = document.text;
        for (const edit of applied) {
          const again = applyEdit(replayed, edit);
          if (again.ok) replayed = again.text;
        }
        expect(replayed).toBe(text);
      }),
      { numRuns: 400 },
    );
  });

  test('any text at all, with or without frontmatter, is answered and never thrown at', () => {
    const anything = fc.string({ unit: 'binary', maxLength: 60 });
    const seed = readSkill('---\nname: demo\ndescription: d\n---\nBody\n');
    const ops = skillOps(seed.text, { bundledFiles: [] });
    const change = fc.record({
      op: fc.constantFrom(...editOps),
      target: anything,
      content: anything,
      cites: fc.constant([]),
      reason: fc.constant(''),
    });
    fc.assert(
      fc.property(
        fc.oneof(
          anything,
          anything.map((t) => seed.text + t),
        ),
        change,
        (text, edit) => {
          expect([true, false]).toContain(applyEdit(text, edit).ok);
          expect([true, false]).toContain(ops.apply(text, edit).ok);
          expect([true, false]).toContain(validateEdited(text, seed, { bundledFiles: [] }).ok);
        },
      ),
      { numRuns: 500 },
    );
  });
});

test('sameText is an equivalence that blanks at line ends do not break', () => {
  fc.assert(
    fc.property(sample, fc.array(fc.constantFrom('', ' ', '\t', '  '), { minLength: 1 }), ({ text }, blanks) => {
      let n = 0;
      const padded = text.replace(/(?=\r\n|(?<!\r)\n)/g, () => blanks[n++ % blanks.length]!);
      expect(sameText(text, padded)).toBe(true);
      expect(sameText(padded, `${text}\n \n`)).toBe(true);
      expect(sameText(text, `${text}\nx`)).toBe(false);
    }),
  );
});

test('sameText is what it says: the lines without the blanks behind them, and without blank lines at the end', () => {
  const plain = (text: string) =>
    toLf(text)
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  const piece = fc.constantFrom('a', 'b', ' ', '\t', '\n', '\r', '\r\n', '\u00a0', '🦀');
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, text, text, (head, a, b) => {
      expect(sameText(head + a, head + b)).toBe(plain(head + a) === plain(head + b));
    }),
    { numRuns: 2000 },
  );
});

test('what is told of an edited text from its change alone is what is seen in it', () => {
  let looked = 0;
  fc.assert(
    fc.property(sampleAndEdit, ([document, edit]) => {
      const before = viewOf(document.text);
      const result = before === null ? null : editView(before, edit);
      if (!result?.ok || result.view === null) return;
      looked += 1;
      const told = result.view;
      const seen = viewOf(result.text)!;
      const facts = ({ lineStarts, crlfEnds, isBlank, blocks: _blocks, signs: _signs, ...rest }: View) => ({
        ...rest,
        lineStarts: lineStarts(),
        crlfEnds: crlfEnds(),
        isBlank: isBlank(),
      });
      expect(facts(told)).toEqual(facts(seen));
      for (const [sign, may] of Object.entries(seen.signs))
        if (may) expect([sign, told.signs]).toMatchObject([sign, { [sign]: true }]);
    }),
    runs,
  );
  expect(looked).toBeGreaterThan(100);
});

test('a body that may hold neither fence nor reference holds none', () => {
  fc.assert(
    fc.property(fc.array(bodyLine, { maxLength: 12 }), (lines) => {
      const body = toLf(lines.join('\n'));
      if (!mayHoldFence(body)) expect(unclosedFences(parseBlocks(body))).toEqual([]);
      if (!mayHoldReference(body)) expect([...referencesOf(parseBlocks(body))]).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});
