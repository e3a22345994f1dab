import { sha256 } from '../ports/hash.ts';

/**
 * The instruction as an agent gets it: as Harbor does, leading canary lines (`<!-- … canary … -->`, `# … canary …`,
 * marks against training on benchmarks) and blank lines are taken off.
 */
export function shownInstruction(text: string): string {
  const lines = text.split('\n');
  let start = 0;
  while (start < lines.length && isCanary(lines[start]!.trim())) start++;
  while (start < lines.length && lines[start]!.trim() === '') start++;
  return lines.slice(start).join('\n');
}

function isCanary(line: string): boolean {
  const comment = line.startsWith('#') || (line.startsWith('<!--') && line.endsWith('-->'));
  return comment && /canary/i.test(line);
}

/** Hash of what an instruction says: compatibility forms of characters, case and the kind and number of blanks do not count. */
export function instructionHash(instruction: string): string {
  return sha256(instruction.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim());
}
