import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { jsonOf, Place, removePlaces } from './binary.ts';
import { OwnSession, rehearsal, seedSkill, splits, taskFiles, writeFiles } from './own-pack.ts';
import { performedAgain } from './sessions.ts';

afterAll(removePlaces);

// Texts and names of every script, and logs that are long.

const wide = '→ — é 汉 🦀';

/** A session in which skill, edits, tasks and folders are full of letters that take two bytes or more. */
function wideSession(): OwnSession {
  const renamed = (id: string) => (id.startsWith('stamp') ? `stamp-for-${id.split('-').at(-1)} ${wide}` : id);
  const own = new OwnSession(new Place(), {
    skill: seedSkill.replace('## Rules\n', `## Rules ${wide}\n\n| 汉字 | é |\n| --- | --- |\n| 🦀 | → — |\n`),
    config: {
      splits: {
        train: splits.train.map(renamed),
        selection: splits.selection.map(renamed),
        test: splits.test.map(renamed),
      },
    },
  });
  for (const id of Object.values(splits).flat()) {
    if (renamed(id) === id) continue;
    rmSync(own.place.path('pack', id), { recursive: true });
    writeFiles(own.place.path('pack'), taskFiles(renamed(id)));
  }
  const edits = rehearsal.edits.map((e) => ({ ...e, content: `${e.content} ${wide}`, reason: `${e.reason} ${wide}` }));
  writeFiles(own.place.dir, { 'session/rehearsal.json': JSON.stringify({ ...rehearsal, edits }) });
  return own;
}

/** The bytes as text; fails where they are no UTF-8. */
const decoded = (bytes: string) => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'));

describe(`${wide} in skill, edits, tasks and folders`, () => {
  test.each([
    ['C.UTF-8', {}],
    ['the C locale', { LANG: 'C', LC_ALL: 'C' }],
  ])('in a pipe, with %s: every byte is kept, in files, lines and JSON', async (_name, env) => {
    const own = wideSession();
    const run = await own.place.run(['run', 'session', '--finalize'], { env: { ...own.env, ...env } });
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
    expect(run.stdout).toMatch(new RegExp(`^ +won .*stamp-for-cy ${wide}`, 'm'));
    expect(run.stdout).not.toContain('\uFFFD');
    const best = own.place.read('session/best_skill.md');
    expect(best.split('\n').filter((line) => line.includes(wide))).toHaveLength(3);
    expect(best.split('\n').filter((line) => !line.startsWith('- When'))).toEqual(
      own.place
        .read('post-office/SKILL.md')
        .split('\n')
        .filter((line) => !line.startsWith('- When')),
    );
    for (const file of ['best_skill.md', 'skillopt.md', 'skillopt.jsonl'])
      expect(decoded(Buffer.from(own.place.read('session', file)).toString('latin1'))).toContain(wide);
    const status = jsonOf(await own.place.succeed(['status', 'session', '--json'], { env: { ...own.env, ...env } }));
    expect(JSON.stringify(status)).toContain(`stamp-for-cy ${wide}`);
    await own.succeed(['verify', 'session']);
  });

  test.each([40, 60])('in a terminal of %d columns: whole letters, and no line that is too wide', async (columns) => {
    const own = wideSession();
    const plain = { env: { TERM: 'dumb', LC_ALL: 'C' }, columns };
    await using terminal = own.inTerminal(['run', 'session', '--finalize'], plain);
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.output).not.toContain('\uFFFD');
    expect(terminal.output).toContain('汉 🦀');
    for (const line of terminal.output.split('\r\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
  });
});

test('a log of 2,000 events is read, verified and gone on with like a short one; stdout stays one JSON value', async () => {
  const more = Array.from({ length: 14 }, (_, i) => `stamp-for-no${i + 1}`);
  const own = new OwnSession(new Place(), {
    config: { splits: { ...splits, test: [...splits.test, ...more] }, finalize: { attempts: 20 }, workers: 8 },
  });
  for (const id of more) writeFiles(own.place.path('pack'), taskFiles(id));
  const run = await own.succeed(['run', 'session', '--finalize', '--json']);
  expect(jsonOf(run)).toMatchObject({ phase: 'finished', test: [{ score: { of: 340 } }, {}, {}] });
  const lines = own.place.lines('session');
  expect(lines).toBeGreaterThan(2_000);
  expect(performedAgain(own.place.events('session'))).toEqual([]);
  expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ log: { lines } });
  expect(jsonOf(await own.succeed(['verify', 'session', '--json']))).toMatchObject({ ok: true, lines });
});
