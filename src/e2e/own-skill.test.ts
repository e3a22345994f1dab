import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { expectFailure, jsonOf, Place, removePlaces, until } from './binary.ts';
import { bestSkill, hashOf, OwnSession, seedSkill, splits, writeFiles } from './own-pack.ts';
import { essence, performedAgain, reportOf } from './sessions.ts';

afterAll(removePlaces);

const crlf = (text: string) => text.replaceAll('\n', '\r\n');
const testEvents = (own: OwnSession) => {
  const events = own.place.events('session');
  return events.slice(events.findIndex((e) => e.type === 'finalize.started'));
};
const finishedKeys = (own: OwnSession) =>
  testEvents(own).flatMap((e) => (e.type === 'rollout.finished' ? [e.key] : []));
const skillFile = (own: OwnSession) => own.place.path('post-office/SKILL.md');

/** A session whose search has ended; the test is still sealed. */
async function searched(skill?: string): Promise<OwnSession> {
  const own = new OwnSession(new Place(), skill === undefined ? {} : { skill });
  await own.succeed(['run', 'session']);
  return own;
}

describe('run', () => {
  test('finds what the skill lacks, stops before the sealed test, and leaves the sources alone', async () => {
    const own = new OwnSession(new Place());
    const before = own.sources;
    const end = await own.succeed(['run', 'session']);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect(reportOf(end).slice(0, 3)).toEqual(['result', 'confirmed', 'ended']);
    expect(end.stdout).toMatch(/^next +skillopt finalize session +\(opens the sealed test, once\)$/m);
    const events = own.place.events('session');
    expect(events.filter((e) => splits.test.some((id) => id === e.task))).toEqual([]);
    expect(events.filter((e) => e.type.startsWith('finalize'))).toEqual([]);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ phase: 'searched', test: null });
    expect(own.sources).toBe(before);
    expect(own.place.leftovers('session')).toEqual([]);
  });

  test('takes the files that the skill brings with it along', async () => {
    const own = new OwnSession(new Place());
    const reference = 'All stamps are blue.\n';
    writeFiles(own.place.dir, { 'post-office/references/stamps.md': reference });
    const before = own.sources;
    await own.succeed(['run', 'session', '--finalize']);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect(own.place.read('session/.skillopt/skill/post-office/references/stamps.md')).toBe(reference);
    expect(own.sources).toBe(before);
    await own.succeed(['finalize', 'session', '--apply']);
    expect(own.place.read('post-office/references/stamps.md')).toBe(reference);
    await own.succeed(['verify', 'session']);
  });

  test('reaches a skill through a symlink, and folders with blanks and letters of other scripts in their names', async () => {
    const own = new OwnSession(new Place());
    renameSync(own.place.path('post-office'), own.place.path('my skills → 汉'));
    symlinkSync('my skills → 汉', own.place.path('post-office'));
    renameSync(own.place.path('session'), own.place.path('my session'));
    await own.succeed(['run', 'my session', '--finalize']);
    expect(own.place.read('my session/best_skill.md')).toBe(bestSkill);
    await own.succeed(['finalize', 'my session', '--apply']);
    expect(own.place.read('my skills → 汉/SKILL.md')).toBe(bestSkill);
  });

  test('--exit-code tells an improvement from none', async () => {
    const own = new OwnSession(new Place(), { skill: bestSkill });
    const end = await own.run(['run', 'session', '--exit-code']);
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 10, stderr: '' });
    expect(end.stdout).toContain('result      nothing was kept: the seed is the result');
    expect((await own.run(['run', 'session'])).code).toBe(0);
    expect((await (await searched()).run(['run', 'session', '--exit-code'])).code).toBe(0);
  });

  test('a secret that the verifier prints is nowhere in the session', async () => {
    const own = new OwnSession(new Place());
    const secret = 'sesame-42-sesame-42';
    for (const id of splits.train) {
      appendFileSync(own.place.path('pack', id, 'task.toml'), `POST_TOKEN = "\${POST_TOKEN}"\n`);
      appendFileSync(own.place.path('pack', id, 'tests/test.sh'), 'echo "the token is $POST_TOKEN"\n');
    }
    const end = await own.place.run(['run', 'session'], { env: { ...own.env, POST_TOKEN: secret } });
    expect(end.code).toBe(0);
    expect(end.stdout + end.stderr).not.toContain(secret);
    const files = readdirSync(own.place.path('session'), { recursive: true, encoding: 'utf8', withFileTypes: true });
    const texts = files.filter((f) => f.isFile()).map((f) => readFileSync(`${f.parentPath}/${f.name}`, 'latin1'));
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    expect(texts.some((text) => text.includes('the token is [redacted'))).toBe(true);
  });
});

