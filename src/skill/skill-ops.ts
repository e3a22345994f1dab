import type { Applied, Edit } from '../ports/edit.ts';
import type { SkillOps } from '../ports/engine.ts';
import { readSkill } from './document.ts';
import { editView } from './edits.ts';
import { toLf } from './lines.ts';
import { sameText } from './same-text.ts';
import { type ValidateOptions, validatorFor } from './validate.ts';
import { type Splice, type View, viewOf } from './view.ts';

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
  const secrets = (options.secrets ?? []).map(toLf).filter((secret) => secret.trim().length >= SHORTEST_SECRET);
  /** Texts that edits were applied to and those that came of it, the newest last: a draft grows out of them. */
  const views: View[] = [];
  const keep = (view: View) => {
    views.push(view);
    if (views.length > VIEWS_KEPT) views.shift();
    return view;
  };
  const viewOfText = (text: string): View | null => {
    const known = views.findLast((view) => view.original === text);
    if (known !== undefined) return known;
    const view = viewOf(text);
    return view === null ? null : keep(view);
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
    if (secrets.some((secret) => meetsAt(edited.view, edited.splice, secret) && !view.plain.includes(secret))) {
      return secretRejected;
    }
    const { original } = edited.view;
    const validated = validate(original, edited.view);
    if (!validated.ok) return validated;
    keep(edited.view);
    return { ok: true, text: original };
  };

  return { apply, same: sameText };
}

/** Two halves may meet: the edit completes a secret that it does not hold alone. Where nothing changed none can be new. */
function meetsAt({ plain }: View, { start, insert }: Splice, secret: string): boolean {
  return plain.slice(Math.max(start - secret.length, 0), start + insert.length + secret.length).includes(secret);
}

const secretRejected: Applied = {
  ok: false,
  reason: 'secret',
  detail: 'the content holds the value of a known secret: name the environment variable instead',
};
