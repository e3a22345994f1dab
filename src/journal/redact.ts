import type { Failure } from '../ports/failure.ts';
import type { Outcome } from '../ports/outcome.ts';
import type { Trajectory } from '../ports/trajectory.ts';
import { formNames, type KeyFound, keysByForm, viewOf } from './key-forms.ts';
import { keysByLinter, linterNames } from './key-linter.ts';
import { type Range, spellingsOf } from './spellings.ts';

/** A secret that the session knows by name. */
export type NamedSecret = { readonly name: string; readonly value: string };

/** Takes secrets out of a text: the same text when there are none. Doing it again changes nothing. */
export type Redactor = (text: string) => Promise<string>;

/** A place to redact. The lowest `rank` names places that run into each other. */
type Hit = KeyFound & { readonly rank: number };

/** Shorter values are words of any text. */
const SHORTEST_VALUE = 6;
/** What is left after one round may show something new, seldom more than once. */
const MOST_ROUNDS = 20;

/**
 * Redaction, once, on entry: the values of the secrets known by name (as they are, and as JSON, URLs, HTML, shells and
 * base64 write them), and the known key forms of providers. A redacted place reads `[redacted: NAME]`.
 */
export function makeRedactor(secrets: readonly NamedSecret[]): Redactor {
  const known = secrets
    .map(({ name, value }) => ({ name: name.replace(/[[\]\s]/g, '_'), value: value.replace(/\r\n?/g, '\n').trim() }))
    .filter(({ value }) => value.length >= SHORTEST_VALUE)
    .sort((a, b) => b.value.length - a.value.length);
  const secretsIn = known.map(({ name, value }, rank) => {
    const spellings = spellingsOf(value);
    return (text: string): readonly Hit[] =>
      spellings.flatMap(({ encoded, find }) => find(text).map((range) => ({ ...range, name, rank, word: encoded })));
  });
  const byForm = (found: readonly KeyFound[]) => found.map((key) => ({ ...key, rank: known.length }));
  const names = [...known.map(({ name }) => name), ...formNames, ...linterNames];
  const placeholder = new RegExp(`\\[redacted: (?:${[...new Set(names)].map(RegExp.escape).join('|')})\\]`, 'g');
  return async (text) => {
    let out = text;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const view = viewOf(out);
      const kept = [...out.matchAll(placeholder)].map((m) => ({ from: m.index, to: m.index + m[0].length }));
      const hits = [...secretsIn.flatMap((find) => find(out)), ...byForm(keysByForm(out, view))];
      let next = replaced(out, view, hits, kept);
      if (next === out) next = replaced(out, view, byForm(await keysByLinter(view, kept)), kept);
      if (next === out) break;
      out = next;
    }
    return out;
  };
}

/** Redaction by secrets that turn up one after the other: a login's tokens are renewed while a session runs. */
export class GrowingRedactor {
  readonly #known = new Map<string, NamedSecret>();
  #made: Redactor;

  constructor(secrets: readonly NamedSecret[]) {
    for (const secret of secrets) this.#known.set(secret.value, secret);
    this.#made = makeRedactor(secrets);
  }

  /** From now on it is redacted, also by those that were handed out before. */
  add(secret: NamedSecret): void {
    if (this.#known.has(secret.value)) return;
    this.#known.set(secret.value, secret);
    this.#made = makeRedactor([...this.#known.values()]);
  }

  readonly redact: Redactor = (text) => this.#made(text);
}

/** The text with each hit replaced. Hits inside of a placeholder that stands there already are none. */
function replaced(text: string, view: string, found: readonly Hit[], kept: readonly Range[]): string {
  const hits = outside(
    found.toSorted((a, b) => a.from - b.from || a.rank - b.rank),
    kept,
  );
  let out = '';
  let done = 0;
  for (let at = 0; at < hits.length; ) {
    let { from, to, name, rank } = hits[at]!;
    if (hits[at]!.word) while (from > done && isWord(view.charCodeAt(from - 1), false)) from--;
    let word = false;
    for (; at < hits.length && hits[at]!.from < to; at++) {
      const hit = hits[at]!;
      if (hit.rank < rank) ({ name, rank } = hit);
      word = hit.to > to ? hit.word : word || (hit.word && hit.to === to);
      to = Math.max(to, hit.to);
      while (word && to < view.length && isWord(view.charCodeAt(to), true)) to++;
    }
    out += `${text.slice(done, from)}[redacted: ${name}]`;
    done = to;
  }
  return out + text.slice(done);
}

/** Hits in their order; one that runs over the edge of a placeholder takes all of it. */
function outside(hits: readonly Hit[], kept: readonly Range[]): readonly Hit[] {
  let at = 0;
  return hits.flatMap((hit) => {
    while (at < kept.length && kept[at]!.to <= hit.from) at++;
    const first = kept[at];
    if (first === undefined || first.from >= hit.to) return [hit];
    if (first.from <= hit.from && hit.to <= first.to) return [];
    const last = kept.findLast((range) => range.from < hit.to)!;
    return [{ ...hit, from: Math.min(hit.from, first.from), to: Math.max(hit.to, last.to) }];
  });
}

/** Letters, digits, `-` and `_`; behind a secret also what base64 adds. */
function isWord(code: number, behind: boolean): boolean {
  if ((code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return true;
  return code === 45 || code === 95 || (behind && (code === 43 || code === 47 || code === 61 || code === 126));
}

/** A trajectory with every text redacted. */
export async function redactTrajectory(t: Trajectory, redact: Redactor): Promise<Trajectory> {
  const steps = [];
  for (const s of t.steps) {
    switch (s.kind) {
      case 'tool':
        steps.push({ ...s, input: await redact(s.input), output: await redact(s.output) });
        break;
      case 'message':
      case 'thought':
      case 'note':
        steps.push({ ...s, text: await redact(s.text) });
        break;
      default:
        s satisfies never;
    }
  }
  return {
    ...t,
    steps,
    finalText: await redact(t.finalText),
    verifier: t.verifier === null ? null : { output: await redact(t.verifier.output) },
  };
}

/** A failure whose texts may quote what a provider answered. */
export async function redactFailure(f: Failure, redact: Redactor): Promise<Failure> {
  return { ...f, what: await redact(f.what), where: await redact(f.where), fix: await redact(f.fix) };
}

/** An outcome with every text that a verifier or an agent may have chosen redacted: details, and the names of rewards. */
export async function redactOutcome(o: Outcome, redact: Redactor): Promise<Outcome> {
  if (o.status === 'unscored') return { ...o, detail: await redact(o.detail) };
  const rewards: Record<string, number> = {};
  for (const [name, value] of Object.entries(o.rewards)) rewards[await redact(name)] = value;
  return { ...o, rewards };
}
