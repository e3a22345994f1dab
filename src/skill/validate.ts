import type { EditRejection } from '../ports/edit.ts';
import { SkilloptError } from '../ports/failure.ts';
import { readSkill, type SkillDocument } from './document.ts';
import { countLines, hasBadCharacters, type LineEndingStyle, lineEndingStyle } from './lines.ts';
import { unclosedFences } from './markdown.ts';
import { markerLines } from './markers.ts';
import {
  type KnownReferences,
  namedFiles,
  names,
  newKnownReferences,
  referencesOf,
  relativePath,
  resolves,
} from './references.ts';
import { sameText } from './same-text.ts';
import { sameValue } from './same-value.ts';
import { DEFAULT_MAX_LINES, DEFAULT_MAX_TOKENS, estimateTokens, tokensOf } from './size.ts';
import { codePointName, steeringCharacters } from './steering.ts';
import { bodyOf, type View, viewOf } from './view.ts';

export type ValidateOptions = {
  /** Files that lie beside SKILL.md, relative to it, with forward slashes. */
  readonly bundledFiles: readonly string[];
  /** Most lines of the body; 500 unless given. */
  readonly maxLines?: number;
  /** Most tokens of the body, estimated as characters / 4; 5000 unless given. */
  readonly maxTokens?: number;
  /** A text that the edited one must differ from in more than trailing blanks. */
  readonly incumbent?: string;
};

/** `detail` is a sentence for the optimizer, with line numbers of the whole file. */
export type Validated =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: EditRejection; readonly detail: string };

/** A seed beyond a cap may grow by this factor; its own size is then the measure. */
const ROOM_OF_A_LARGE_SEED = 1.5;

/**
 * Whether an edited SKILL.md may be used in place of its seed: same frontmatter to the byte, a body that is not empty
 * and within the caps, no more open fences than the seed, no leftover markers, no lost and no invented paths, the
 * seed's line ends. Leaked task texts are not looked for here.
 */
export function validateEdited(text: string, seed: SkillDocument, options: ValidateOptions): Validated {
  return validatorFor(seed, options)(text);
}

/** `validateEdited` for many texts of one seed. A view of the text may be handed in when there is one. */
export function validatorFor(
  seed: SkillDocument,
  options: ValidateOptions,
): (text: string, view?: View | null) => Validated {
  const facts = seedFacts(seed, options);
  return (text, known) => {
    const view = known ?? viewOf(text);
    if (view?.signs.badCharacters ?? hasBadCharacters(text))
      return refused('bad-text', 'the text holds a NUL or half a surrogate pair');
    if (view === null || view.head !== facts.head) return frontmatterChanged(text, seed);
    return (
      bodyMissing(view) ??
      steeringAdded(view, facts) ??
      lineEndsChanged(view, seed.lineEnding) ??
      tooLarge(view, facts) ??
      fenceOpened(view, facts) ??
      markerLeft(view, facts) ??
      pathsBroken(view, facts) ??
      unchanged(text, options.incumbent) ?? { ok: true }
    );
  };
}

type SeedFacts = {
  /** All up to the body, byte order mark included. */
  readonly head: string;
  readonly maxLines: number;
  readonly maxTokens: number;
  readonly unclosedFences: number;
  readonly markerKinds: ReadonlySet<string>;
  /** Characters of the seed itself that steer a terminal. */
  readonly steering: ReadonlySet<string>;
  readonly references: ReadonlySet<string>;
  readonly knownReferences: KnownReferences;
  /** Paths in the seed's body that lead to a bundled file. */
  readonly resolved: readonly string[];
  readonly bundled: ReadonlySet<string>;
};

function seedFacts(seed: SkillDocument, options: ValidateOptions): SeedFacts {
  const view = viewOf(seed.text)!;
  const body = bodyOf(view);
  const bundled = new Set(options.bundledFiles.map((file) => relativePath(file) ?? file));
  bundled.delete('SKILL.md');
  const knownReferences = newKnownReferences();
  const references = referencesOf(view.blocks(), knownReferences);
  const resolved = new Set([...references].filter((path) => resolves(path, bundled)));
  for (const file of namedFiles(body, bundled)) resolved.add(file);
  return {
    head: seed.text.slice(0, seed.body.start),
    maxLines: cap(options.maxLines ?? DEFAULT_MAX_LINES, countLines(body)),
    maxTokens: cap(options.maxTokens ?? DEFAULT_MAX_TOKENS, estimateTokens(body)),
    unclosedFences: unclosedFences(view.blocks()).length,
    steering: new Set(steeringCharacters(seed.text).map(({ character }) => character)),
    markerKinds: new Set(markerLines(body).map((m) => m.kind)),
    references,
    knownReferences,
    resolved: [...resolved],
    bundled,
  };
}

