import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectFailure, jsonOf, Place, removePlaces } from './binary.ts';

afterAll(removePlaces);

function placeWith(text: string | Uint8Array, folder = 'demo', file = 'SKILL.md'): Place {
  const place = new Place();
  mkdirSync(join(place.dir, folder), { recursive: true });
  writeFileSync(join(place.dir, folder, file), text);
  return place;
}

const sound = '---\nname: demo\ndescription: Does it when asked.\n---\n# Demo\n\nRun `no-such-program-of-mine x`.\n';

describe('skillopt lint', () => {
  test('of a sound skill ends with 0, by its folder and by its file', async () => {
    const place = placeWith(sound);
    const end = await place.succeed(['lint', 'demo']);
    expect(end.stdout).toContain('seen by     claude-code, codex, pi, opencode, gemini-cli\n');
    expect(end.stdout).toContain('commands    no-such-program-of-mine (line 7, not here)\n');
    expect(end.stdout).toEndWith('sound       0 errors, 0 warnings, 0 pieces of advice\n');
    expect((await place.succeed(['lint', 'demo/SKILL.md'])).stdout).toBe(end.stdout);
    expect(readFileSync(join(place.dir, 'demo/SKILL.md'), 'utf8')).toBe(sound);
  });

  test('tells errors with line and fix, and fails the exit code; so does an agent that does not see it', async () => {
    const place = placeWith(sound.replace('Does it when', 'Does it: when'));
    const end = await place.run(['lint', 'demo']);
    expect(end.code).toBe(3);
    expect(end.stdout).toContain('error       line 3: a value holds ": " and is not quoted\n');
    expect(end.stdout).toContain('→ quote the value: description: "Does it: when asked."');
    expect(end.stdout).toContain('not seen by pi: ');
  });

  test('warnings fail it with --strict alone', async () => {
    const place = placeWith(sound.replace('---\n#', 'model: x\n---\n#'));
    expect((await place.run(['lint', 'demo'])).code).toBe(0);
    expect((await place.run(['lint', 'demo', '--strict'])).code).toBe(3);
  });

  test('with --json gives all of it, for several skills', async () => {
    const place = placeWith(sound);
    mkdirSync(join(place.dir, 'other'));
    writeFileSync(join(place.dir, 'other/SKILL.md'), '# No frontmatter\n');
    const end = await place.run(['lint', 'demo', 'other', '--json']);
    expect(end.code).toBe(3);
    expect(jsonOf(end)).toMatchObject({
      ok: false,
      skills: [
        { ok: true, name: 'demo', findings: [], commands: [{ name: 'no-such-program-of-mine', line: 7, here: false }] },
        { ok: false, name: null, findings: [{ rule: 'frontmatter', level: 'error', line: 1 }] },
      ],
    });
  });

  test.each<[string, string | Uint8Array, string, RegExp]>([
    [
      'no UTF-8',
      Uint8Array.from([...Buffer.from('---\na\n'), 0xff]),
      'SKILL.md',
      /line 3: the file is not valid UTF-8/,
    ],
    ['another name', sound, 'skill.md', /the file is named skill\.md/],
    [
      'a key',
      `${sound}\nexport X=ghp_0123456789abcdefghijABCDEFGHIJ012345\n`,
      'SKILL.md',
      /line 9: something like a key/,
    ],
  ])('%s is an error', async (_name, text, file, what) => {
    const end = await placeWith(text, 'demo', file).run(['lint', `demo/${file}`]);
    expect({ code: end.code, told: end.stdout }).toMatchObject({ code: 3, told: expect.stringMatching(what) });
    expect(end.stdout).not.toContain('0123456789');
  });

  test('what is not there is said so', async () => {
    const place = new Place();
    expectFailure(await place.run(['lint', 'nowhere']), {
      code: 3,
      what: /there is no such skill/,
      where: /nowhere/,
      fix: /./,
    });
    mkdirSync(join(place.dir, 'empty'));
    expectFailure(await place.run(['lint', 'empty']), {
      code: 3,
      what: /there is no SKILL\.md/,
      where: /empty/,
      fix: /./,
    });
  });
});

test('what is no file is told as such, by lint and by eval, and never waited for', async () => {
  const place = placeWith(sound);
  mkdirSync(place.path('folder/SKILL.md'), { recursive: true });
  mkdirSync(place.path('device'));
  symlinkSync('/dev/null', place.path('device/SKILL.md'));
  symlinkSync('loop', place.path('loop'));
  for (const [path, what] of [
    ['loop', /^it can’t be read \(ELOOP\)$/],
    ['demo/SKILL.md/below', /^there is no such skill$/],
  ] as const) {
    const failure = { code: 3, what, where: new RegExp(`${path}$`), fix: /^give the path of a SKILL\.md/ };
    expectFailure(await place.run(['lint', path]), failure);
    expectFailure(await place.run(['eval', '--skill', path, '--pack', 'example:short-answers']), failure);
  }
  for (const path of ['folder', 'device']) {
    const end = await place.run(['lint', path]);
    expect(end.code).toBe(3);
    expect(end.stdout).toContain('error       line 1: it is no file\n');
    expectFailure(
      await place.run(['eval', '--skill', path, '--pack', 'example:short-answers', '--model', 'ollama/x']),
      {
        code: 3,
        what: /^it is no file$/,
        where: new RegExp(`${path}/SKILL\\.md$`),
        fix: /a regular file$/,
      },
    );
  }
});
