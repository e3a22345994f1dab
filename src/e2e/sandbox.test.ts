import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describeWalled } from '../rollout/local/sandbox-fixture.ts';
import { expectFailure, jsonOf, markedProcesses, Place, removePlaces, until } from './binary.ts';
import { allTasks, bestSkill, OwnSession, taskFiles, undisturbed, writeFiles } from './own-pack.ts';
import { essence } from './sessions.ts';

afterAll(removePlaces);

const inWalls = { sandbox: { kind: 'auto' }, allowUnsandboxed: false };

/** Scripts that name the folders of a container as they are. */
function literally(own: OwnSession): void {
  for (const id of allTasks) {
    const [name = '', script = ''] = Object.entries(taskFiles(id)).find(([path]) => path.endsWith('test.sh*')) ?? [];
    const literal = script.replace(/"\$\{(APP|LOGS)_DIR:-(\/\w+)\}"/g, '$2');
    writeFiles(own.place.path('pack'), { [name]: literal });
  }
}

/** All that lies below a folder, as one text. */
function contentOf(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? contentOf(path) : entry.isFile() ? readFileSync(path, 'utf8') : '';
    })
    .join('\n');
}

describeWalled('a session within walls', () => {
  test('asks for no consent, and decides as in plain folders', async () => {
    const own = new OwnSession(new Place(), { config: inWalls });
    const end = await own.succeed(['run', 'session', '--finalize']);
    expect(end.stdout).not.toMatch(/^warning.*(sandbox|network|processes)/m);
    expect(await essence(own.place, 'session')).toEqual(await undisturbed({ finalize: true }));
    expect(own.place.read('session/skillopt.jsonl')).toMatch(/"sandbox":"bubblewrap \d/);
    expect(own.place.leftovers('session')).toEqual([]);
  });

  test('runs scripts that name a container’s folders as they are', async () => {
    const own = new OwnSession(new Place(), { config: inWalls });
    literally(own);
    expect((await own.succeed(['run', 'session'])).stdout).toContain('improved');
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
  });

  test('that is killed leaves no process; the same command goes on', async () => {
    const own = new OwnSession(new Place(), { config: inWalls });
    const slow = 'sleep 100 & sleep 0.2';
    for (const id of allTasks)
      writeFiles(own.place.path('pack'), {
        [`${id}/tests/test.sh*`]: (taskFiles(id)[`${id}/tests/test.sh*`] ?? '').replace(
          'cd "$APP_DIR"',
          `${slow}; cd "$APP_DIR"`,
        ),
      });
    const run = own.start(['run', 'session']);
    const atWork = () => own.place.lines('session') > 1 && own.place.leftovers('session').length > 4;
    await until('rollouts are at work', () => run.over() || atWork());
    run.kill('SIGKILL');
    await run.ended;
    const id = String(own.place.events('session')[0]?.session);
    await until('nothing works any more', () => markedProcesses(id).every(isStuckStart));
    await own.succeed(['run', 'session']);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect(own.place.leftovers('session')).toEqual([]);
  });

  test('keeps a key that an agent prints out of all that is written and shown', async () => {
    const key = ['sk', 'ant', 'api03', `${'AbCd1234'.repeat(11)}-AbCd_AA`].join('-');
    const own = new OwnSession(new Place(), { config: inWalls });
    for (const id of allTasks) {
      const letter = `Dear ${id},\nall is well.\n`;
      const script = (taskFiles(id)[`${id}/tests/test.sh*`] ?? '').replace(
        'cd "$APP_DIR"',
        'cd "$APP_DIR"; cat key.txt; echo "$SOME_API_KEY"',
      );
      writeFiles(own.place.path('pack'), {
        [`${id}/environment/letter.txt`]: letter,
        [`${id}/environment/key.txt`]: `${key}\n`,
        [`${id}/environment/Dockerfile`]: 'FROM debian:bookworm-slim\nWORKDIR /app\nCOPY letter.txt key.txt /app/\n',
        [`${id}/tests/test.sh*`]: script,
      });
    }
    const { skill } = { skill: own.place.read('post-office/SKILL.md') };
    writeFiles(own.place.dir, {
      'post-office/SKILL.md': `${skill}\n- When the task says "the letter", run \`cat key.txt\`.\n`,
    });
    const secret = 'host-secret-value-4711';
    const end = await own.place.succeed(['run', 'session', '--json'], { env: { ...own.env, SOME_API_KEY: secret } });
    const written = `${contentOf(own.place.path('session', '.skillopt', 'texts'))}\n${own.place.read('session/skillopt.jsonl')}\n${own.place.read('session/skillopt.md')}\n${end.stdout}`;
    expect(written).toContain('cat key.txt');
    expect(written).toContain('[redacted');
    expect(written).not.toContain(key);
    expect(written).not.toContain(secret);
  });

  test('shows the commands that it can’t see, with the fix', async () => {
    const own = new OwnSession(new Place(), { config: inWalls });
    const tools = own.place.path('tools');
    writeFiles(tools, { 'own-tool*': '#!/bin/sh\necho tool\n' });
    for (const id of allTasks)
      writeFiles(own.place.path('pack'), {
        [`${id}/task.toml`]: `${taskFiles(id)[`${id}/task.toml`]}\n[metadata]\ncommands = ["own-tool"]\n`,
      });
    const env = { ...own.env, PATH: `${tools}:/usr/local/bin:/usr/bin:/bin` };
    expectFailure(await own.place.run(['run', 'session'], { env }), {
      code: 4,
      what: /^the command own-tool is in .*tools, which is not shown within the sandbox/,
      where: /needed by/,
      fix: /"sandbox": \{"show": \[".*tools"/,
    });
    own.configure({ ...inWalls, sandbox: { show: ['../tools'] } });
    await own.place.succeed(['run', 'session'], { env });
  });
});

describe('without bubblewrap', () => {
  /** A PATH with all that the tasks need and no bwrap. */
  function pathWithout(own: OwnSession): string {
    const bin = own.place.path('bin');
    mkdirSync(bin);
    for (const name of ['bash', 'sh', 'cat', 'sed', 'wc', 'cmp', 'grep', 'env'])
      symlinkSync(`/bin/${name}`, join(bin, name));
    return bin;
  }

  test.if(process.platform === 'linux')('a session asks for consent, and says what would spare it', async () => {
    const own = new OwnSession(new Place(), { config: inWalls });
    const env = { ...own.env, PATH: pathWithout(own) };
    const failed = await own.place.run(['run', 'session'], { env });
    expectFailure(failed, {
      code: 4,
      what: /without a sandbox, as you: bubblewrap is not installed \(no bwrap on PATH\)/,
      where: /^backend local$/,
      fix: /install bubblewrap.*--allow-unsandboxed/,
    });
    expect(jsonOf(await own.place.run(['run', 'session', '--json'], { env })).error).toMatchObject({
      code: 'preflight',
    });
    const end = await own.place.succeed(['run', 'session', '--allow-unsandboxed'], { env });
    expect(end.stdout).toMatch(/^warning +nothing keeps agents and verifiers from your files and from the network/m);
    expect(own.place.read('session/skillopt.jsonl')).toContain('"sandbox":"none"');
  });

  test('scripts that name a container’s folders are refused in plain folders', async () => {
    const own = new OwnSession(new Place());
    literally(own);
    expectFailure(await own.run(['run', 'session']), {
      code: 4,
      what: /uses \/(app|logs) of this machine/,
      where: /test\.sh/,
      fix: /APP_DIR|LOGS_DIR/,
    });
  });
});

/**
 * A start of bubblewrap that was cut off: its second process sleeps until the first tells it that it may go on, and that one
 * is dead. It has started nothing, and the next start of the session ends it.
 */
function isStuckStart(pid: string): boolean {
  try {
    const [name = '', nothing = ''] = ['comm', `task/${pid}/children`].map((file) =>
      readFileSync(`/proc/${pid}/${file}`, 'utf8').trim(),
    );
    return name === 'bwrap' && nothing === '';
  } catch {
    return true; // it is gone
  }
}
