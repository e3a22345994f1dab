import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { binary, jsonOf, markedProcesses, Place, removePlaces, start } from './binary.ts';
import { copyOfDemo, essence, finishedDemo, performedAgain, reportOf, sessionFiles } from './sessions.ts';

afterAll(removePlaces);

const demo = 'skillopt-demo';

describe('demo', () => {
  test('does the whole job in an empty folder with an empty environment', async () => {
    const place = new Place();
    const end = await start(['/usr/bin/env', '-i', binary, 'demo'], { cwd: place.dir, env: {} }).ended;
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
    expect(readdirSync(place.dir)).toEqual([demo]);
    expect(readdirSync(place.path(demo)).sort()).toEqual(['.skillopt', ...sessionFiles]);
    expect(existsSync(place.path(demo, 'skillopt.snapshots/skill_v0001.md'))).toBe(true);
    const id = String(place.events(demo)[0]?.session);
    expect(markedProcesses(id)).toEqual([]);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`skillopt-${id}-`))).toEqual([]);
    expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  });

  test('shows an acceptance, a tie, a rejection with lost tasks, and ends with the report', async () => {
    const { place, end } = await finishedDemo();
    expect(reportOf(end)).toEqual([
      'result',
      'confirmed',
      'ended',
      'power',
      'spent',
      'best skill',
      'directory',
      'command',
      'next',
      'log',
    ]);
    expect(end.stdout).toMatch(/^step 1 .*\n +ACCEPT · selection \d\/8 against \d\/8/m);
    expect(end.stdout).toMatch(/^step \d .*\n +reject: a tie/m);
    expect(end.stdout).toMatch(/^step \d .*\n +reject: it lost .*\n +(won [^\n]*; )?lost [a-z-]+/m);
    expect(end.stdout).toMatch(/^ +round 1 +− \S+ still fails/m);
    expect(end.stdout).toMatch(
      /^result +sealed test: \d\/8 with the result, \d\/8 with the seed, \d\/8 without a skill/m,
    );
    expect(end.stdout).toMatch(/^best skill +skillopt-demo\/best_skill\.md · \+\d+ −\d+ lines/m);
    expect(end.stdout).toMatch(/^command +skillopt demo$/m);
    expect(end.stdout).toMatch(/^next +\S/m);
    expect(end.stdout).toMatch(/^log +\d+ lines, head [0-9a-f]{32} /m);
    expect(place.leftovers(demo)).toEqual([]);
    expect(performedAgain(place.events(demo))).toEqual([]);
  });

  test('says on every surface that it is a rehearsal', async () => {
    const { place } = await finishedDemo();
    const [again, json] = [await place.succeed(['demo']), await place.succeed(['demo', '--json'])];
    expect(again.stdout).toContain('REHEARSAL (no model is called)');
    expect(place.read(demo, 'skillopt.md')).toContain('**REHEARSAL (no model is called)');
    expect(jsonOf(json)).toMatchObject({ rehearsal: true, phase: 'finished', result: 'improved', costUsd: 0 });
  });

  test('what one gate can tell stands below the baseline, and on every surface alike', async () => {
    const { place, end } = await finishedDemo();
    const [, text = ''] = end.stdout.match(/^baseline +selection .*\npower +(.*)$/m) ?? [];
    expect(text).toMatch(/^a neutral draft is kept in about \d+ % of gates; \+10 points are found in \d+ %, /);
    expect(place.read(demo, 'skillopt.md')).toContain(`- power: ${text}. One gate by balanced`);
    expect((await place.succeed(['status', demo])).stdout).toContain(`power       ${text}\n`);
    expect(jsonOf(await place.succeed(['status', demo, '--json']))).toMatchObject({
      power: { kind: 'told', rule: 'balanced', tasks: 8, scored: 8, underpowered: false },
    });
  });

  test('the document, the report and the log name the same head', async () => {
    const { place } = await finishedDemo();
    const { log } = jsonOf(await place.succeed(['status', demo, '--json'])) as { log: { lines: number; head: string } };
    expect(log.lines).toBe(place.lines(demo));
    expect(place.read(demo, 'skillopt.md').trimEnd().split('\n').at(-1)).toBe(
      `log ${log.lines} lines, head ${log.head}`,
    );
  });

  test('a finished one shows its report again and performs nothing', async () => {
    const place = await copyOfDemo();
    const before = place.read(demo, 'skillopt.jsonl');
    const end = await place.succeed(['demo']);
    expect(end.stdout).toStartWith('this demo has run before; --fresh starts it anew\n');
    expect(reportOf(end)).toEqual(reportOf(await place.succeed(['status', demo])));
    expect(place.read(demo, 'skillopt.jsonl')).toBe(before);
  });

  test('--fresh starts anew and leaves files of others alone; --json holds stdout free for one JSON value', async () => {
    const place = await copyOfDemo();
    const before = place.events(demo);
    writeFileSync(place.path(demo, 'notes.txt'), 'mine');
    writeFileSync(place.path(demo, 'skillopt.snapshots/mine.md'), 'mine too');
    const end = await place.succeed(['demo', '--fresh', '--json']);
    expect(jsonOf(end)).toMatchObject({ directory: demo, command: 'skillopt demo --fresh --json', rehearsal: true });
    expect(end.stderr).toContain('REHEARSAL');
    expect(end.stderr).toMatch(/^step 1 .*\n +ACCEPT/m);
    expect(place.events(demo)[0]?.session).not.toBe(before[0]?.session);
    expect(place.read(demo, 'notes.txt')).toBe('mine');
    expect(place.read(demo, 'skillopt.snapshots/mine.md')).toBe('mine too');
    expect(await essence(place, demo)).toEqual(await essence((await finishedDemo()).place, demo));
  });

  test('--json holds stdout free for one JSON value on failure too', async () => {
    const place = new Place();
    writeFileSync(place.path('file'), '');
    const failed = await place.run(['demo', 'file', '--json']);
    expect({ code: failed.code, stderr: failed.stderr }).toEqual({ code: 2, stderr: '' });
    expect(jsonOf(failed)).toMatchObject({ error: { code: 'usage', what: expect.stringContaining('it is a file') } });
  });

  test('a session of another kind in its directory is refused and left alone', async () => {
    const place = new Place();
    const config = JSON.stringify({ skill: 'mine', pack: 'mine', agent: 'rehearsal', optimizer: 'rehearsal' });
    for (const args of [
      ['demo', '.'],
      ['demo', '.', '--fresh'],
    ]) {
      writeFileSync(place.path('skillopt.config.json'), config);
      writeFileSync(place.path('best_skill.md'), 'mine');
      const end = await place.run(args);
      expect(end.stderr).toContain('give the demo a directory of its own: skillopt demo DIR');
      expect([2, 5]).toContain(end.code ?? 0);
      expect(place.read('skillopt.config.json')).toBe(config);
      expect(place.read('best_skill.md')).toBe('mine');
    }
  });
});

