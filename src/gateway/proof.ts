import type { Reading } from '../ports/outcome.ts';
import { distinctiveChars, distinctiveLines, linesForProof, plain } from '../skill/distinctive.ts';
import { textsOf } from './request-texts.ts';

/** Agents cut long descriptions: a beginning of this length says enough. */
const descriptionChars = 60;
/** What is shorter stands in any text. */
const leastChars = 10;
/** So many distinctive lines in the first request are the body itself: the agent shows it without being asked. */
const wholeBodyLines = 3;
/**
 * What the requests of a rollout say about its skill. *Visible*: the description stands in the first request with tools,
 * without any in the first that has it. *Read*: a distinctive line of the body, which was not in that request nor in one
 * before it, stands in a later one; two of them where there are many. What the model wrote itself proves nothing. A skill
 * that was read was visible. Where the agent shows the whole body from the start both are true.
 */
export class ReadingProof {
  #visible: Reading = null;
  #read: Reading = null;
  readonly #description: string;
  /** What of the body would prove that it was read. */
  #lines: readonly string[];
  #phase: 'none' | 'before' | 'begun' | 'begun-with-tools' = 'none';

  constructor(skill: { readonly description: string; readonly body: string } | null) {
    const description = plain(skill?.description ?? '');
    this.#description = description.length < leastChars ? '' : description.slice(0, descriptionChars).trimEnd();
    this.#lines = skill === null ? [] : distinctiveLines(skill.body);
  }

  /** Null = no request could tell, or it can't be told of this skill. */
  get visible(): Reading {
    return this.#read === true ? true : this.#visible;
  }

  get read(): Reading {
    return this.#read;
  }

  /** Takes in a request that the model has answered. */
  see(body: unknown, withTools: boolean): void {
    if (this.#isSettled) return;
    const { shown: text, written } = textsOf(body);
    const isShown = this.#description !== '' && text.includes(this.#description);
    const found = this.#lines.filter((line) => text.includes(line));
    if (this.#phase !== 'begun-with-tools' && (withTools || (isShown && this.#phase !== 'begun'))) {
      this.#phase = withTools ? 'begun-with-tools' : 'begun';
      this.#begin(found, isShown);
    } else if (this.#phase === 'none') {
      this.#phase = 'before';
      this.#without(found);
    } else this.#go(found, written);
  }

  #go(found: readonly string[], written: string): void {
    const need = linesForProof(this.#lines);
    this.#without(this.#lines.filter((line) => written.includes(line)));
    if (found.filter((line) => this.#lines.includes(line)).length >= need) this.#read = true;
    else if (this.#lines.length === 0) this.#read = null;
  }

  #begin(found: readonly string[], isShown: boolean): void {
    this.#visible = this.#description === '' ? null : isShown;
    const known = this.#lines.length > 0;
    this.#without(found);
    const isWhole = found.filter((line) => line.length >= distinctiveChars).length >= wholeBodyLines;
    if (this.#lines.length > 0) this.#read = false;
    else this.#read = known && isWhole ? true : null;
  }

  #without(found: readonly string[]): void {
    this.#lines = this.#lines.filter((line) => !found.includes(line));
  }

  get #isSettled(): boolean {
    if (this.#read === true) return true;
    return this.#lines.length === 0 && (this.#description === '' || this.#phase === 'begun-with-tools');
  }
}
