import { type Applied, type Edit, editIdentity } from '../ports/edit.ts';
import type { SkillOps } from '../ports/engine.ts';
import { BoundedCache } from './bounded-cache.ts';
import { readSkill } from './document.ts';
import { applyToView } from './edits.ts';
import { toLf } from './lines.ts';
import { sameText } from './same-text.ts';
import { type ValidateOptions, validatorFor } from './validate.ts';
import { type View, viewOf } from './view.ts';

export type SkillOpsOptions = Omit<ValidateOptions, 'incumbent'> & {
  /** Values that no edit may bring into the skill. Values shorter than 4 characters are not looked for. */
  readonly secrets?: readonly string[];
};

const SHORTEST_SECRET = 4;
const VIEWS_KEPT = 64;
const TEXTS_KEPT = 4;
const RESULTS_KEPT = 64;

/**
 * What the engine does with texts of one seed. The seed is parsed once; recent texts and results are kept, within
 * bounds. Throws a `skill` failure when the seed itself cannot be read; its methods never throw.
 */
export function skillOps(seedText: string, options: SkillOpsOptions): SkillOps {
  const validate = validatorFor(readSkill(seedText), options);
  const secrets = (options.secrets ?? []).map(toLf).filter((secret) => secret.trim().length >= SHORTEST_SECRET);
  const views = new BoundedCache<string, View | null>(VIEWS_KEPT);
  /** By text, then by edit: a text that is asked for again is hashed only once. */
  const results = new BoundedCache<string, BoundedCache<string, Applied>>(TEXTS_KEPT);
  const viewOfText = (text: string) => views.getOrMake(text, () => viewOf(text));

  const apply = (text: string, edit: Edit): Applied => {
    const view = viewOfText(text);
    if (view === null) {
      return { ok: false, reason: 'invalid-document', detail: 'the text has no frontmatter closed by a line "---"' };
    }
    const bringsSecret = secrets.some((secret) => toLf(edit.content).includes(secret));
    if (bringsSecret) return secretRejected;
    const applied = applyToView(view, edit);
    if (!applied.ok) return applied;
    const edited = viewOfText(applied.text);
    // Two halves may meet: the edit completes a secret that it does not hold alone.
    if (edited !== null && secrets.some((s) => edited.plain.includes(s) && !view.plain.includes(s))) {
      return secretRejected;
    }
    const validated = validate(applied.text, edited);
    return validated.ok ? applied : validated;
  };

  return {
    apply: (text, edit) =>
      results
        .getOrMake(text, () => new BoundedCache(RESULTS_KEPT))
        .getOrMake(editIdentity(edit), () => apply(text, edit)),
    same: sameText,
  };
}

const secretRejected: Applied = {
  ok: false,
  reason: 'secret',
  detail: 'the content holds the value of a known secret: name the environment variable instead',
};
