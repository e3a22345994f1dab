import { shownBeginning } from '../../process/half-words.ts';
import type { Loss, LossKind } from './imported.ts';

/** Longest sentence about one loss. */
const MOST_SHOWN = 300;

/** Gathers what could not be carried over. Things that say nothing about tasks are told once each, with their number. */
export class Losses {
  private readonly told: Loss[] = [];
  private readonly unusedSeen = new Map<string, { readonly where: string; readonly why: string; times: number }>();

  left(where: string, what: string, why: string): void {
    this.add('left', where, what, why);
  }

  /** Left with what it belongs to, which is told by itself. */
  leftWith(where: string, what: string, owner: 'test' | 'eval'): void {
    this.told.push({ ...loss('left', where, what, `its ${owner} is left`), follows: true });
  }

  changed(where: string, what: string, why: string): void {
    this.add('changed', where, what, why);
  }

  unused(where: string, what: string, why: string): void {
    const known = this.unusedSeen.get(what);
    if (known === undefined) this.unusedSeen.set(what, { where, why, times: 1 });
    else known.times++;
  }

  all(): readonly Loss[] {
    const unused = [...this.unusedSeen].map(([what, { where, why, times }]) =>
      loss('unused', where, times === 1 ? what : `${what} (${times} times)`, why),
    );
    return [...this.told, ...unused];
  }

  private add(kind: LossKind, where: string, what: string, why: string): void {
    this.told.push(loss(kind, where, what, why));
  }
}

function loss(kind: LossKind, where: string, what: string, why: string): Loss {
  return { kind, where, what: shownBeginning(what, MOST_SHOWN), why: shownBeginning(why, MOST_SHOWN) };
}
