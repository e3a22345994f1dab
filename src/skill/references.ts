import { BoundedCache } from './bounded-cache.ts';
import { type Blocks, type InlineParts, parseInline } from './markdown.ts';

/** Folders of a skill whose files are named in inline code. */
const BUNDLE_FOLDERS = /^(?:scripts|references|assets)\//;
const MENTIONS_BUNDLE_FOLDER = /(?:scripts|references|assets)\//;

/**
 * The relative paths that a body refers to: targets of links and images that look like a path, and words of inline
 * code under scripts/, references/ and assets/. Placeholders, patterns, URLs and absolute paths are no references.
 */
export function referencesOf(blocks: Blocks, known: KnownReferences = newKnownReferences()): ReadonlySet<string> {
  const found = new Set<string>(pathsOfTargets(blocks.definitions));
  for (const token of blocks.tokens) {
    if (token.type !== 'inline') continue;
    const { content } = token;
    if (!content.includes('](') && !MENTIONS_BUNDLE_FOLDER.test(content)) continue;
    for (const path of known.getOrMake(content, () => pathsOf(parseInline(content)))) found.add(path);
  }
  return found;
}

/** False when `referencesOf` finds nothing in the body, so that it need not be parsed to know. */
export function mayHoldReference(lfBody: string): boolean {
  return ['](', ']:', 'scripts/', 'references/', 'assets/'].some((sign) => lfBody.includes(sign));
}

/** References by inline content, kept from text to text: edited texts share most of their paragraphs. */
export type KnownReferences = BoundedCache<string, readonly string[]>;

const CONTENTS_KEPT = 2000;

export function newKnownReferences(): KnownReferences {
  return new BoundedCache(CONTENTS_KEPT);
}

function pathsOf(parts: InlineParts): string[] {
  return [...pathsOfTargets(parts.targets), ...parts.code.flatMap(pathsOfCode)];
}

function pathsOfTargets(targets: readonly string[]): string[] {
  const paths = targets.map((target) => relativePath(decoded(target.replace(/[?#].*$/s, ''))));
  return paths.filter((path) => path !== null && looksLikePath(path)) as string[];
}

function pathsOfCode(code: string): string[] {
  if (!MENTIONS_BUNDLE_FOLDER.test(code)) return [];
  const paths = code.split(/[\s"'()=,;|&]+/).map((word) => relativePath(word.replace(/[.:!?]+$/, '')));
  return paths.filter((path) => path !== null && BUNDLE_FOLDERS.test(path)) as string[];
}

/** A file, or a folder that holds one, of those bundled. */
export function resolves(path: string, bundled: ReadonlySet<string>): boolean {
  if (bundled.has(path) || path === 'SKILL.md') return true;
  const folder = path.endsWith('/') ? path : `${path}/`;
  for (const file of bundled) if (file.startsWith(folder)) return true;
  return false;
}

/** The bundled files that a text names, in whatever form: a link, a command in a code block, plain prose. */
export function namedFiles(lfBody: string, bundled: ReadonlySet<string>): ReadonlySet<string> {
  const named = new Set<string>();
  for (const file of bundled) {
    // A bare word such as README says too little to be taken for a file.
    if (/[/.]/.test(file) && names(lfBody, file, { afterSlash: false })) named.add(file);
  }
  return named;
}

/** True when `path` stands in the text as a path of its own. `afterSlash` also takes the end of a longer path for it. */
export function names(text: string, path: string, { afterSlash }: { readonly afterSlash: boolean }): boolean {
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const before = text.slice(Math.max(at - 3, 0), at);
    const after = text.slice(at + path.length, at + path.length + 2);
    const opens =
      !/[\w./-]$/.test(before) || /(?:^|[^.])\.\/$|\}\/$/.test(before) || (afterSlash && /\/$/.test(before));
    const closes = path.endsWith('/') || !/^(?:[\w/-]|\.\w)/.test(after);
    if (opens && closes) return true;
  }
  return false;
}

/** Forward slashes, without `./` and inner `..`; null for what is not a plain relative path. */
export function relativePath(written: string): string | null {
  if (written === '' || /^(?:[a-z][a-z0-9+.-]*:|[/\\~#])/i.test(written) || /[<>{}$*|…]|\.\.\./.test(written))
    return null;
  const parts: string[] = [];
  for (const part of written.split('/')) {
    if (part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  const path = parts.join('/').replace(/\/{2,}/g, '/');
  return path === '' || path === '/' ? null : path;
}

function looksLikePath(path: string): boolean {
  return path.includes('/') || /\.[A-Za-z0-9]{1,8}$/.test(path);
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
