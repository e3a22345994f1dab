import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FolderTask } from '../../ports/task.ts';
import { runProcess } from '../../process/run-process.ts';
import { waitUntil } from '../../process/wait.ts';
import type { Agent } from '../agents/agent.ts';
import { createOracleAgent } from '../agents/oracle.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import type { LocalBench } from './bench-fixture.ts';
import { reportOf, resultOf, withBench } from './bench-runs-fixture.ts';
import { markName } from './environment.ts';
import type { LocalOptions } from './options.ts';
import { describeWalled, limits, noWalls, walled, walls } from './sandbox-fixture.ts';

const pass = 'echo 1 > /logs/verifier/reward.txt';
const verdict = (condition: string) => `if ${condition}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt`;

/** What the agent's script printed, within the walls. */
async function said(bench: LocalBench, instruction: string, more: Partial<FolderTask> = {}): Promise<string> {
  const { outcome, trajectory } = await resultOf(bench, {
    ...(await bench.task({ instruction, test: pass })),
    instruction,
    ...more,
  });
  expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
  return trajectory?.finalText ?? '';
}

const within = (body: (bench: LocalBench) => Promise<void>, more: Partial<LocalOptions> = {}) =>
  withBench({ ...walled, ...more }, body);

/** Is a process outside that has the rollout's mark still there when the rollout is over? */
async function outlives(network: 'off' | 'on'): Promise<boolean> {
  let alive = true;
  const gone = () => {
    alive = false;
  };
  const outside: Bun.Subprocess[] = [];
  const agent: Agent = {
    ...createSelfCheckAgent(),
    run: async (run) => {
      const end = await createSelfCheckAgent().run(run);
      const { sessionId } = known;
      const env = { [markName]: `${sessionId}/k`, PATH: '/usr/bin:/bin' };
      outside.push(Bun.spawn(['sleep', '300'], { env, cwd: '/', onExit: gone }));
      return end;
    },
  };
  let known = { sessionId: '' };
  await within(
    async (bench) => {
      known = bench;
      await resultOf(bench, await bench.task({ instruction: 'sleep 300 & setsid sleep 300 & echo', test: pass }));
      const found = alive;
      outside[0]?.kill('SIGKILL');
      await outside[0]?.exited;
      alive = found;
    },
    { agent, network },
  );
  return alive;
}

