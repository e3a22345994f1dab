import type { LoopResult } from '../engine/loop.ts';
import type { LoopPlan } from '../engine/plan.ts';
import { readLog } from '../journal/journal.ts';
import type { SkillOps } from '../ports/engine.ts';
import type { SkilloptError } from '../ports/failure.ts';
import { skillOps } from '../skill/skill-ops.ts';
import type { OtherDecision } from './ends.ts';
import { diverged } from './logged.ts';

/** The rules of the skill format for this session; what stands redacted in an edit was a secret. */
export function sessionOps(created: {
  readonly skill: { readonly text: string; readonly files: readonly string[] };
}): SkillOps {
  return skillOps(created.skill.text, { bundledFiles: created.skill.files, secrets: ['[redacted: '] });
}

/** Is there something that the sealed test may be opened for? */
export function deliverable(loop: LoopResult, plan: LoopPlan): boolean {
  return loop.text !== plan.seedText && (loop.result === 'improved' || loop.result === 'no-measurable-difference');
}

/** The logged side of a difference is read again by its line, so that replay keeps no texts. */
export function divergence(e: OtherDecision, path: string): SkilloptError {
  for (const { event, body } of readLog(path))
    if (event.seq === e.line) return diverged(e.line, firstDifference(body, e.drawn), body, e.drawn);
  return diverged(e.line, 'another decision', e.type, e.drawn);
}

/** The first field in which two decisions differ. */
function firstDifference(logged: string, drawn: string): string {
  const a = JSON.parse(logged) as Record<string, unknown>;
  const b = JSON.parse(drawn) as Record<string, unknown>;
  if (a.type !== b.type) return `${String(a.type)} stands there, ${String(b.type)} follows from the rest`;
  const field = Object.keys(b).find((k) => JSON.stringify(a[k]) !== JSON.stringify(b[k]));
  return field ? `${String(a.type)}.${field} is not what follows from the rest` : 'the fields stand in another order';
}