describe('verify', () => {
  const log = 'skillopt.jsonl';
  type Found = { ok: boolean; problems: { kind: string; where: string; what: string }[] };

  /** Meddles with a copy of the finished demo, and returns what verify says of it. */
  async function verdict(meddle: (place: Place, path: (...names: string[]) => string) => unknown) {
    const place = await copyOfDemo();
    await meddle(place, (...names) => place.path(demo, ...names));
    const end = await place.run(['verify', demo]);
    return { place, end, json: jsonOf(await place.run(['verify', demo, '--json'])) as unknown as Found };
  }

  test('a session as it was left is verified through the sealed test, and nothing is written', async () => {
    const { place, end, json } = await verdict(() => {});
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
    expect(end.stdout).toMatch(
      /^verified +skillopt-demo: \d+ decisions follow from \d+ effects, through the sealed test$/m,
    );
    expect(json).toMatchObject({ ok: true, problems: [], torn: false, complete: true, finalized: true });
    expect(place.read(demo, log)).toBe((await finishedDemo()).place.read(demo, log));
  });

  test('one changed byte in the middle of the log is found with its line', async () => {
    const { place, end, json } = await verdict((place, path) => {
      const bytes = readFileSync(path(log));
      const line = Math.floor(place.lines(demo) / 2);
      const at =
        bytes
          .toString('latin1')
          .split('\n')
          .slice(0, line - 1)
          .join('\n').length + 1;
      const digit = bytes.indexOf('"at":"20', at) + 7; // stays JSON: only the chain can tell
      bytes[digit] = bytes[digit] === 0x33 ? 0x34 : 0x33;
      writeFileSync(path(log), bytes);
    });
    const line = Math.floor(place.lines(demo) / 2);
    expect(end.code).toBe(6);
    expect(end.stderr).toContain(`the log is broken at line ${line + 1}: it does not continue the line before`);
    expect(end.stderr).toContain(`where  ${place.path(demo, log)}:${line + 1}`);
    expect(json).toMatchObject({ error: { code: 'log-broken' } });
  });

  test('a line that is no event is told by its number, by status too', async () => {
    const { place, json } = await verdict((_, path) => {
      const lines = readFileSync(path(log), 'utf8').split('\n');
      const at = lines.findIndex((line) => line.includes('"type":"gate.decided"'));
      lines[at] = lines[at]!.replace('"type":', '"tipe":');
      writeFileSync(path(log), lines.join('\n'));
    });
    expect(json).toMatchObject({ error: { code: 'log-broken' } });
    const status = await place.run(['status', demo]);
    expect(status.code).toBe(6);
    expect(status.stderr).toMatch(/^failed line \d+ of the log is no event that this program knows/);
  });

  test('lines that are missing at the end are found by the head in skillopt.md', async () => {
    const { place, end, json } = await verdict((place, path) => {
      const lines = place.read(demo, log).split('\n');
      writeFileSync(path(log), `${lines.slice(0, -4).join('\n')}\n`);
    });
    const total = place.lines(demo) + 3;
    expect(end.code).toBe(6);
    expect(end.stdout).toContain('NOT VERIFIED');
    expect(json.problems).toEqual([
      {
        kind: 'changed',
        where: place.path(demo, 'skillopt.md'),
        what: `it was written when the log had ${total} lines; now it has ${total - 3}: lines are missing at the end`,
      },
    ]);
  });

  const firstText = (place: Place) => {
    const hash = String(place.events(demo).find((e) => e.type === 'rollout.finished')?.trajectory);
    return place.path(demo, '.skillopt/texts', `${hash}.txt`);
  };
  const best = 'best_skill.md';
  const snapshot = (n: number) => `skillopt.snapshots/skill_v000${n}.md`;

  test.each([
    ['a trajectory that is gone', 'missing text', (place: Place) => rmSync(firstText(place))],
    ['a changed trajectory', 'changed', (place: Place) => writeFileSync(firstText(place), 'other')],
    ['a changed best_skill.md', 'not derived', (place: Place) => writeFileSync(place.path(demo, best), 'other')],
    [
      'an older version as best_skill.md',
      'stale derived file',
      (place: Place) => writeFileSync(place.path(demo, best), place.read(demo, snapshot(1))),
    ],
    ['a changed snapshot', 'not derived', (place: Place) => writeFileSync(place.path(demo, snapshot(1)), 'other')],
    [
      'a changed skillopt.md',
      'not derived',
      (place: Place) => writeFileSync(place.path(demo, 'skillopt.md'), `mine\n${place.read(demo, 'skillopt.md')}`),
    ],
  ])('%s is told apart: %s', async (_name, kind, meddle) => {
    const { end, json } = await verdict(meddle);
    expect(end.code).toBe(6);
    expect(end.stdout).toContain(kind);
    expect(json).toMatchObject({ ok: false, problems: [{ kind }] });
  });

  test('a torn last line is no damage, and is dropped when the session goes on', async () => {
    const { place, end, json } = await verdict((place, path) => {
      writeFileSync(path(log), `${place.read(demo, log)}{"v":1,"seq":`);
    });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('a torn last line that will be dropped');
    expect(json).toMatchObject({ ok: true, torn: true });
    await place.succeed(['run', demo]);
    expect(place.events(demo).at(-1)).toMatchObject({ type: 'session.resumed' });
    expect(jsonOf(await place.succeed(['verify', demo, '--json']))).toMatchObject({ ok: true, torn: false });
  });
});