describeWalled('within walls a rollout', () => {
  test('is over when its namespaces are: only where it has a network the machine is looked through for its mark', async () => {
    expect(await outlives('off')).toBe(true);
    expect(await outlives('on')).toBe(false);
  });

  test('finds its folders where a container has them, and scripts may name them as they are', () =>
    within(async (bench) => {
      const task = await bench.task({
        instruction: 'pwd; echo "$APP_DIR $LOGS_DIR $HOME $TMPDIR [$TESTS_DIR]"; echo work > /app/out; echo t > /tmp/t',
        test: verdict('[ "$(cat /app/out /tmp/t)" = "work\nt" ] && [ -f /tests/test.sh ] && [ "$TESTS_DIR" = /tests ]'),
      });
      const { outcome, trajectory, versions } = await resultOf(bench, task);
      expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(trajectory?.finalText).toBe('/app\n/app /logs /home/agent /tmp []\n');
      expect(versions.sandbox).toBe(walls.version);
    }));

  for (const workdir of [
    '/workspace',
    '/usr/src/app',
    '/usr/app',
    '/usr/local/share/deep/er',
    '/home/agent',
    '/home/user/project',
    '/home',
    '/root',
    '/opt/x/y',
    '/tmp',
    '/tmp/work',
    '/var/lib/data',
    '/skills',
  ])
    test(`works in ${workdir} where a task says so`, () =>
      within(async (bench) => {
        const look = 'pwd; [ "$APP_DIR" = "$PWD" ]; touch here "$TMPDIR/t" "$HOME/h"; ls -d /usr/bin /bin/sh; ls -A';
        const lines = (await said(bench, look, { workdir })).trim().split('\n');
        expect(lines.slice(0, 3)).toEqual([workdir, '/bin/sh', '/usr/bin']);
        expect(lines.slice(3)).toContain('here');
      }));

  for (const workdir of ['/', '/usr', '/usr/bin/app', '/etc/x', '/proc', '/tests', '/logs/agent', '/dev/shm'])
    test(`is refused in ${workdir}, before it starts and in preflight`, () =>
      within(async (bench) => {
        const task = { ...(await bench.task({ instruction: ':', test: pass })), workdir };
        const failure = { code: 'pack', what: expect.stringContaining(workdir) };
        expect(await reportOf(bench, task)).toMatchObject({ kind: 'failed', failure });
        await within(
          async (other) => {
            const errors = (await other.backend.preflight()).filter(({ level }) => level === 'error');
            expect(errors).toMatchObject([{ what: expect.stringContaining(workdir), where: `task ${task.id}` }]);
          },
          { tasks: [task] },
        );
      }));

  test('is somebody with a name, without rights, in a system that can’t be written', () =>
    within(async (bench) => {
      const look = [
        'id -un; id -u; hostname; getent passwd agent | cut -d: -f6',
        'grep CapEff /proc/self/status',
        'for d in / /etc /run /usr /usr/bin /var /home /dev /proc /sys; do touch $d/planted 2>/dev/null && echo "wrote $d"; done',
        'touch /dev/shm/x && echo shared; python3 -c "import ssl, socket; print(socket.gethostbyname(\'localhost\'))"',
      ].join('\n');
      expect(await said(bench, look)).toBe(
        'agent\n1000\nsandbox\n/home/agent\nCapEff:\t0000000000000000\nshared\n127.0.0.1\n',
      );
    }));

  test('keeps what it writes to its temporary folders from one command to the next, and for the verifier', () => {
    const agent: Agent = {
      ...createSelfCheckAgent(),
      run: async (run) => {
        await run.run(['sh', '-c', 'echo 1 > /tmp/a; echo 2 > /dev/shm/b; echo 3 > ~/c; echo 4 > /var/tmp/d']);
        const end = await run.run(['sh', '-c', 'cat /tmp/a /dev/shm/b ~/c /tmp/d']);
        return { ...(await createSelfCheckAgent().run({ ...run, instruction: ':' })), finalText: end.stdout };
      },
    };
    return within(
      async (bench) => {
        const task = await bench.task({ instruction: ':', test: verdict('[ "$(cat /tmp/a ~/c)" = "1\n3" ]') });
        const { outcome, trajectory } = await resultOf(bench, task);
        expect([outcome, trajectory?.finalText]).toMatchObject([{ hard: 1 }, '1\n2\n3\n4\n']);
      },
      { agent },
    );
  });

  test('runs the task’s own solution', () =>
    within(
      async (bench) => {
        const solve = '#!/usr/bin/env bash\necho "$SOLUTION_DIR $(cat "$SOLUTION_DIR/helper")" > /app/out\n';
        const task = await bench.task({
          instruction: ':',
          test: verdict('[ "$(cat out)" = "/tmp/solution helper" ]'),
          files: { 'solution/solve.sh': solve, 'solution/helper': 'helper\n' },
        });
        expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'scored', hard: 1 });
      },
      { agent: createOracleAgent({ variables: {} }) },
    ));

  test('has the network where its agent talks to its vendor by itself, and then for the agent alone', async () => {
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('reached') });
    const call = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -1 <&3`;
    const needs = async () => ({ show: [], path: [], network: true });
    try {
      await within(
        async (bench) => {
          const test = `if bash -c "${call.replaceAll('"', '\\"')}" 2>/dev/null | grep -q reached; then exit 3; fi; ${pass}`;
          const task = await bench.task({ instruction: call, test });
          const { outcome, trajectory } = await resultOf(bench, task);
          expect([outcome, trajectory?.finalText]).toMatchObject([{ hard: 1 }, 'reached']);
        },
        { agent: { ...createSelfCheckAgent(), needs } },
      );
      await within(async (bench) => {
        const task = await bench.task({ instruction: `${call} 2>/dev/null || echo none`, test: pass });
        expect((await resultOf(bench, task)).trajectory?.finalText).toEndWith('none\n');
      });
    } finally {
      await server.stop(true);
    }
  });

  test('leaves nothing, though eight run at once', () =>
    within(async (bench) => {
      const task = await bench.task({ instruction: 'touch mine; ls | wc -l', test: pass });
      const signal = new AbortController().signal;
      const requests = [...'abcdefgh'].map((key) => ({ key, task, skill: null, attempt: 0, try: 0, signal }));
      const outputs: unknown[] = [];
      for await (const report of bench.backend.performRollouts(requests, { signal }))
        outputs.push(report.kind === 'finished' && report.result.trajectory?.finalText);
      expect(outputs).toEqual(Array(8).fill('1\n'));
    }));
});

describeWalled('what is shown', () => {
  test('is seen read-only at its own path, and its programs are found; hidden things in it are not', () =>
    within(async (bench) => {
      const tools = join(bench.folder, 'tools');
      for (const folder of ['bin', 'session', 'open']) mkdirSync(join(tools, folder), { recursive: true });
      writeFileSync(join(tools, 'bin', 'tool'), '#!/bin/sh\necho a tool\n', { mode: 0o755 });
      writeFileSync(join(tools, 'session', 'secret'), 'hidden\n');
      writeFileSync(join(tools, 'skill.md'), 'hidden, too\n');
      symlinkSync(join(tools, 'session'), join(tools, 'way'));
      const hide = [join(tools, 'session'), join(tools, 'skill.md'), join(bench.folder, 'not-there')];
      const hostEnv = { PATH: `${join(tools, 'bin')}:/nowhere:/usr/bin:/bin` };
      const look = `tool; echo "$PATH"; ls ${tools} ${tools}/session ${tools}/way; cat ${tools}/skill.md; touch ${tools}/bin/x 2>&1; ls ${bench.folder}`;
      await within(
        async (other) => {
          const text = await said(other, look);
          expect(text).toContain('a tool\n');
          expect(text).toContain(`${join(tools, 'bin')}:/usr/bin:/bin\n`);
          expect(text).not.toContain('secret');
          expect(text).not.toContain('hidden, too');
          expect(text).toMatch(/touch: .*Read-only file system/);
          expect(text.trim().split('\n').at(-1)).toBe('tools');
          expect((await other.backend.preflight()).filter(({ level }) => level === 'error')).toEqual([]);
        },
        { show: [tools, join(bench.folder, 'absent')], hide, hostEnv },
      );
    }));

  test('by an agent’s needs is for the agent alone; what the user names, for the verifier, too', () => {
    const needs = (folder: string): Agent => ({
      ...createSelfCheckAgent(),
      needs: async () => ({ show: [join(folder, 'agent')], path: [join(folder, 'agent')], network: false }),
    });
    return within(async (bench) => {
      for (const name of ['agent', 'user']) {
        mkdirSync(join(bench.folder, name));
        writeFileSync(join(bench.folder, name, `of-${name}`), '#!/bin/sh\necho "$0"\n', { mode: 0o755 });
      }
      await within(
        async (other) => {
          const agentsOwn = join(bench.folder, 'agent', 'of-agent');
          const users = join(bench.folder, 'user', 'of-user');
          const task = await other.task({
            instruction: `of-agent; ${users}`,
            test: verdict(`${users} >&2 && [ ! -e ${agentsOwn} ]`),
          });
          const { outcome, trajectory } = await resultOf(other, task);
          expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
          expect(trajectory?.finalText).toBe(`${agentsOwn}\n${users}\n`);
        },
        { agent: needs(bench.folder), show: [join(bench.folder, 'user')] },
      );
    });
  });

  test('is shown once, by whatever name it goes', () =>
    within(
      async (bench) => {
        expect(
          await said(
            bench,
            'ls /usr/bin | wc -l; command -v sh env; [ "$(readlink -f /bin/sh)" = "$(readlink -f /usr/bin/sh)" ]; echo $?',
          ),
        ).toBe(`${readdirSync('/usr/bin').length}\n/usr/bin/sh\n/usr/bin/env\n0\n`);
      },
      { show: ['/bin/sh', '/usr/bin/dash', '/bin/env', '/lib', '/usr/lib/os-release', '/etc/os-release'] },
    ));

  test('may lie in the workdir: its place there is gone for the verifier', () =>
    within(async (bench) => {
      const tools = join(bench.folder, 'deep', 'tools');
      mkdirSync(tools, { recursive: true });
      writeFileSync(join(tools, 'tool'), '#!/bin/sh\necho a tool\n', { mode: 0o755 });
      await within(
        async (other) => {
          const agent = `${tools}/tool; rm -rf deep; touch done`;
          const task = await other.task({ instruction: agent, test: `ls -A; ${pass}` });
          const { trajectory } = await resultOf(other, { ...task, workdir: bench.folder });
          expect(trajectory?.finalText).toStartWith('a tool\n');
          expect(trajectory?.verifier?.output).toBe('done\n');
        },
        {
          agent: { ...createSelfCheckAgent(), needs: async () => ({ show: [tools], path: [], network: false }) },
        },
      );
      expect(readdirSync(tools)).toEqual(['tool']);
    }));

  test('can’t be everything, nor the kernel’s own files', () =>
    within(
      async (bench) => {
        const found = (await bench.backend.preflight()).filter(({ level }) => level !== 'ok');
        expect(found.map(({ level, what }) => [level, what])).toEqual([
          ['error', '/ can’t be shown'],
          ['error', '/proc/sys can’t be shown'],
          ['warning', '/no/such/folder is not there, so it is not shown'],
        ]);
      },
      { show: ['/', '/proc/sys', '/no/such/folder'] },
    ));
});

describeWalled('preflight', () => {
  test('says which walls there are and asks for no consent', () =>
    within(async (bench) => {
      expect(await bench.backend.preflight()).toEqual([
        {
          level: 'ok',
          what: `agents and verifiers run within ${walls.version}: they see their own folders and the system, and no network`,
          where: 'backend local',
          fix: '',
        },
      ]);
    }));

  test('looks for commands with the eyes of a verifier', () =>
    within(
      async (bench) => {
        await bench.backend.preflight();
      },
      {
        problems: async (_tasks, seen) => {
          expect([seen('bash'), seen('no-such-command'), seen('sh')]).toEqual([true, false, true]);
          return [];
        },
      },
    ));

  test('says that an agent which talks to its vendor by itself has the network', () =>
    within(
      async (bench) => {
        const found = (await bench.backend.preflight()).filter(({ level }) => level !== 'ok');
        expect(found).toMatchObject([{ level: 'warning', where: 'sandbox.network' }]);
        expect(found[0]?.what).toContain('verifiers have none');
      },
      { agent: { ...createSelfCheckAgent(), needs: async () => ({ show: [], path: [], network: true }) } },
    ));

  test('warns where one rollout may write more than is free', () =>
    within(
      async (bench) => {
        const warnings = (await bench.backend.preflight()).filter(({ level }) => level === 'warning');
        expect(warnings).toMatchObject([{ fix: expect.stringContaining('diskMb') }]);
      },
      { limits: { ...limits, diskMb: 1_000_000_000 } },
    ));
});

test('plain folders ask for consent, say why there are no walls, and what they can’t hold', async () => {
  const instead = { what: 'bubblewrap is not installed', fix: 'install it' };
  const sandbox = Object.assign(Object.create(noWalls), { instead }) as typeof noWalls;
  await withBench({ sandbox, unsandboxedAllowed: false }, async (bench) => {
    const what = 'agents and verifiers would run without a sandbox, as you: bubblewrap is not installed';
    expect(await bench.backend.preflight()).toEqual([
      { level: 'error', what, where: 'backend local', fix: 'install it' },
    ]);
    const task = await bench.task({ instruction: 'touch /should-not-be', test: pass });
    expect(await reportOf(bench, task)).toMatchObject({ kind: 'failed', failure: { code: 'preflight', what } });
  });
  await withBench({ sandbox, unsandboxedAllowed: true }, async (bench) => {
    const found = await bench.backend.preflight();
    expect(found[0]).toMatchObject({ level: 'ok', what: expect.stringContaining('as allowed (bubblewrap is not') });
    expect(found.slice(1).map(({ level, what }) => [level, what])).toEqual(noWalls.gaps.map((gap) => ['warning', gap]));
    expect(noWalls.gaps.length).toBeGreaterThan(0);
  });
});

describeWalled('a process of ours that is killed', () => {
  test('takes the whole rollout with it, daemons too; the next start removes its folder', () =>
    within(async (bench) => {
      const up = join(bench.folder, 'up');
      const program = join(bench.folder, 'program.ts');
      const here = (name: string) => JSON.stringify(join(import.meta.dir, name));
      const instruction = 'env -i setsid sh -c "cd /; exec sleep 4712" & echo "$$" > up; sleep 4713';
      writeFileSync(
        program,
        `
