import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '../../ports/hash.ts';

/**
 * A folder as it is, without reading its files: a digest over path, kind, permissions, size and time of change of each
 * file, and where links lead. What Python writes beside a module when it runs does not count. Links are not followed.
 */
export function treeDigest(folder: string): string {
  const lines: string[] = [];
  const visit = (path: string, name: string): void => {
    const stat = lstatSync(path);
    if (stat.isDirectory()) {
      lines.push(`${name}/\0${stat.mode & 0o7777}`);
      for (const entry of readdirSync(path).sort()) {
        if (entry !== '__pycache__' && !entry.endsWith('.pyc')) visit(join(path, entry), `${name}/${entry}`);
      }
    } else if (stat.isSymbolicLink()) lines.push(`${name}\0→ ${readlinkSync(path)}`);
    else lines.push(`${name}\0${stat.mode & 0o7777}\0${stat.size}\0${stat.mtimeMs}`);
  };
  visit(folder, '');
  return shortHash(lines.join('\n'), 32);
}
