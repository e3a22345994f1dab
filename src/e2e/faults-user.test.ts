import { afterAll, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { jsonOf, Place, removePlaces, until } from './binary.ts';
import { bestSkill, OwnSession, rehearsal, seedSkill, splits, taskFiles, undisturbed, writeFiles } from './own-pack.ts';
import { essence } from './sessions.ts';

afterAll(removePlaces);

// What users do meanwhile, what they bring, and what must not be told.

const skillFile = (own: OwnSession) => own.place.path('post-office/SKILL.md');

describe('a source that changes during the run', () => {
  const changed = `${seedSkill}\nMy own line.\n`;

  test('does not disturb it; at the end both are named, what lies there now and what the session began with', async () => {
    const own = new OwnSession(new Place());
    own.block(splits.selection);
    const run = own.start(['run', 'session', '--finalize']);
    await until('rollouts are at work', () => own.waiting() === splits.selection.length);
    writeFileSync(skillFile(own), changed);
    own.free();
    const end = await run.ended;
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
    expect(await essence(own.place, 'session')).toEqual(await undisturbed({ finalize: true }));
    const told = `source      ${skillFile(own)} was changed since the session began with session/skillopt.snapshots/skill_v0000.md; --apply would refuse it`;
    expect(end.stdout).toContain(told);
    expect((await own.succeed(['finalize', 'session'])).stdout).toContain(told);
    expect(own.place.read('session/skillopt.snapshots/skill_v0000.md')).toBe(seedSkill);
    expect(jsonOf(await own.succeed(['finalize', 'session', '--json']))).toMatchObject({
      sourceMoved: { source: skillFile(own), seed: 'session/skillopt.snapshots/skill_v0000.md' },
    });
    expect((await own.run(['finalize', 'session', '--apply'])).code).toBe(5);
    expect(readFileSync(skillFile(own), 'utf8')).toBe(changed);
    writeFileSync(skillFile(own), seedSkill);
    expect(jsonOf(await own.succeed(['finalize', 'session', '--json']))).toMatchObject({ sourceMoved: null });
    await own.succeed(['finalize', 'session', '--apply']);
    expect(readFileSync(skillFile(own), 'utf8')).toBe(bestSkill);
  });
});

describe.skipIf(Bun.which('git') === null)('a working tree with changes that are not committed', () => {
  test('is as it was, to the last file, while the session works beside it', async () => {
    const own = new OwnSession(new Place());
    const git = async (...args: readonly string[]) => {
      const who = {
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      };
      const end = await own.place.shell(`git ${args.map((a) => `'${a}'`).join(' ')}`, who);
      if (end.code !== 0) throw new Error(`git ${args[0]}: ${end.stderr}`);
      return end.stdout;
    };
    await git('init', '-q');
    await git('add', '-A');
    await git('commit', '-qm', 'as it was');
    appendFileSync(skillFile(own), '\nA line of mine.\n');
    writeFiles(own.place.dir, {
      'pack/stamp-for-cy/instruction.md': 'Please stamp the letter, my dear.\n',
      'notes.txt': 'x',
    });
    await git('add', 'pack');
    const seen = async () =>
      Promise.all([
        git('status', '--porcelain', '--', '.', ':!session'),
        git('diff', 'HEAD'),
        git('log', '--oneline'),
        git('stash', 'list'),
      ]);
    const before = await seen();
    await own.succeed(['run', 'session', '--finalize']);
    expect(await seen()).toEqual(before);
    expect(own.place.read('session/best_skill.md')).toBe(`${bestSkill}\nA line of mine.\n`);
  });
});

describe('a skill that is', () => {
  test('a link to a file elsewhere is read through it, and --apply writes into the file; the link stays one', async () => {
    const own = new OwnSession(new Place());
    renameSync(skillFile(own), own.place.path('the skill itself.md'));
    chmodSync(own.place.path('the skill itself.md'), 0o640);
    symlinkSync('../the skill itself.md', skillFile(own));
    await own.succeed(['run', 'session', '--finalize']);
    await own.succeed(['finalize', 'session', '--apply']);
    expect(own.place.read('the skill itself.md')).toBe(bestSkill);
    expect(lstatSync(skillFile(own)).isSymbolicLink()).toBe(true);
    expect(lstatSync(own.place.path('the skill itself.md')).mode & 0o777).toBe(0o640);
  });

  test('in need of commands that this machine lacks is told of before anything is spent', async () => {
    const needs = `${seedSkill}\n\`\`\`sh\npdf-to-letter < letter.txt | sed s/a/b/\nstamp-machine --all\n\`\`\`\n`;
    const own = new OwnSession(new Place(), { skill: needs });
    const end = await own.succeed(['run', 'session']);
    const warning =
      'the skill names commands that are not on this machine, which is what tasks without a container use: pdf-to-letter (line 14), stamp-machine (line 15)';
    const at = (text: string) => end.stdout.indexOf(text);
    expect(at(`warning     ${warning}`)).toBeGreaterThan(0);
    expect(at(warning)).toBeLessThan(at('baseline '));
    expect(own.place.read('session/skillopt.md')).toContain(warning);
    const types = own.place.events('session').map((e) => (String(e.what).includes(warning) ? 'warned' : e.type));
    expect(types.indexOf('warned')).toBeGreaterThan(0);
    expect(types.indexOf('warned')).toBeLessThan(types.indexOf('rollout.started'));
  });

  test('content with what is there is not warned about', async () => {
    const own = new OwnSession(new Place());
    expect((await own.succeed(['run', 'session'])).stdout).not.toContain('not on this machine');
  });
});

describe('a key', () => {
  const named = 'sesame-42-sesame-42';
  /** In the form of a provider's keys, and known to nobody by name. */
  const formed = `sk-ant-api03-${'Ab1'.repeat(31)}-AAAA`;

  /** Everything that a session has written, by file. */
  function written(own: OwnSession): readonly (readonly [string, string])[] {
    const files = readdirSync(own.place.path('session'), { recursive: true, encoding: 'utf8', withFileTypes: true });
    return files
      .filter((f) => f.isFile())
      .map((f) => `${f.parentPath}/${f.name}`)
      .filter((path) => !path.endsWith('/rehearsal.json'))
      .map((path) => [path, readFileSync(path, 'latin1')]);
  }

  test('that agent, verifier or optimizer print is nowhere: log, texts, documents, lines, JSON', async () => {
    const tell = (who: string) => `cat "$HOLD_DIR/formed" && echo "${who}: $POST_TOKEN"`;
    const own = new OwnSession(new Place(), {
      skill: `${seedSkill}\n- When the task says "the letter", run \`${tell('agent')}\`.\n`,
    });
    writeFileSync(`${own.env.HOLD_DIR}/formed`, `the key is ${formed}\n`);
    const strange = 'weigh-for-ivy'; // its verifier gives a reward that is a text, and quotes the keys in it
    writeFiles(own.place.path('pack'), taskFiles(strange));
    for (const id of [...Object.values(splits).flat(), strange]) {
      appendFileSync(own.place.path('pack', id, 'task.toml'), `POST_TOKEN = "\${POST_TOKEN}"\n`);
      appendFileSync(own.place.path('pack', id, 'tests/test.sh'), `${tell('verifier')}\n`);
    }
    const reward = `rm "$LOGS_DIR/verifier/reward.txt"
printf '{"reward": "%s", "%s": 1}' "$(cat "$HOLD_DIR/formed")" "$POST_TOKEN" > "$LOGS_DIR/verifier/reward.json"
`;
    appendFileSync(own.place.path('pack', strange, 'tests/test.sh'), reward);
    own.configure({ splits: { ...splits, train: [...splits.train, strange] } });
    const edits = rehearsal.edits.map((e) => ({ ...e, reason: `${e.reason} The key is ${formed}, or ${named}.` }));
    writeFiles(own.place.dir, { 'session/rehearsal.json': JSON.stringify({ ...rehearsal, edits }) });
    const env = { ...own.env, POST_TOKEN: named };
    const ends = [];
    for (const args of [
      ['run', 'session'],
      ['finalize', 'session', '--json'],
      ['status', 'session'],
      ['status', 'session', '--json'],
      ['verify', 'session', '--json'],
      ['finalize', 'session'],
    ])
      ends.push(await own.place.succeed(args, { env }));
    const told: readonly (readonly [string, string])[] = [
      ...written(own),
      ...ends.map(({ stdout, stderr }, i) => [`command ${i}`, stdout + stderr] as const),
    ];
    for (const secret of [named, formed])
      expect(told.filter(([, text]) => text.includes(secret)).map(([where]) => where)).toEqual([]);
    const texts = told.map(([, text]) => text).join('\n');
    expect(texts).toContain('agent: [redacted: POST_TOKEN]');
    expect(texts).toContain('verifier: [redacted: POST_TOKEN]');
    expect(texts).toMatch(/the key is \[redacted: /);
    expect(texts).toMatch(/The key is \[redacted: [^\]]+\], or \[redacted: POST_TOKEN\]/);
    expect(own.place.events('session').some((e) => JSON.stringify(e).includes('verifier-bad-reward'))).toBe(true);
  });
});
