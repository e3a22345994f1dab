import type { Applied, Edit } from '../ports/edit.ts';
import type { SkillOps } from '../ports/engine.ts';
import { oneParagraph, readableSkill } from './description.ts';
import { applyDescriptionEdit, validateDescription } from './description-edits.ts';
import { readSkill } from './document.ts';
import { sameText } from './same-text.ts';
import { type SkillOpsOptions, secretRejected, soughtSecrets } from './skill-ops.ts';

/**
 * `skillOps` where the description is what is optimized: edits apply to it alone, and the body is locked. Throws a
 * `skill` failure when the seed itself can't be read; its methods never throw.
 */
export function descriptionOps(seedText: string, options: Pick<SkillOpsOptions, 'secrets'>): SkillOps {
  const seed = readSkill(seedText);
  const secrets = soughtSecrets(options.secrets).map(oneParagraph);
  const held = (text: string) => oneParagraph(readableSkill(text)?.description ?? '');

  const apply = (text: string, edit: Edit): Applied => {
    if (secrets.some((secret) => oneParagraph(edit.content).includes(secret))) return secretRejected;
    const applied = applyDescriptionEdit(text, edit);
    if (!applied.ok) return applied;
    // two halves may meet
    const [before, after] = [held(text), held(applied.text)];
    if (secrets.some((secret) => after.includes(secret) && !before.includes(secret))) return secretRejected;
    const validated = validateDescription(applied.text, seed);
    return validated.ok ? applied : validated;
  };

  return { apply, same: sameText };
}
