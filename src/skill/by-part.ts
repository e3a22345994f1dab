import type { Applied, Edit, OptimizedPart } from '../ports/edit.ts';
import type { SkillOps } from '../ports/engine.ts';
import { applyDescriptionEdit } from './description-edits.ts';
import { descriptionOps } from './description-ops.ts';
import { applyEdit } from './edits.ts';
import { type SkillOpsOptions, skillOps } from './skill-ops.ts';

/** How edits of this part of a skill are applied, without validation of the whole. */
export function applierOf(part: OptimizedPart): (text: string, edit: Edit) => Applied {
  switch (part) {
    case 'body':
      return applyEdit;
    case 'description':
      return applyDescriptionEdit;
    default:
      return part satisfies never;
  }
}

/** What the engine does with texts of one seed of which this part is optimized. */
export function opsOf(part: OptimizedPart, seedText: string, options: SkillOpsOptions): SkillOps {
  switch (part) {
    case 'body':
      return skillOps(seedText, options);
    case 'description':
      return descriptionOps(seedText, options);
    default:
      return part satisfies never;
  }
}