describe('finalize', () => {
  test('opens the sealed test once; a second time it shows the same numbers and performs nothing', async () => {
    const own = await searched();
    const before = own.sources;
    const end = await own.succeed(['finalize', 'session']);
    expect(end.stdout).toMatch(/^result +sealed test: 3\/3 with the result, 1\/3 with the seed, 0\/3 without a skill/m);
    expect(finishedKeys(own)).toHaveLength(3 * splits.test.length);
    const log = own.place.read('session/skillopt.jsonl');
    const again = await own.succeed(['finalize', 'session']);
    const numbers = (text: string) =>
      text.split('\n').filter((line) => /^(result|confirmed|ended|spent|log) /.test(line));
    expect(numbers(again.stdout)).toEqual(numbers(end.stdout).filter((line) => !line.startsWith('test ')));
    expect(own.place.read('session/skillopt.jsonl')).toBe(log);
    expect(own.place.read('session/skillopt.md')).toContain('| result | 3/3 |');
    expect(own.sources).toBe(before);
    await own.succeed(['verify', 'session']);
  });

  test('before the search has ended there is nothing to finalize', async () => {
    const own = new OwnSession(new Place());
    own.block(splits.selection);
    const run = own.start(['run', 'session']);
    await until('rollouts are at work', () => own.waiting() > 0);
    run.kill('SIGTERM');
    await run.ended;
    expectFailure(await own.run(['finalize', 'session']), {
      code: 2,
      what: /^the search has not ended/,
      where: /\/work\/session$/,
      fix: /skillopt run session/,
    });
    expectFailure(await own.run(['finalize', 'nowhere']), {
      code: 2,
      what: /no session here/,
      where: /nowhere/,
      fix: /./,
    });
  });

  test('with nothing that was kept opens no test', async () => {
    const own = await searched(bestSkill);
    const end = await own.succeed(['finalize', 'session']);
    expect(end.stdout).toContain('nothing was kept: the seed is the result');
    expect(own.place.events('session').filter((e) => e.type.startsWith('finalize'))).toEqual([]);
  });

  test('killed after the first test rollout, it is finished from what was kept', async () => {
    const whole = await searched();
    await whole.succeed(['finalize', 'session']);
    const own = await searched();
    own.block(splits.test.slice(1, 2)); // three rollouts wait, the fourth worker is free
    const run = own.start(['finalize', 'session']);
    await until('a test rollout has finished', () => finishedKeys(own).length > 0);
    run.kill('SIGKILL');
    await run.ended;
    const kept = finishedKeys(own);
    own.free();
    await own.succeed(['finalize', 'session']);
    const started = testEvents(own).filter((e) => e.type === 'rollout.started');
    expect(kept.map((key) => started.filter((e) => e.key === key).length)).toEqual(kept.map(() => 1));
    expect(performedAgain(own.place.events('session'))).toEqual([]);
    expect(testEvents(own).filter((e) => e.type === 'finalize.started')).toMatchObject([{ look: 1 }]);
    expect(await essence(own.place, 'session')).toEqual(await essence(whole.place, 'session'));
    expect(own.place.leftovers('session')).toEqual([]);
    await own.succeed(['verify', 'session']);
  });

  test.each([
    ['LF', (text: string) => text],
    ['CRLF', crlf],
    ['BOM and no final newline', (text: string) => `\uFEFF${text.trimEnd()}`],
  ])('--apply writes the result over the source, byte for byte: %s', async (_name, form) => {
    const own = await searched(form(seedSkill));
    await own.succeed(['finalize', 'session']);
    expect(readFileSync(skillFile(own), 'utf8')).toBe(form(seedSkill));
    const others = hashOf(own.place.path('pack'));
    const end = await own.succeed(['finalize', 'session', '--apply']);
    expect(end.stdout.trimEnd().split('\n').at(-1)).toBe(`applied     ${skillFile(own)}`);
    expect(end.stdout).not.toContain('\nnext ');
    expect(readFileSync(skillFile(own))).toEqual(readFileSync(own.place.path('session/best_skill.md')));
    expect(readFileSync(skillFile(own), 'utf8')).toBe(form(bestSkill));
    expect(readdirSync(own.place.path('post-office'))).toEqual(['SKILL.md']);
    expect(hashOf(own.place.path('pack'))).toBe(others);
    await own.succeed(['finalize', 'session', '--apply']); // the result is there already
    expect(readFileSync(skillFile(own), 'utf8')).toBe(form(bestSkill));
  });

  test('--apply refuses when the source was changed meanwhile, and leaves it untouched', async () => {
    const own = await searched();
    await own.succeed(['finalize', 'session']);
    const changed = `${seedSkill}\nMy own line.\n`;
    writeFileSync(skillFile(own), changed);
    const end = await own.run(['finalize', 'session', '--apply']);
    expectFailure(end, {
      code: 5,
      what: /^the source skill was changed since the session began$/,
      where: /\/work\/post-office\/SKILL\.md$/,
      fix: /^merge by hand: .*session\/skillopt\.md.*session\/best_skill\.md$/,
    });
    expect(readFileSync(skillFile(own), 'utf8')).toBe(changed);
    const json = await own.run(['finalize', 'session', '--apply', '--json']);
    expect(json.code).toBe(5);
    expect(jsonOf(json)).toMatchObject({ error: { code: 'source-moved' } });
  });

  test('--apply on a demo, or when the seed is the result, says that there is nothing to write', async () => {
    const own = await searched(bestSkill);
    expectFailure(await own.run(['finalize', 'session', '--apply']), {
      code: 2,
      what: /^there is no result to apply: the seed is the result$/,
      where: /\/work\/session$/,
      fix: /./,
    });
    expect(readFileSync(skillFile(own), 'utf8')).toBe(bestSkill);
  });
});
