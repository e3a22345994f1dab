import { readFileSync, type Stats, statSync } from 'node:fs';
import { fail } from '../ports/failure.ts';
import { decodeSkill } from '../skill/document.ts';

/** What lies at a path, links followed; null = nothing. Throws `skill` where that can't be told. */
export function lookAt(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (cause) {
    const code = (cause as { code?: string }).code ?? String(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw fail('skill', `it can’t be read (${code})`, path, 'give the path of a SKILL.md that you may read', { cause });
  }
}

/** The text of a skill’s file. Throws `skill` for what is no file or can’t be read; a pipe would be waited for without end. */
export function readSkillFile(path: string): string {
  if (lookAt(path)?.isFile() === false)
    throw fail('skill', 'it is no file', path, 'give the path of a SKILL.md, a regular file');
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const code = (cause as { code?: string }).code ?? String(cause);
    throw fail('skill', `it can’t be read (${code})`, path, 'make it a file that you may read', { cause });
  }
  return decodeSkill(bytes, path);
}
