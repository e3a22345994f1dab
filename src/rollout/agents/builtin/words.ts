import type { Form } from './opening.ts';

// What the agent says to its model on the way.

/** The first reply asked for nothing. */
export const nothingDone: Readonly<Record<Form, string>> = {
  tools:
    'Nothing has been done yet. Go on by calling a tool; if you can call none, write the command into a ```bash block. If nothing is to be done, say your answer once more.',
  text: 'Nothing has been done yet: your reply held no ```bash block. Write one with the next command; if nothing is to be done, say your answer once more.',
};

/** A model without tools answered a request with tools by a block of bash; the output of it follows. */
export const FALLS_BACK =
  'Your command was run. There are no tools here: end each reply with one ```bash block, and a reply without one ends the task. It printed:';

export const CUT =
  'Your reply was cut at its limit of tokens, and what was not whole was not run. Write less in one reply; a long file goes in several pieces.';

export const EMPTY =
  'Your reply was empty, or it held a call whose arguments were no whole JSON. Go on with the work, or say in a sentence that it is done.';
