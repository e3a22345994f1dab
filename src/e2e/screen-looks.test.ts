import { afterAll, describe, expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { Place, removePlaces } from './binary.ts';
import { OwnSession, rehearsal, seedSkill, taskFiles, writeFiles } from './own-pack.ts';
import { openDemo } from './screens.ts';
import { Terminal } from './terminal.ts';

afterAll(removePlaces);

/** Does an output change colour, weight or brightness anywhere? */
const hasLooks = (output: string): boolean => output.split('\x1b[').some((part) => /^[\d;]*m/.test(part));

describe('colours', () => {
  test('say what signs say too', async () => {
    const { terminal } = openDemo(60);
    await using _ = terminal;
    await terminal.waitFor('✗ reject');
    await terminal.type('p');
    await terminal.waitFor('paused');
    const coloured = { coloured: true, bold: false, dim: false, inverse: false };
    expect(await terminal.styleOf('✓ accept')).toEqual(coloured);
    expect(await terminal.styleOf('✗ reject')).toEqual(coloured);
    expect(await terminal.styleOf('hello-harbor')).toMatchObject({ coloured: false, bold: true });
    expect(await terminal.styleOf('slowed by')).toMatchObject({ coloured: false, dim: true });
    expect(terminal.output).toContain('\x1b[32m✓ accept'); // green
    expect(hasLooks(terminal.output)).toBe(true);
    expect(terminal.output).toContain('\x1b[31m✗ reject'); // red
    await terminal.type('x');
    await terminal.ended;
  });

  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }],
  ])('%s: nothing is coloured, bold or dim', async (_name, env) => {
    const place = new Place();
    await using terminal = Terminal.open(place, ['demo', '--delay', '60'], { env: { TMPDIR: place.temp, ...env } });
    await terminal.waitFor('✗ reject');
    for (const key of ['d', 'e', 'm', 'f', 'w', '?', 'q', 'n']) {
      await terminal.type(key);
      expect(await terminal.isColoured()).toBe(false);
    }
    await terminal.press('esc');
    await terminal.waitFor('── feed');
    await terminal.type('x');
    await terminal.ended;
    expect(hasLooks(terminal.output)).toBe(false);
  });

  test('FORCE_COLOR says more than NO_COLOR', async () => {
    const place = new Place();
    const env = { TMPDIR: place.temp, NO_COLOR: '1', FORCE_COLOR: '1' };
    await using terminal = Terminal.open(place, ['demo', '--delay', '60'], { env });
    await terminal.waitFor('baseline');
    expect(await terminal.isColoured()).toBe(true);
    await terminal.type('x');
    await terminal.ended;
  });
});

test('--plain: lines, and nothing that steers a terminal', async () => {
  const own = new OwnSession(new Place());
  await using terminal = Terminal.open(own.place, ['run', 'session', '--plain'], { env: own.env });
  expect(await terminal.ended).toEqual({ code: 0, signal: null });
  expect(terminal.output).not.toContain('\x1b');
  expect(await terminal.history()).toMatch(/^log +\d+ lines, head /m);
});

describe('wide characters', () => {
  const ids = {
    train: ['stamp-for-汉字', 'sign-for-🦀🦀'],
    selection: ['stamp-for-漢字漢字漢字', 'sign-for-é', 'stamp-for-👩🏽'],
    test: ['stamp-for-한글', 'sign-for-🦀', 'weigh-for-ｗｉｄｅ'],
  };

  /** A session whose names and texts are wide, in a directory of such a name. */
  function wideSession(): { readonly own: OwnSession; readonly dir: string } {
    const place = new Place();
    const skill = seedSkill.replace('# Post office', '# Post office → — é 汉 🦀');
    const own = new OwnSession(place, { skill, config: { splits: ids } });
    for (const id of [...ids.train, ...ids.selection, ...ids.test]) writeFiles(place.path('pack'), taskFiles(id));
    const edits = rehearsal.edits.map((e) => ({ ...e, reason: `汉字 🦀 ${e.reason}` }));
    const dir = '汉字-🦀';
    writeFiles(place.dir, { 'session/rehearsal.json': JSON.stringify({ version: 1, edits }) });
    renameSync(place.path('session'), place.path(dir));
    return { own, dir };
  }

  /** Columns at which a sign stands in the rows that hold it. */
  const columnsOf = (rows: readonly string[], sign: string): readonly number[] =>
    rows.filter((row) => row.includes(sign)).map((row) => Bun.stringWidth(row.slice(0, row.indexOf(sign))));

  test.each([
    [80, 24],
    [120, 40],
  ])('stand in columns at %d×%d', async (columns, rows) => {
    const { own, dir } = wideSession();
    await using terminal = Terminal.open(own.place, ['run', dir, '--delay', '150'], { columns, rows, env: own.env });
    await terminal.waitFor('✓ accept');
    const shown = (await terminal.lines()).filter((row) => row !== '');
    const seam = columnsOf(shown, '│');
    expect(seam.length).toBeGreaterThan(8);
    expect(new Set([...seam, ...columnsOf(shown, '┬')]).size).toBe(1);
    await terminal.type('m');
    const matrix = await terminal.waitFor('漢字漢字漢字');
    const cells = matrix.split('\n').filter((row) => /-for-/.test(row) && /[●○]/.test(row));
    expect(cells.length).toBeGreaterThanOrEqual(3);
    expect(new Set(cells.map((row) => Bun.stringWidth(row.slice(0, row.search(/[●○]/))))).size).toBe(1);
    await terminal.type('w');
    await terminal.waitFor('── draft');
    await terminal.type('d]');
    await terminal.waitFor('best against seed');
    await terminal.type('x');
    await terminal.waitFor(terminal.over);
    expect(await terminal.history()).toContain(dir);
    expect(await terminal.history()).not.toContain('\ufffd');
  });
});
