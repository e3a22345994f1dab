import { lstatSync } from 'node:fs';
import { join } from 'node:path';

/** As `isPlainBelow`; `base` itself is one. */
export function isPlainFolder(base: string, path: string): boolean {
  return path === base || isPlainBelow(base, path);
}

/** Is every folder from `base` (left out) down to `path` a real one? A link that an agent planted leads elsewhere. */
export function isPlainBelow(base: string, path: string): boolean {
  if (!path.startsWith(`${base}/`)) return false;
  let at = base;
  const names = path.slice(base.length + 1).split('/');
  return names.every((name, index) => {
    at = join(at, name);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    return stat !== undefined && (stat.isDirectory() || (stat.isFile() && index === names.length - 1));
  });
}
