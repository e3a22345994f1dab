import type { Applied, Edit } from '../ports/edit.ts';
import type { SkillOps } from '../ports/engine.ts';
import { readSkill } from './document.ts';
import { editView } from './edits.ts';
import { toLf } from './lines.ts';
import { sameText } from './same-text.ts';
import { type ValidateOptions, validatorFor } from './validate.ts';
import { type Edited, type Splice, type View, viewOf } from './view.ts';

export type SkillOpsOptions = Omit<ValidateOptions, 'incumbent'> & {
  /** Values that no edit may bring into the skill. Values shorter than 4 characters are not looked for. */
  readonly secrets?: readonly string[];
};

const SHORTEST_SECRET = 4;
const VIEWS_KEPT = 32;

/**
 * What the engine does with texts of one seed. The seed is parsed once; views of recent texts are kept, within bounds.
 * Throws a `skill` failure when the seed itself cannot be read; its methods never throw.
 */
export function skillOps(seedText: string, options: SkillOpsOptions): SkillOps {
  const validate = validatorFor(readSkill(seedText), options);
  const secrets = soughtSecrets(options.secrets);
  /** Texts that edits have led to, the newest last: a draft grows out of them. */
  const views: View[] = [];
  const keep = (view: View) => {
    views.push(view);
    if (views.length > VIEWS_KEPT) views.shift();
  };
  /** What was asked for last, which is mostly asked for again. */
  let last: View | null = null;
  const viewOfText = (text: string): View | null => {
    if (last?.original === text) return last;
    last = views.find((view) => view.original === text) ?? viewOf(text);
    return last;
  };

  const apply = (text: string, edit: Edit): Applied => {
    const view = viewOfText(text);
    if (view === null) {
      return { ok: false, reason: 'invalid-document', detail: 'the text has no frontmatter closed by a line "---"' };
    }
    const bringsSecret = secrets.some((secret) => toLf(edit.content).includes(secret));
    if (bringsSecret) return secretRejected;
    const edited = editView(view, edit);
    if (!edited.ok) return edited;
    if (secrets.some((secret) => completes(view, edited, secret))) return secretRejected;
    const validated = validate(edited.text, edited.view);
    if (!validated.ok) return validated;
    if (edited.view !== null) keep(edited.view);
    return { ok: true, text: edited.text };
  };

  return { apply, same: sameText };
}

/** The secrets that are long enough to be looked for, with plain line ends. */
export function soughtSecrets(secrets: readonly string[] = []): readonly string[] {
  return secrets.map(toLf).filter((secret) => secret.trim().length >= SHORTEST_SECRET);
}

/** Two halves may meet: the edit completes a secret that it does not hold alone. */
function completes(before: View, edited: Edited & { readonly splice: Splice }, secret: string): boolean {
  const { plain, onlyLf } = before;
  const { start, end, insert } = edited.splice;
  // where nothing changed none can be new
  const around =
    plain.slice(Math.max(start - secret.length, 0), start) + insert + plain.slice(end, end + secret.length);
  return (onlyLf ? around : toLf(edited.text)).includes(secret) && !plain.includes(secret);
}

/** What becomes of an edit that would bring in a secret. */
export const secretRejected: Applied = {
  ok: false,
  reason: 'secret',
  detail: 'the content holds the value of a known secret: name the environment variable instead',
};