import { makeLocalBench } from ${here('bench-fixture.ts')};
import { resultOf } from ${here('bench-runs-fixture.ts')};
import { walled } from ${here('sandbox-fixture.ts')};
const bench = await makeLocalBench({ ...walled, tempRoot: ${JSON.stringify(bench.tempRoot)}, sessionId: ${JSON.stringify(bench.sessionId)} });
await resultOf(bench, await bench.task({ instruction: ${JSON.stringify(instruction)}, test: ':' }));
`,
      );
      const controller = new AbortController();
      const running = runProcess({
        command: [process.execPath, program],
        cwd: import.meta.dir,
        env: { PATH: process.env.PATH ?? '', HOME: bench.folder, TMPDIR: bench.folder },
        timeoutMs: 100_000,
        graceMs: 0,
        signal: controller.signal,
      });
      const rollout = () => readdirSync(bench.tempRoot).map((name) => join(bench.tempRoot, name))[0];
      const isUp = () => existsSync(join(rollout() ?? up, 'app', 'up')) && alive('sleep 4712') && alive('sleep 4713');
      expect(await waitUntil(isUp, 60_000)).toBe(true);
      controller.abort();
      await running;
      expect(await waitUntil(() => !alive('sleep 4712') && !alive('sleep 4713'), 20_000)).toBe(true);
      expect((await bench.backend.sweep()).filter((line) => line.startsWith('folder'))).toHaveLength(1);
      expect(readdirSync(bench.tempRoot)).toEqual([]);
    }));
});

/** Does a process with this command line live on this machine? */
function alive(command: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command;
    } catch {
      return false;
    }
  });
}
