import { afterAll, describe, expect, test } from 'bun:test';
import { runKeys, shownKey } from '../tui/keys.ts';
import { removePlaces } from './binary.ts';
import { countOf, demo, expectGivenBack, openDemo, sizes, untilLogged } from './screens.ts';
import { essence, finishedDemo } from './sessions.ts';
import type { Terminal } from './terminal.ts';

afterAll(removePlaces);

// The whole rehearsal by keys: held still in its fifth step, every pane read, and on to its end.

const still = 'paused: nothing new starts';

/** A demo in its fifth step, with an edit in the draft, that stands still. */
async function heldDemo(size: { readonly columns: number; readonly rows: number }) {
  const { place, terminal } = openDemo(60, size);
  await terminal.waitFor('baseline');
  await untilLogged(place, demo, 'the draft of step 5 holds an edit', (events) => {
    const fourth = events.findIndex((e) => e.type === 'gate.decided' && e.step === 4);
    return fourth >= 0 && countOf(events.slice(fourth), 'screening.decided') > 0;
  });
  await terminal.type('p');
  await terminal.waitFor(still);
  return { place, terminal };
}

/** Every line of the pane that is open, page by page. */
async function wholePane(terminal: Terminal): Promise<string> {
  await terminal.press('home');
  const seen = new Set<string>();
  for (;;) {
    const screen = await terminal.text();
    for (const line of screen.split('\n').slice(3, -2)) seen.add(line);
    const [, to, of] = /(\d+) of (\d+) ─$/m.exec(screen) ?? [];
    if (to === of) return [...seen].join('\n');
    await terminal.press('space');
    await terminal.waitFor((now) => now !== screen);
  }
}

/** Waits until a pane with this title is open, and returns the screen. */
const opened = (terminal: Terminal, title: string): Promise<string> =>
  terminal.waitFor((screen) => (screen.split('\n')[2] ?? '').startsWith(`── ${title} `));

/** Leaves the pane: a key that came together with esc would be taken for one with alt. */
async function leave(terminal: Terminal): Promise<void> {
  await terminal.press('esc');
  await terminal.waitFor((screen) => screen.split('\n')[2]?.startsWith('  step ') ?? false);
}

/** A text as it stands in a pane, wherever its lines are broken. */
const joined = (pane: string): string => pane.replaceAll(/\s+/g, ' ');

