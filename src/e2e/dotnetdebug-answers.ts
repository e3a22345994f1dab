import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is known of the answers to one task: values of its ANSWER line, and the code of its CAUSE line where it has one. */
export type Known = {
  readonly id: string;
  readonly cause: string | null;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
};

/** The table of answers beside this file; its first lines say how it is read. */
export function knownAnswers(): readonly Known[] {
  const blocks = readFileSync(join(import.meta.dir, 'dotnetdebug-answers.txt'), 'utf8')
    .trim()
    .split('\n\n')
    .slice(1);
  return blocks.map((block) => {
    const [head = '', ...values] = block.split('\n');
    const [id = '', cause = null] = head.split(' ');
    const of = (sign: string) => values.filter((line) => line.startsWith(sign)).map((line) => line.slice(2));
    return { id, cause, right: of('+ '), wrong: of('- ') };
  });
}

/** An answer in the form of the pack, with some words before it. */
export function answerOf({ cause }: Known, value: string): string {
  return `The code was read from top to bottom.\n\n${cause === null ? '' : `CAUSE: ${cause}\n`}ANSWER: ${value}`;
}
