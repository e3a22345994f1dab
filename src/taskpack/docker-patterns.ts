import { posix } from 'node:path';

/**
 * A pattern of COPY or .dockerignore (Go's `filepath.Match`: `*`, `?`, `[a-z]`, `\` and, where `deep`, `**`) as a
 * regular expression for whole relative paths. Null when the pattern is malformed.
 */
export function dockerPattern(pattern: string, deep: boolean): RegExp | null {
  let source = '';
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]!;
    if (deep && pattern.startsWith('**/', index)) {
      source += '(?:.*/)?';
      index += 2;
    } else if (deep && pattern.startsWith('**', index)) {
      source += '.*';
      index += 1;
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '\\') {
      index++;
      if (index === pattern.length) return null;
      source += RegExp.escape(pattern[index]!);
    } else if (character === '[') {
      const set = /^\[(\^?)((?:\\.|[^\]\\])+)\]/.exec(pattern.slice(index));
      if (set === null) return null;
      source += `(?!/)[${set[1]}${set[2]!.replace(/[[^]/g, '\\$&')}]`;
      index += set[0].length - 1;
    } else source += RegExp.escape(character);
  }
  try {
    return new RegExp(`^${source}$`, 'us');
  } catch {
    return null;
  }
}

/** Which paths of a build context a .dockerignore leaves out: the last pattern that matches the path or a folder above it decides. */
export function dockerIgnore(text: string): (path: string) => boolean {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.trim())
    .flatMap((line) => {
      const keep = line.startsWith('!');
      const cleaned = posix.normalize(`/${keep ? line.slice(1).trim() : line}`).replace(/^\/+|\/+$/g, '');
      const pattern = cleaned === '' ? null : dockerPattern(cleaned, true);
      return pattern === null ? [] : [{ keep, pattern }];
    });
  return (path) => {
    const parts = path.split('/');
    const here = parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
    const last = rules.findLast((rule) => here.some((prefix) => rule.pattern.test(prefix)));
    return last !== undefined && !last.keep;
  };
}
