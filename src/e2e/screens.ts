import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type LogLine, Place, until } from './binary.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';
import { ttyModes } from './tty.ts';

// What the tests of the live screen share.

export const demo = 'skillopt-demo';

/** The sizes that the screens are made for. */
export const sizes = [
  { columns: 120, rows: 40 },
  { columns: 80, rows: 24 },
  { columns: 50, rows: 15 },
] as const;

/** A fresh demo on its live screen, each rollout slowed by `delayMs`. */
export function openDemo(delayMs: number, options: TerminalOptions = {}): { place: Place; terminal: Terminal } {
  const place = new Place();
  return { place, terminal: Terminal.open(place, ['demo', '--delay', String(delayMs)], options) };
}

/** Waits until the log of a session holds what is looked for. */
export function untilLogged(
  place: Place,
  session: string,
  what: string,
  holds: (events: readonly LogLine[]) => boolean,
): Promise<void> {
  let seen = 0;
  return until(what, () => {
    const lines = place.lines(session);
    if (lines === seen) return false; // nothing new to read
    seen = lines;
    return holds(place.events(session));
  });
}

export const countOf = (events: readonly LogLine[], type: string): number =>
  events.filter((e) => e.type === type).length;

/** The normal screen is back, with its cursor, and neither pastes nor mouse are taken. */
export function expectGivenBack(terminal: Terminal): void {
  expect({
    alternate: terminal.onAlternateScreen,
    cursor: terminal.cursorVisible,
    pastes: terminal.takesPastes,
    mouse: terminal.mouseTaken,
  }).toEqual({ alternate: false, cursor: true, pastes: false, mouse: false });
}

/**
 * `skillopt ARGS` in a shell that has the terminal before and after it: `pid()` is that of the program, and the shell
 * tells its exit code and the modes of the terminal that it was left. `before` is what the shell does first.
 */
export function inShell(
  place: Place,
  args: string,
  { before = ':', ...options }: TerminalOptions & { readonly before?: string } = {},
) {
  const line = `${before}; sh -c 'echo $$ > ../pid; exec "$SKILLOPT" ${args}'; echo "exit code $?"; stty -a`;
  const terminal = Terminal.shell(place, line, options);
  const pid = () => Number(readFileSync(`${place.root}/pid`, 'utf8'));
  /** Waits for the end, and sees that the terminal is as it was. */
  const left = async (): Promise<{ readonly code: number; readonly screen: string }> => {
    await terminal.ended;
    expectGivenBack(terminal);
    expect(ttyModes(terminal.output)).toEqual({ canonical: true, echo: true, signals: true });
    const [screen = ''] = (await terminal.history()).split(/^speed /m);
    return { code: Number(/^exit code (\d+)$/m.exec(screen)?.[1]), screen };
  };
  return { terminal, pid, left };
}