function cap(configured: number, ofSeed: number): number {
  return ofSeed > configured ? Math.floor(ofSeed * ROOM_OF_A_LARGE_SEED) : configured;
}

type Refused = Extract<Validated, { readonly ok: false }>;

function refused(reason: EditRejection, detail: string): Refused {
  return { ok: false, reason, detail };
}

function frontmatterChanged(text: string, seed: SkillDocument): Refused {
  let edited: SkillDocument;
  try {
    edited = readSkill(text);
  } catch (thrown) {
    if (!(thrown instanceof SkilloptError)) throw thrown;
    const { what, where, fix } = thrown.failure;
    return refused('invalid-document', `${what} (${where}): ${fix}`);
  }
  if (edited.hasBom !== seed.hasBom) {
    return refused('frontmatter-changed', `the byte order mark was ${seed.hasBom ? 'dropped' : 'added'}`);
  }
  const keys = new Set([...seed.fields.keys(), ...edited.fields.keys()]);
  const changed = [...keys].filter((key) => !sameValue(seed.fields.get(key), edited.fields.get(key)));
  const which = changed.length === 0 ? 'its bytes' : `the keys ${changed.join(', ')}`;
  return refused('frontmatter-changed', `the frontmatter is locked, and ${which} changed: edit the body only`);
}

function bodyMissing(view: View): Refused | null {
  return view.isBlank() ? refused('invalid-document', 'the body would be empty') : null;
}

function steeringAdded(view: View, { steering }: SeedFacts): Refused | null {
  // the frontmatter is the seed's
  if (!view.signs.steering) return null;
  const added = steeringCharacters(view.original).find(({ character }) => !steering.has(character));
  if (added === undefined) return null;
  const place = `line ${added.line} would hold the character ${codePointName(added.character)}`;
  return refused('bad-text', `${place}, which steers a terminal or turns the text around: use plain text`);
}

function lineEndsChanged(view: View, seed: LineEndingStyle): Refused | null {
  if (seed === 'mixed' || seed === 'none' || styleOf(view) === seed) return null;
  return refused('bad-text', `the line ends of the file are ${seed.toUpperCase()}, and the text has others`);
}

function styleOf(view: View): LineEndingStyle {
  if (view.onlyLf) return view.lineCount > 1 ? 'lf' : 'none';
  return lineEndingStyle(view.original);
}

function tooLarge(view: View, { maxLines, maxTokens }: SeedFacts): Refused | null {
  const lines = view.lineCount - view.bodyLine - (view.bodyLength === 0 || view.endsInLf ? 1 : 0);
  if (lines > maxLines) {
    return refused(
      'too-large',
      `the body would have ${lines} lines, more than ${maxLines}: shorten or delete something`,
    );
  }
  const tokens = tokensOf(view.bodyLength);
  if (tokens > maxTokens) {
    const size = `the body would have about ${tokens} tokens, more than ${maxTokens}`;
    return refused('too-large', `${size}: shorten or delete something`);
  }
  return null;
}

function fenceOpened(view: View, facts: SeedFacts): Refused | null {
  if (!view.signs.fence) return null;
  const open = unclosedFences(view.blocks());
  if (open.length <= facts.unclosedFences) return null;
  const lines = open.map((line) => view.bodyLine + line + 1).join(', ');
  return refused(
    'unbalanced-fence',
    `a code fence would stay open (opened in line ${lines}): close it, or nest with more backticks`,
  );
}

function markerLeft(view: View, facts: SeedFacts): Refused | null {
  if (!view.signs.marker) return null;
  const left = markerLines(bodyOf(view)).find((marker) => !facts.markerKinds.has(marker.kind));
  if (left === undefined) return null;
  const line = view.bodyLine + left.line + 1;
  return refused(
    'envelope-markers',
    `line ${line} would be ${left.kind}: give the new text alone, without the marks of an edit format`,
  );
}

function pathsBroken(view: View, facts: SeedFacts): Refused | null {
  const references = view.signs.reference ? referencesOf(view.blocks(), facts.knownReferences) : new Set<string>();
  for (const path of facts.resolved) {
    if (!references.has(path) && !names(bodyOf(view), path, { afterSlash: true })) {
      return refused('path-lost', `the body would no longer name ${path}, a file of the skill: keep a mention of it`);
    }
  }
  for (const path of references) {
    if (!facts.references.has(path) && !resolves(path, facts.bundled)) {
      const known = [...facts.bundled].slice(0, 20).join(', ');
      const hint = known === '' ? 'the skill has no other files' : `the files of the skill are ${known}`;
      return refused('path-unknown', `the body would refer to ${path}, which does not exist; ${hint}`);
    }
  }
  return null;
}

function unchanged(text: string, incumbent: string | undefined): Refused | null {
  if (incumbent === undefined || !sameText(text, incumbent)) return null;
  return refused('no-change', 'the text differs from the current one in trailing blanks at most');
}
