import { plainAnswer, withoutFence } from '../checks/answer.ts';
import { sameName } from './trigger-request.ts';

/** Which skill an answer would open. `unclear`: it names more than one, denies one, or names nothing that there is. */
export type Chosen =
  | { readonly kind: 'skill'; readonly name: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unclear'; readonly why: string };

/** Words that say that no skill is opened. */
const none = /^(?:none|no skill|no skills|nothing|n\/a|null)$/i;
const noneWithin = /(?<![\p{L}\p{N}-])(?:none|no skills?)(?![\p{L}\p{N}-])/iu;
const denied =
  /(?<![\p{L}\p{N}])(?:not|no|never|without|instead of|rather than|neither|nor)(?![\p{L}\p{N}-])|n['’]t\b/iu;

/**
 * Reads an answer to `triggerRequest`. The last line that is not blank counts where it holds a name or `none`; quotes,
 * backticks, emphasis, a label before it (`Skill: x`) and a full stop don't count. Else the whole answer is looked at: it
 * has to speak of one skill alone.
 */
export function chosenSkill(answer: string, names: readonly string[]): Chosen {
  const text = plainAnswer(answer).replace(/<think>[\s\S]*?(?:<\/think>|$)/g, '');
  const inner = withoutFence(text) ?? text;
  const last = inner.split('\n').findLast((line) => bare(line) !== '') ?? '';
  if (bare(last) === '') return { kind: 'unclear', why: 'the answer is empty' };
  const whole = wholeLine(last, names);
  if (whole !== null) return whole;
  const ofLast = spokenOf(last, names);
  return ofLast ?? spokenOf(inner, names) ?? { kind: 'unclear', why: 'the answer names no skill of the list' };
}

/** A line without marks of Markdown, quotes and the full stop around it. */
function bare(line: string): string {
  return line.replace(/^[\s>#*_`~"'“”‘’«»([{-]+|[\s*_`~"'“”‘’«».,!)\]}:;]+$/gu, '');
}

/** A line that is a name or `none` and nothing else but a label. */
function wholeLine(line: string, names: readonly string[]): Chosen | null {
  const label = /^[\p{L} *_`]{1,40}[:=][\s*_`]*(.+)$/u.exec(bare(line))?.[1];
  for (const part of [bare(line), ...(label === undefined ? [] : [bare(label)])]) {
    const name = names.find((one) => sameName(one, part));
    if (name !== undefined) return { kind: 'skill', name };
    if (none.test(part)) return { kind: 'none' };
  }
  return null;
}

/** What a text speaks of; null = of no skill at all. */
function spokenOf(text: string, names: readonly string[]): Chosen | null {
  const found = names.filter((name) => mentions(text, name));
  const [name, ...others] = found;
  if (name === undefined) return noneWithin.test(text) ? { kind: 'none' } : null;
  if (others.length > 0) return { kind: 'unclear', why: `the answer names ${found.join(' and ')}` };
  if (noneWithin.test(text) || denied.test(text))
    return { kind: 'unclear', why: `the answer names ${name}, and says no as well` };
  return { kind: 'skill', name };
}

/** The name as a word of its own: `pdf` does not stand in `pdf-forms`. */
function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${RegExp.escape(name)}(?![\\p{L}\\p{N}_-])`, 'iu').test(text);
}
