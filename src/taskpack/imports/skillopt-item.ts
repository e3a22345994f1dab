import type { CheckEntry } from './imported.ts';
import { literal, regexCheck } from './patterns.ts';
import { isRecord, scalarText } from './texts.ts';

/** What an item asks, and the check of the answer; or why there is none. */
export type ItemReading =
  | { readonly ok: true; readonly prompt: string; readonly check: CheckEntry }
  | { readonly ok: false; readonly why: string };

/** How the model is asked for its answer: items hold the question alone, and their answers are looked for in this form. */
export const ANSWER_FORM =
  'Think as you need to. At the end give the final answer, and nothing else, inside <answer>...</answer>.';

/** Keys of what can't be shown as text or lies elsewhere. */
const notText: Readonly<Record<string, string>> = {
  image: 'it shows an image, and a prompt pack holds text',
  images: 'it shows images, and a prompt pack holds text',
  image_path: 'it shows an image, and a prompt pack holds text',
  image_paths: 'it shows images, and a prompt pack holds text',
  spreadsheet_path: 'it works on a spreadsheet, and a prompt pack holds text',
  gamefile: 'it is played in a simulator, which a prompt can not stand for',
};

/**
 * Reads an item of a split: `question`, with `context` or `choices`, and what the answer is. The check takes what
 * stands in the last `<answer>`, or else on the last line that is not blank, and compares without case, punctuation of
 * words and a first article.
 */
export function readItem(item: Readonly<Record<string, unknown>>): ItemReading {
  const inner = isRecord(item.mcq) ? { ...item, ...item.mcq } : item;
  for (const [key, why] of Object.entries(notText)) if (isFilled(inner[key])) return { ok: false, why };
  const question = firstText(inner, ['question', 'prompt', 'instruction', 'input']);
  if (question === null) return { ok: false, why: 'it has no question: this is a list of ids, not of tasks' };
  const context = firstText(inner, ['context', 'reference_text', 'reference']);
  if (context === null && isFilled(inner.source_files))
    return { ok: false, why: 'it asks about documents that are not in it (source_files)' };
  const choices = choicesOf(inner.choices);
  const accepted = choices.length > 0 ? acceptedChoice(inner, choices) : acceptedTexts(inner);
  if (accepted.length === 0) return { ok: false, why: 'it has no answer: nothing would score the task' };
  const made = regexCheck(finalAnswer(accepted.join('|')), 'i');
  if (!made.ok) return made;
  const parts = [
    ...(context === null ? [] : [`## Context\n${context}`]),
    ...(context === null && choices.length === 0 ? [question] : [`## Question\n${question}`]),
    ...(choices.length === 0
      ? []
      : [`## Choices\n${choices.map(({ label, text }) => `${label}. ${text}`).join('\n')}`]),
  ];
  return { ok: true, prompt: parts.join('\n\n'), check: made.check };
}

/** Signs that may stand around an answer: all of ASCII but those of a tag, and no minus of a number. */
const before = '(?:[ \\t!-,./:;=?@[-`{-~]|-(?!\\.?\\d))*';
const article = `(?:(?:an?|the)\\b${before})?`;
const after = '[\\s!-/:;=?@[-`{-~]*';

/** Fits where the final answer is one of the alternatives: in the last `<answer>`, or on the last line where there is none. */
function finalAnswer(alternatives: string): string {
  const start = '(?:<answer>\\s*|^(?![\\s\\S]*<answer>)(?:[\\s\\S]*\\n)?)';
  const answer = `${before}${article}(?:${alternatives})${after}`;
  return `${start}${answer}(?:</answer>(?![\\s\\S]*<answer>)|$)`;
}

/** The text without a first article, in any case, with any blanks between its words and with or without their punctuation. */
function relaxed(text: string): string {
  const all = text
    .trim()
    .replace(/^(?:an?|the)\s+(?=.*[\p{L}\p{N}])/isu, '')
    .split(/\s+/);
  const speaks = (word: string) => /[^!-/:-@[-`{-~]/.test(word);
  const words = all.slice(all.findIndex(speaks), all.findLastIndex(speaks) + 1);
  return words
    .map((word, index) => {
      const gap = index === words.length - 1 ? '' : speaks(word) ? '\\s+' : '\\s*';
      return relaxedWord(word) + gap;
    })
    .join('');
}

/** A minus before a number and the point in it are parts of it, what parts its thousands is not. */
function relaxedWord(word: string): string {
  const isNumber = /^-?[\d.,]+$/.test(word);
  return [...word]
    .map((one) => (/[!-/:-@[-`{-~]/.test(one) && !(isNumber && one !== ',') ? `${literal(one)}?` : literal(one)))
    .join('');
}

function acceptedTexts(item: Readonly<Record<string, unknown>>): readonly string[] {
  const given = [item.answers, item.answer, item.ground_truth, item.expected, item.expected_answer].find(isFilled);
  const texts = (Array.isArray(given) ? (given as readonly unknown[]) : [given]).map(scalarText);
  return [...new Set(texts.flatMap((text) => (text === null ? [] : relaxed(text))))].filter((text) => text !== '');
}

type Choice = { readonly label: string; readonly text: string };
const LABELS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function choicesOf(given: unknown): readonly Choice[] {
  if (isRecord(given)) return Object.entries(given).map(([label, text]) => ({ label, text: scalarText(text) ?? '' }));
  if (!Array.isArray(given)) return [];
  return given.map((choice: unknown, index) => {
    const label = (isRecord(choice) ? scalarText(choice.label) : null) ?? LABELS[index] ?? String(index + 1);
    const text = isRecord(choice) ? scalarText(choice.text ?? choice.content) : scalarText(choice);
    return { label, text: text ?? '' };
  });
}

/** The label of the right choice, or its text. */
function acceptedChoice(item: Readonly<Record<string, unknown>>, choices: readonly Choice[]): readonly string[] {
  const given = [item.correct_choice, item.answer, item.ground_truth].find(isFilled);
  const wanted = scalarText(isRecord(given) ? (given.label ?? given.text) : given)?.trim() ?? '';
  const label = (text: string) =>
    text
      .trim()
      .toUpperCase()
      .replace(/[.):]+$/, '');
  const right =
    choices.find((choice) => label(choice.label) === label(wanted)) ??
    choices.find((choice) => choice.text.trim().toLowerCase() === wanted.toLowerCase());
  if (right === undefined) return [];
  const [letter, text] = [literal(label(right.label)), relaxed(right.text)];
  return text === '' ? [letter] : [letter, text, `${letter}[.):]*\\s+${text}`];
}

function firstText(item: Readonly<Record<string, unknown>>, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = item[key];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return null;
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== null && value !== '';
}