describe.each(sizes.map((size) => [`${size.columns}×${size.rows}`, size] as const))(
  'the rehearsal at %s',
  (_n, size) => {
    test('is read pane by pane, and comes to its end', async () => {
      const { place, terminal } = await heldDemo(size);
      await using _ = terminal;
      const overview = await terminal.text();
      expect(overview).toContain('REHEARSAL');
      expect(overview).toMatch(/4 .*✓ accept +6\/8 (75 % )?▲2/);
      expect(overview).toMatch(/^ +5 .*◐/m);
      expect(overview).toMatch(/^── feed ─/m);

      // the draft's diff, and by its hunks to that of the best skill
      for (const key of ['d', '5']) {
        await terminal.type(key);
        const diff = await opened(terminal, 'draft of 1 against best');
        expect(diff).toMatch(/^ hunk 1 of 1 {2}lines \d+–\d+ → \d+–\d+$/m);
        await leave(terminal);
      }
      await terminal.type('d]');
      await opened(terminal, 'best against seed');
      const best = await wholePane(terminal);
      expect(best).toMatch(/^ hunk 1 of [2-9]/m);
      expect(best).toMatch(/^ hunk 2 of [2-9]/m);
      expect(joined(best)).toMatch(/\+ - When the task says/);
      await terminal.press('home');
      await terminal.waitFor(/^ hunk 1 of /m);
      await terminal.type(']');
      await terminal.waitFor(/^ hunk 2 of /m);

      // evidence: of the open step, then one step back after the other
      for (const key of ['e', '4']) {
        await terminal.type(key);
        expect(joined(await opened(terminal, 'step 5'))).toMatch(
          /each edit is tried once on the train task|at the gate/,
        );
        await leave(terminal);
      }
      await terminal.press('enter');
      await opened(terminal, 'step 5');
      await terminal.type('[');
      await opened(terminal, 'step 4');
      const accepted = joined(await wholePane(terminal));
      expect(accepted).toMatch(/2–0 after 8 of 16 .*pilots-newest-f\S+ ○ ● win .*2 edits under test/);
      await terminal.type('[');
      await opened(terminal, 'step 3');
      expect(joined(await wholePane(terminal))).toMatch(/backup-coal-bar\S+ ● ○ loss/);
      await terminal.press('left', 'left', 'left');
      await opened(terminal, 'baseline');
      const baseline = joined(await wholePane(terminal));
      expect(baseline).toContain('selection what edits are judged on');
      expect(baseline).toMatch(/○ pilots-newest-f\S+ .*● sort-grain .*train what the optimizer may read/);
      await terminal.press('right');
      await opened(terminal, 'step 1');

      // the matrix: three splits, round and round
      for (const key of ['m', '2']) {
        await leave(terminal);
        await terminal.type(key);
        await opened(terminal, 'tasks × steps · selection');
      }
      expect(joined(await wholePane(terminal))).toContain('● pass ○ fail');
      await terminal.type(']');
      await opened(terminal, 'tasks × steps · train');
      expect(await wholePane(terminal)).toMatch(/^ +(… \d+ hidden +)?seed +.*r\d/m);
      await terminal.type(']');
      await terminal.waitFor('sealed: it is opened once, at the end');
      await terminal.type(']');
      await opened(terminal, 'tasks × steps · selection');
      await terminal.type('[');
      await opened(terminal, 'tasks × steps · test');

      // the feed, from its first line on
      for (const key of ['f', '1']) {
        await leave(terminal);
        await terminal.type(key);
        await terminal.waitFor(/── feed .*(\d+) of \1 ─/);
      }
      await terminal.type('g');
      expect(await terminal.waitFor(/── feed .* 1–/)).toMatch(/^ \d\d:\d\d = baseline: selection 2\/8$/m);
      await terminal.type('j');
      await terminal.waitFor(/── feed .* 2–/);
      await terminal.type('k');
      await terminal.waitFor(/── feed .* 1–/);
      await terminal.type('G');
      await terminal.waitFor(/── feed .*(\d+) of \1 ─/);

      // the draft, and the keys: every one of the table
      for (const key of ['w', '3']) {
        await leave(terminal);
        await terminal.type(key);
        expect(joined(await opened(terminal, 'draft of 1'))).toMatch(/insert after · round \d+ · fixed .* why: /);
      }
      await terminal.type('?');
      await opened(terminal, 'keys');
      const help = joined(await wholePane(terminal));
      for (const { keys, help: text } of runKeys) {
        expect(help).toContain(text);
        expect(help).toContain(shownKey(keys[0] ?? ''));
      }

      // esc leaves a pane and never a run; tab goes round
      await leave(terminal);
      await terminal.waitFor((screen) => !screen.includes('▸  '));
      await terminal.press('esc', 'esc');
      await terminal.waitFor(still);
      for (const title of ['feed', 'tasks × steps', 'draft of 1', 'step 5', 'best against seed']) {
        await terminal.press('tab');
        await opened(terminal, title);
      }
      await terminal.press('tab');
      await terminal.waitFor('── feed');

      // steps are chosen in the table
      await terminal.press('up');
      await terminal.waitFor(/^▸ +4 /m);
      await terminal.type('kk');
      await terminal.waitFor(/^▸ +2 /m);
      await terminal.press('enter');
      await opened(terminal, 'step 2');
      await leave(terminal);
      await terminal.type('g');
      await terminal.waitFor(/^▸ +– /m);
      await terminal.type('j');
      await terminal.waitFor(/^▸ +1 /m);
      await terminal.type('G');
      await terminal.waitFor((screen) => !screen.includes('▸  '));

      // on to the end; it waits for the reader
      await terminal.type('pf');
      const over = await terminal.waitFor('[enter] the report');
      expect(over).toContain('sealed test: 7/8 with the result');
      expect(terminal.over()).toBe(false);
      await terminal.type('mgG]');
      await opened(terminal, 'tasks × steps · selection');
      await terminal.press('enter');
      expect(await terminal.ended).toEqual({ code: 0, signal: null });
      expectGivenBack(terminal);
      expect(joined(await terminal.history())).toContain('result sealed test: 7/8 with the result, 2/8 with the seed');
      expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
    });
  },
);
