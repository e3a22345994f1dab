import type { Applied, Edit, EditRejection } from '../ports/edit.ts';
import { oneParagraph, readableSkill, sameFieldsBeside, withDescription } from './description.ts';
import { DESCRIPTION_CAP, readSkill, type SkillDocument } from './document.ts';
import { badTextOf } from './edits.ts';
import { sameText } from './same-text.ts';
import type { Validated } from './validate.ts';

type Rejected = Extract<Applied, { readonly ok: false }>;
/** What a description would become. */
type Planned = { readonly ok: true; readonly value: string } | Rejected;

/**
 * Applies one edit to the description of a SKILL.md, taken as one paragraph. `replace` and `delete` change the target
 * itself, the inserting ones put words before or behind it, `append_section` (its target empty) puts them at the end.
 * Blanks between words are looked after; line ends are blanks. Never throws; all bytes but those of the description's
 * value stay. Rules of length and signs are those of `descriptionProblem`, measured against the text before.
 */
export function applyDescriptionEdit(text: string, edit: Edit): Applied {
  const badText = badTextOf('content', edit.content) ?? badTextOf('target', edit.target);
  if (badText !== null) return rejected('bad-text', badText);
  const before = readableSkill(text);
  if (before === null) return rejected('invalid-document', 'the text has no frontmatter that can be read');
  const value = oneParagraph(before.description);
  const planned = plan(value, edit.op, oneParagraph(edit.target), oneParagraph(edit.content), text);
  if (!planned.ok) return planned;
  if (planned.value === value) return rejected('no-change', 'the description would stay the same');
  const problem = descriptionProblem(planned.value, before.description);
  if (problem !== null) return problem;
  const edited = withDescription(text, planned.value);
  if (edited !== null) return { ok: true, text: edited };
  return rejected('invalid-document', 'the frontmatter is written in a way in which its description can’t be changed');
}

/**
 * Whether an edited SKILL.md may be used in place of its seed where the description is what is optimized: the same
 * fields beside it and the same body to the byte, a description within the format's rules.
 */
export function validateDescription(text: string, seed: SkillDocument, incumbent?: string): Validated {
  const edited = readableSkill(text);
  if (edited === null) return rejected('invalid-document', 'the frontmatter can’t be read any more');
  if (text.slice(edited.body.start) !== seed.text.slice(seed.body.start))
    return rejected('frontmatter-changed', 'the body is locked, and it changed: edit the description only');
  if (edited.hasBom !== seed.hasBom || !sameFieldsBeside(edited, seed))
    return rejected('frontmatter-changed', 'another part of the frontmatter changed: edit the description only');
  const problem = descriptionProblem(edited.description, seed.description);
  if (problem !== null) return problem;
  if (incumbent !== undefined && sameText(text, incumbent)) return rejected('no-change', 'the text stays the same');
  return { ok: true };
}

/** Why a description can't be used; null = it can. What the one before held already is no fault. */
export function descriptionProblem(description: string, before: string): Rejected | null {
  if (description === '') return rejected('invalid-document', 'the description would be empty');
  const length = [...description].length;
  if (length > DESCRIPTION_CAP)
    return rejected(
      'too-large',
      `the description would have ${length} characters, more than ${DESCRIPTION_CAP}: shorten it`,
    );
  const sign = forbidden.find(({ is }) => is.test(description) && !is.test(before));
  return sign === undefined ? null : rejected('bad-text', `the description would hold ${sign.what}`);
}

const forbidden = [
  { is: /[<>]/, what: '"<" or ">", which agents don’t take in a description: use words' },
  { is: /---/, what: '"---", which many agents take for the end of the frontmatter: use another dash' },
  { is: /[\ufffe\uffff]/, what: 'a character that is none' },
];

function rejected(reason: EditRejection, detail: string): Rejected {
  return { ok: false, reason, detail };
}

const planned = (...parts: readonly string[]): Planned => ({ ok: true, value: oneParagraph(parts.join('')) });

function plan(value: string, op: Edit['op'], target: string, content: string, text: string): Planned {
  const at = (use: (start: number, end: number) => Planned) => {
    const start = placeOf(value, target, text);
    return typeof start === 'number' ? use(start, start + target.length) : start;
  };
  if (content === '' && op !== 'delete' && op !== 'replace')
    return rejected('no-change', 'the content is empty: there is nothing to insert');
  if (op !== 'delete' && op !== 'replace' && content.includes(' ') && value.includes(content))
    return rejected('no-change', 'the description holds these words already');
  switch (op) {
    case 'replace':
      return at((start, end) =>
        content === '' ? without(value, start, end) : planned(value.slice(0, start), content, value.slice(end)),
      );
    case 'delete':
      return at((start, end) => without(value, start, end));
    case 'insert_after':
      return at((_, end) => inserted(value, end + wordLength(value.slice(end), /^[\p{L}\p{N}]*/u), content));
    case 'insert_before':
      return at((start) => inserted(value, start - wordLength(value.slice(0, start), /[\p{L}\p{N}]*$/u), content));
    case 'append_section':
      if (target !== '')
        return rejected('target-missing', 'words are appended at the end of the description: leave the target empty');
      return inserted(value, value.length, content);
    case 'guidance':
      return rejected('protected', 'guidance stands in the body, and the description alone is edited here');
    default:
      return op satisfies never;
  }
}

/** Letters of the word that a place would cut: nothing is inserted within a word. */
const wordLength = (text: string, rest: RegExp): number => (rest.exec(text)?.[0] ?? '').length;

/** Where the target stands, once and nowhere else. */
function placeOf(value: string, target: string, text: string): number | Rejected {
  if (target === '') return rejected('target-missing', 'the target is empty: quote words of the description');
  const start = value.indexOf(target);
  if (start === -1) {
    const elsewhere = oneParagraph(text).includes(target) ? 'it stands elsewhere in the file, which is locked; ' : '';
    return rejected(
      'target-missing',
      `the target does not occur in the description; ${elsewhere}the description is: ${JSON.stringify(value)}`,
    );
  }
  if (value.indexOf(target, start + 1) === -1) return start;
  return rejected(
    'target-ambiguous',
    'the target occurs more than once in the description: quote more of the words around the one that is meant',
  );
}

const closing = /^[,.;:!?)]/;

function without(value: string, start: number, end: number): Planned {
  const left = value.slice(0, start);
  const right = value.slice(end);
  return planned(closing.test(right) ? left.trimEnd() : left, right);
}

/** Words at a place, with blanks on either side where there are none and words meet. */
function inserted(value: string, at: number, content: string): Planned {
  const left = value.slice(0, at);
  const right = value.slice(at);
  const lead = left === '' || closing.test(content) ? '' : ' ';
  const tail = right === '' || closing.test(right) ? '' : ' ';
  return planned(left, lead, content, tail, right);
}

/**
 * The edit that leads from the description of one SKILL.md to that of another; null when they are the same as paragraphs.
 * Throws what `readSkill` throws.
 */
export function descriptionEditBetween(
  before: string,
  after: string,
  said: Pick<Edit, 'cites' | 'reason'>,
): Edit | null {
  const [target, content] = [before, after].map((text) => oneParagraph(readSkill(text).description));
  if (target === undefined || content === undefined || target === content) return null;
  return { op: 'replace', target, content, ...said };
}
