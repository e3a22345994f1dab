import type { Range } from './spellings.ts';

/** A key that was found. `word`: all of the unbroken word around it belongs to it. */
export type KeyFound = Range & { readonly name: string; readonly word: boolean };

const escapeSequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences that steer a terminal are what is looked for
  /\\{1,8}(?:u[0-9a-fA-F]{4}|[bfnrtv])|%[0-9A-Fa-f]{2}|\u001b\[[0-9;?]{0,20}[A-Za-z]/g;

/**
 * The text as keys are looked for in it, unit for unit: escapes of JSON, URLs and terminals, which stand before a key
 * without a break, are blank, and so are the comments by which a text would turn the search off.
 */
export function viewOf(text: string): string {
  const view = text.replace(escapeSequence, (found) => (/n$|0a$/i.test(found) ? '\n' : ' ').padStart(found.length));
  return view.includes('secretlint-') ? view.replaceAll('secretlint-', 'secretlint_') : view;
}

/** A known form of key. The key is the whole match, or its group, which ends it. Without a `hint` a text holds none. */
type Form = { readonly name: string; readonly hints: readonly string[]; readonly pattern: RegExp };

const forms: readonly Form[] = [
  { name: 'aws', hints: ['AKIA', 'ASIA'], pattern: /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  {
    name: 'aws',
    hints: ['ecret', 'ECRET', 'oken', 'OKEN'],
    pattern:
      /(?:secret[ _-]?access[ _-]?key|aws[ _-]?secret[ _-]?key|session[ _-]?token)(?: \[[^\]\n]{0,40}\])?["'\s\\:=>]{1,12}([A-Za-z0-9/+=]{40,})/gi,
  },
  { name: 'anthropic', hints: ['sk-ant-'], pattern: /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{20,}/g },
  { name: 'openrouter', hints: ['sk-or-'], pattern: /(?<![A-Za-z0-9])sk-or-v\d-[A-Za-z0-9]{20,}/g },
  {
    name: 'openai',
    hints: ['sk-'],
    pattern: /(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]*\d)[A-Za-z0-9]{32,})/g,
  },
  { name: 'google', hints: ['AIza'], pattern: /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g },
  { name: 'huggingface', hints: ['hf_'], pattern: /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g },
  { name: 'xai', hints: ['xai-'], pattern: /(?<![A-Za-z0-9])xai-[A-Za-z0-9]{30,}/g },
  { name: 'groq', hints: ['gsk_'], pattern: /(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{30,}/g },
  { name: 'jwt', hints: ['eyJ'], pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,}){2,4}/g },
  { name: 'bearer', hints: ['earer', 'EARER'], pattern: /\bbearer[\s:=+]{1,8}([A-Za-z0-9][A-Za-z0-9._~+/=-]{19,})/gi },
  { name: 'password', hints: ['://'], pattern: /:\/\/[^\s/:@]{0,200}:([^\s/@]+)(?=@)/g },
];

/** The names of all forms. */
export const formNames: readonly string[] = [...new Set([...forms.map(({ name }) => name), 'private-key'])];

/** The keys of known forms in a text. Passwords of URLs may hold escapes; all else is looked for in its view. */
export function keysByForm(text: string, view: string): readonly KeyFound[] {
  const found = forms.flatMap(({ name, hints, pattern }) => {
    if (!hints.some((hint) => text.includes(hint))) return [];
    const password = name === 'password';
    return [...(password ? text : view).matchAll(pattern)].map((m) => {
      const to = m.index + m[0].length;
      return { from: to - (m[1] ?? m[0]).length, to, name, word: !password };
    });
  });
  return [...found, ...privateKeys(view)];
}

const marker = /-----(BEGIN|END)[ +]{0,3}(?:[A-Z0-9]{1,20}[ +]{1,3}){0,4}PRIVATE[ +]{1,3}KEY(?:[ +]{1,3}BLOCK)?-----/g;
/** What may follow the first line of a key whose end is cut off: headers, then lines of base64 of which the last is short. */
const cutBody =
  /(?:\s*[A-Z][A-Za-z-]{3,20}: [^\n]{1,200}\n){0,6}(?:[\s"',\\]*[A-Za-z0-9+/=]{16,})+(?:[\s"',\\]{1,8}[A-Za-z0-9+/=]{1,64})?/y;
/** Longer than any private key in use. */
const LONGEST_KEY = 20_000;

/** Private keys in PEM, whole; of those that are cut off, what is left. A first line alone is none. */
function privateKeys(view: string): readonly KeyFound[] {
  if (!view.includes('-----BEGIN') && !view.includes('-----END')) return [];
  const markers = [...view.matchAll(marker)].map((m) => ({ kind: m[1], from: m.index, to: m.index + m[0].length }));
  const key = (from: number, to: number): KeyFound => ({ from, to, name: 'private-key', word: false });
  return markers.flatMap(({ kind, from, to }, at) => {
    const next = markers[at + 1];
    if (kind === 'BEGIN') {
      if (next?.kind === 'END' && next.from - to <= LONGEST_KEY) {
        return /[A-Za-z0-9+/=]{16,}/.test(view.slice(to, next.from)) ? [key(from, next.to)] : [];
      }
      cutBody.lastIndex = to;
      return cutBody.test(view) ? [key(from, cutBody.lastIndex)] : [];
    }
    const before = markers[at - 1];
    if (before?.kind === 'BEGIN' && from - before.to <= LONGEST_KEY) return [];
    const start = startOfBody(view, Math.max(before?.to ?? 0, from - LONGEST_KEY), from);
    return start < from ? [key(start, to)] : [];
  });
}

/** Where the lines of base64 begin that end before `end`; the last of them may be short. */
function startOfBody(view: string, least: number, end: number): number {
  const pieces = [...view.slice(least, end).matchAll(/[^\s"',\\]+/g)];
  let start = end;
  for (let at = pieces.length - 1; at >= 0; at--) {
    const { 0: piece, index } = pieces[at]!;
    if (!/^[A-Za-z0-9+/=]+$/.test(piece) || (piece.length < 16 && at < pieces.length - 1)) break;
    if (piece.length >= 16) start = least + index;
  }
  return start;
}
