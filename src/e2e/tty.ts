// What a hand sends to a terminal, and what the system makes of it.

/** The keys that have names; any other text is typed as it is. */
export const keys = {
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
  pageUp: '\x1b[5~',
  pageDown: '\x1b[6~',
  enter: '\r',
  esc: '\x1b',
  tab: '\t',
  shiftTab: '\x1b[Z',
  backspace: '\x7f',
  delete: '\x1b[3~',
  space: ' ',
  ctrlC: '\x03',
  ctrlD: '\x04',
  ctrlP: '\x10',
  ctrlU: '\x15',
  ctrlZ: '\x1a',
} as const;
export type KeyName = keyof typeof keys;

/** Modes of the tty as a shell has them before and after a program. */
export type TtyModes = { readonly canonical: boolean; readonly echo: boolean; readonly signals: boolean };

/** The modes that the last `stty -a` of a terminal's output has told. */
export function ttyModes(output: string): TtyModes {
  const told = output.slice(output.lastIndexOf('speed '));
  const is = (name: string): boolean => {
    const found = new RegExp(`(?<=[\\s;])(-?)${name}(?=[\\s;])`).exec(told);
    if (found === null) throw new Error(`stty does not tell of ${name}:\n${output}`);
    return found[1] === '';
  };
  return { canonical: is('icanon'), echo: is('echo'), signals: is('isig') };
}
