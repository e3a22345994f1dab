import type { SkillDocument } from './document.ts';
import { skillFindings } from './findings.ts';

/**
 * What some client or validator dislikes in a seed that loads all the same, one sentence each without a period.
 * `directoryName` = name of the folder that holds the SKILL.md.
 */
export function seedWarnings(document: SkillDocument, directoryName: string): string[] {
  return skillFindings(document, directoryName).map((finding) => finding.what);
}
