import { afterAll, describe, expect, test } from 'bun:test';
import { symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Place, removePlaces, until } from './binary.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';
import { ttyModes } from './tty.ts';

afterAll(removePlaces);

// The harness itself: what it sees, and that its watch on frames can fail.

/** A program on the alternate screen that is as tall as the terminal and MORE rows, or stays as tall as it began. */
const program = `
import { Box, render, Text, useApp, useInput, useWindowSize } from 'ink';
import { useState } from 'react';

const [more, follows, incremental] = process.argv.slice(2);
const first = process.stdout.rows;

function App() {
  const { rows, columns } = useWindowSize();
  const [presses, setPresses] = useState(0);
  const { exit } = useApp();
  useInput((input) => {
    if (input === 'q') exit();
    else if (input === 'w') console.log('a stray line');
    else setPresses((n) => n + input.length);
  });
  const height = (follows === 'true' ? rows : first) + Number(more);
  return (
    <Box flexDirection="column">
      <Text bold color="green">skillopt</Text>
      {Array.from({ length: height - 2 }, (_, y) => <Text key={y}>{y === 0 ? '→ — é 汉 🦀|' : \`row \${y} \${presses}\`}</Text>)}
      <Text>{columns} by {rows} after {presses}</Text>
    </Box>
  );
}

await render(<App />, { alternateScreen: true, incrementalRendering: incremental === 'true' }).waitUntilExit();
console.log('the end');
`;

function fixture(
  o: { readonly more: number; readonly follows?: boolean; readonly incremental: boolean },
  size: TerminalOptions = {},
): Terminal {
  const place = new Place();
  symlinkSync(resolve(import.meta.dir, '../../node_modules'), place.path('node_modules'));
  writeFileSync(place.path('program.tsx'), program);
  const args = [String(o.more), String(o.follows ?? true), String(o.incremental)];
  return Terminal.command(place, [process.execPath, 'program.tsx', ...args], size);
}

const ended = async (terminal: Terminal): Promise<string | null> =>
  terminal.close().then(
    () => null,
    (e: Error) => e.message,
  );

describe.each([
  ['redraws whole frames', false],
  ['redraws changed lines alone', true],
])('the watch on frames, with a program that %s', (_name, incremental) => {
  test.each([0, -1, -5])('finds nothing when the frame leaves %d rows of the terminal', async (more) => {
    const terminal = fixture({ more, incremental });
    await terminal.waitFor('80 by 24 after 0');
    for (const [columns, rows] of [
      [120, 40],
      [50, 12],
      [50, 30],
      [40, 30],
      [80, 24],
    ] as const) {
      await terminal.resize(columns, rows);
      await terminal.waitFor(`${columns} by ${rows} after 0`);
      await terminal.settled();
      expect((await terminal.lines())[0]).toBe('skillopt');
    }
    await terminal.type('abc');
    await terminal.waitFor('after 3');
    await terminal.type('q');
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expect(await ended(terminal)).toBeNull();
  });

  test('finds a frame that is one row too tall, from the start', async () => {
    const terminal = fixture({ more: 1, incremental });
    const end = '\x1b[?2026l'; // of the frame, which comes by itself
    await terminal.waitFor((screen) => screen.includes('80 by 24 after 0') && terminal.output.includes(end));
    expect(await ended(terminal)).toMatch(
      /80×24: the screen scrolled[\s\S]*first row is not the header but "→ — é 汉 🦀/,
    );
  });

  test('finds a frame that does not become smaller with the terminal', async () => {
    const terminal = fixture({ more: 0, follows: false, incremental }, { settleMs: 500 });
    await terminal.waitFor('80 by 24 after 0');
    await terminal.resize(80, 20);
    await terminal.waitFor('80 by 20 after 0');
    await terminal.type('a');
    await terminal.waitFor('80 by 20 after 1');
    expect(await ended(terminal)).toContain('80×20: after the size was changed no frame came that fits it');
  });

  test('finds a line that something else writes into the screen', async () => {
    const terminal = fixture({ more: 0, incremental });
    await terminal.waitFor('80 by 24 after 0');
    await terminal.type('w');
    await terminal.waitFor((screen) => !screen.startsWith('skillopt') || terminal.output.includes('a stray line'));
    await terminal.type('a');
    await terminal.waitFor('after 1');
    expect(await ended(terminal)).toContain('a frame did not fit the terminal');
  });
});

describe('a terminal', () => {
  test('shows where the program has brought it, and how things look', async () => {
    await using terminal = fixture({ more: 0, incremental: true }, { columns: 60, rows: 10 });
    const screen = await terminal.waitFor('60 by 10 after 0');
    expect(screen.split('\n')[1]).toBe('→ — é 汉 🦀|');
    expect(await terminal.styleOf('skillopt')).toEqual({ coloured: true, bold: true, dim: false, inverse: false });
    expect(await terminal.styleOf('|')).toEqual({ coloured: false, bold: false, dim: false, inverse: false });
    expect(await terminal.styleOf('not there')).toBeNull();
    expect(await terminal.isColoured()).toBe(true);
    expect([terminal.onAlternateScreen, terminal.cursorVisible, terminal.mouseTaken]).toEqual([true, false, false]);
    await terminal.type('q');
    expect(await terminal.ended).toEqual({ code: 0, signal: null });
    expect([terminal.onAlternateScreen, terminal.cursorVisible]).toEqual([false, true]);
    expect(await terminal.text()).toBe('the end');
    expect(await terminal.history()).toBe('the end');
  });

  test('tells of the tty’s modes, of exit codes and signals, and keeps all that was written', async () => {
    const place = new Place();
    await using raw = Terminal.shell(place, 'stty raw -echo; stty -a; exit 3');
    expect(await raw.ended).toEqual({ code: 3, signal: null });
    expect(ttyModes(raw.output)).toEqual({ canonical: false, echo: false, signals: false });
    await using sane = Terminal.shell(place, 'seq 1 30; stty -a; kill -TERM $$');
    expect(await sane.ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect(ttyModes(sane.output)).toEqual({ canonical: true, echo: true, signals: true });
    expect(await sane.history()).toStartWith(Array.from({ length: 30 }, (_, i) => i + 1).join('\n'));
  });

  test('hands over keys, letters and pastes, and fails a wait for what never comes', async () => {
    await using terminal = Terminal.shell(new Place(), 'read line; echo "got: $line"; read more');
    await terminal.type('汉 é');
    await terminal.press('enter');
    await terminal.waitFor('got: 汉 é');
    const waiting = terminal.waitFor('something else', 50).catch((e: Error) => e.message);
    expect(await waiting).toContain('waited in vain before the screen held something else');
    terminal.paste('a\n');
    expect((await terminal.ended).code).toBe(0);
    const late = terminal.waitFor('something else').catch((e: Error) => e.message);
    expect(await late).toContain('it ended before the screen held something else');
  });

  test('that is closed ends what runs in it', async () => {
    const terminal = Terminal.shell(new Place(), 'sleep 100 & echo "$!"; sleep 100');
    const other = Number(await terminal.waitFor(/^\d+$/));
    await terminal.close();
    expect(await terminal.ended).toEqual({ code: null, signal: 'SIGKILL' });
    const state = () => Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(other)]).stdout.toString();
    await until('the other one is gone, or waits to be fetched', () => /^Z?\s*$/.test(state()[0] ?? ''));
  });
});
