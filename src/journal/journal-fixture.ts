import { fail } from '../ports/failure.ts';
import { sha256 } from '../ports/hash.ts';
import { GENESIS } from './journal.ts';
import { chainHash } from './lines.ts';
import type { Texts } from './texts.ts';

/** Texts in memory, for tests. */
export class TextMemory implements Texts {
  constructor(readonly texts = new Map<string, string>()) {}
  async put(text: string): Promise<string> {
    const hash = sha256(text);
    this.texts.set(hash, text);
    return hash;
  }
  get(hash: string): string {
    const text = this.texts.get(hash);
    if (text === undefined) throw fail('log-broken', 'a text that the log names is missing', hash, 'none');
    return text;
  }
  check(hash: string): 'ok' | 'missing' | 'changed' {
    return this.texts.has(hash) ? 'ok' : 'missing';
  }
}

/** The chain written anew over changed events. */
export function rechain(events: readonly Record<string, unknown>[]): string {
  let prev = GENESIS;
  let out = '';
  for (const [i, event] of events.entries()) {
    const { v: _v, seq: _seq, at, prev: _prev, ...rest } = event;
    const line = `{"v":1,"seq":${i + 1},"at":"${String(at)}","prev":"${prev}",${JSON.stringify(rest).slice(1)}`;
    prev = chainHash(line);
    out += `${line}\n`;
  }
  return out;
}
