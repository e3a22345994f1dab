import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { RolloutResult } from '../../ports/outcome.ts';
import { runProcess } from '../../process/run-process.ts';
import { waitUntil } from '../../process/wait.ts';
import type { Agent } from '../agents/agent.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import type { LocalBench } from './bench-fixture.ts';
import { resultOf, withBench } from './bench-runs-fixture.ts';
import type { LocalOptions } from './options.ts';
import { describeWalled, limits, noWalls, unwalled, walled, walls } from './sandbox-fixture.ts';

// An agent that is up to no good. What it may try is a script of bash; what comes of it is looked at from outside.

const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
const verdict = (condition: string) =>
  `if ${condition}; then echo 1; else echo 0; fi > "$LOGS_DIR/verifier/reward.txt"`;

const notesOf = ({ trajectory }: RolloutResult) =>
  trajectory?.steps.flatMap((step) => (step.kind === 'note' ? [step.text] : [])) ?? [];

/** A rollout after the hostile one, in the same backend. */
async function nextIsUnharmed(bench: LocalBench): Promise<void> {
  const task = await bench.task({ instruction: 'echo ok > out', test: verdict('[ "$(cat out)" = ok ]') });
  expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'scored', hard: 1 });
}

/** Two commands of one agent, the second with its output in a file of its logs. */
const twoCommands = (first: string, second: string): Agent => ({
  ...createSelfCheckAgent(),
  skillMounts: [
    { base: 'workspace', path: '.agents/skills' },
    { base: 'home', path: '.claude/skills' },
  ],
  run: async (run) => {
    await run.run(['bash', '-c', first]);
    const end = await run.run(['bash', '-c', second], { stdoutFile: join(run.host.logDir, 'second.txt') });
    const kept = await createSelfCheckAgent().run({ ...run, instruction: ':' });
    return { ...kept, finalText: `${end.cause}: ${end.detail}` };
  },
});

/** Does a process live on this machine whose command line is this? */
function alive(command: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command;
    } catch {
      return false;
    }
  });
}

const bodies = (kind: string, options: Partial<LocalOptions>, isBounded: boolean) => {
  const within = (body: (bench: LocalBench) => Promise<void>, more: Partial<LocalOptions> = {}) =>
    withBench({ ...options, ...more }, body);

  test('that plants a reward has tampered', () =>
    within(async (bench) => {
      const plant = 'mkdir -p "$LOGS_DIR/verifier" && echo 1 > "$LOGS_DIR/verifier/reward.txt"';
      const result = await resultOf(bench, await bench.task({ instruction: plant, test: ':' }));
      expect(result.outcome).toMatchObject({ status: 'unscored', reason: 'tampered' });
      await nextIsUnharmed(bench);
    }));

  test('that plants programs is not run by the verifier, nor by us', () =>
    within(async (bench) => {
      const plant = [
        'for name in bash sh cat python3 pytest env; do printf "#!/bin/sh\\ntouch %s/ran\\nexit 0\\n" "$APP_DIR" > $name; done',
        'chmod +x bash sh cat python3 pytest env; cp -p bash sh cat "$HOME"; mkdir "$HOME/bin"; cp -p bash cat "$HOME/bin"',
        'echo "touch $APP_DIR/ran" | tee "$HOME/.bashrc" "$HOME/.profile" "$HOME/.bash_profile" > "$HOME/.zshenv"',
      ].join('\n');
      const result = await resultOf(
        bench,
        await bench.task({ instruction: plant, test: `cat /dev/null; ${verdict('[ ! -e ran ] && [ -x bash ]')}` }),
      );
      expect(result.outcome).toMatchObject({ status: 'scored', hard: 1 });
    }));

  test('that leads our own folders elsewhere makes us touch nothing there', () =>
    within(async (outer) => {
      const victim = join(outer.folder, 'victim');
      mkdirSync(join(victim, 'skills', 'empty'), { recursive: true });
      symlinkSync('empty', join(victim, 'skills', 's'));
      writeFileSync(join(victim, 'second.txt'), 'mine\n');
      const first = [
        `mv .agents moved; ln -s ${victim} .agents`,
        `rm -rf "$HOME/.claude"; mv "$HOME/.claude" "$HOME/moved"; ln -s ${victim} "$HOME/.claude"`,
        `rm -rf "$LOGS_DIR/agent"; ln -s ${victim} "$LOGS_DIR/agent"`,
      ].join('\n');
      const agent = twoCommands(first, 'echo overwritten');
      await within(
        async (bench) => {
          const task = await bench.task({ instruction: ':', test: pass });
          const result = await resultOf(bench, task, await bench.skill('---\nname: s\n---\n', {}));
          expect(result.trajectory?.finalText).toContain('not-started: the folder');
          expect(['scored', 'skill-changed', 'tampered']).toContain(
            result.outcome.status === 'scored' ? 'scored' : result.outcome.reason,
          );
        },
        { agent },
      );
      expect(readdirSync(victim).sort()).toEqual(['second.txt', 'skills']);
      expect(readdirSync(join(victim, 'skills')).sort()).toEqual(['empty', 's']);
      expect(readFileSync(join(victim, 'second.txt'), 'utf8')).toBe('mine\n');
    }));

  test('that leaves links where output is written and read is not followed', () =>
    within(async (outer) => {
      const victim = join(outer.folder, 'victim.txt');
      writeFileSync(victim, 'mine\n');
      const first = `ln -s ${victim} "$LOGS_DIR/agent/second.txt"; ln -s ${victim} letter; mkfifo pipe`;
      await within(
        async (bench) => {
          await resultOf(bench, await bench.task({ instruction: ':', test: pass }));
        },
        { agent: twoCommands(first, 'echo overwritten') },
      );
      expect(readFileSync(victim, 'utf8')).toBe('mine\n');
    }));

  test('that fills the disk is ended, judged on what it did, and named', () =>
    within(async (bench) => {
      const fill =
        'echo work > out; for i in $(seq 40); do head -c 10000000 /dev/zero > "$TMPDIR/f$i"; done; sleep 300';
      const test = `du -s "$TMPDIR" | cut -f1; ${verdict('[ "$(cat out)" = work ]')}`;
      const result = await resultOf(bench, await bench.task({ instruction: fill, test }));
      expect(result.exit).toBe('timeout');
      expect(result.outcome).toMatchObject({ status: 'scored', hard: 1, agentTimedOut: true });
      expect(notesOf(result)).toEqual([expect.stringMatching(/^The limit of 40 MB was reached: it held \d+ MB\.$/)]);
      await nextIsUnharmed(bench);
    }));

  test('that fills the disk before it does anything is no failure of the skill', () =>
    within(async (bench) => {
      const fill = '# idle\nfor i in $(seq 9); do head -c 10000000 /dev/zero > f$i; done; sleep 300';
      const result = await resultOf(bench, await bench.task({ instruction: fill, test: pass }));
      expect(result.outcome).toMatchObject({ status: 'unscored', reason: 'agent-did-no-work' });
      expect(result.outcome.status === 'unscored' && result.outcome.detail).toContain('The limit of 40 MB was reached');
    }));

  test('that writes a file larger than one may be gets no further with it, and it is named', () =>
    within(async (bench) => {
      const write = 'head -c 30000000 /dev/zero > big; echo "after: $?"; stat -c %s big';
      const result = await resultOf(bench, await bench.task({ instruction: write, test: pass }));
      expect(result.outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(result.trajectory?.finalText).toMatch(/after: (153|1)\n(19|20)\d{6}\n$/);
      expect(notesOf(result)).toEqual(['The limit of 20 MB for a file was reached, by $APP_DIR/big.']);
      await nextIsUnharmed(bench);
    }));

  test('whose tests run into a limit gets no zero for it', () =>
    within(async (bench) => {
      const test = `head -c 30000000 /dev/zero > big; ${verdict('[ "$(stat -c %s big)" = 30000000 ]')}`;
      const { outcome } = await resultOf(bench, await bench.task({ instruction: ':', test }));
      expect(outcome).toMatchObject({ status: 'unscored', reason: 'environment' });
      expect(outcome.status === 'unscored' && outcome.detail).toContain('the verifier ran into');
      const passing = `head -c 30000000 /dev/zero > big; ${pass}`;
      const passed = await resultOf(bench, await bench.task({ instruction: ':', test: passing }));
      expect(passed.outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(notesOf(passed)).toEqual([expect.stringContaining('The verifier: The limit of 20 MB')]);
    }));

  test.if(isBounded)('that forks without end is bounded, ended in time, and named', () =>
    within(async (bench) => {
      const bomb = 'echo work > out; while :; do sleep 300 & done 2>/dev/null';
      const task = await bench.task({ instruction: bomb, test: verdict('[ -f out ]'), agentTimeoutSec: 4 });
      const result = await resultOf(bench, task);
      expect(result.outcome).toMatchObject({ status: 'scored', hard: 1, agentTimedOut: true });
      expect(notesOf(result).join()).toContain('The limit of 200 processes was reached');
      await nextIsUnharmed(bench);
    }),
  );

  test.if(isBounded)('that leaves a daemon, in a session of its own, without environment and folder, leaves none', () =>
    within(async (bench) => {
      const mark = `sleep 47${kind.length}1.5`;
      const daemon = `(env -i setsid sh -c 'cd /; ${mark} & ${mark} & wait' >/dev/null 2>&1 &) ; (trap "" HUP TERM; cd /; exec ${mark}) & touch up`;
      const result = await resultOf(
        bench,
        await bench.task({ instruction: daemon, test: `${daemon}; ${verdict('[ -f up ]')}` }),
      );
      expect(result.outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(alive(mark)).toBe(false);
    }),
  );

  test('that leaves something which goes on writing does not write into the verdict', () =>
    within(async (bench) => {
      const writer = `(setsid bash -c 'while :; do date +%N > "$APP_DIR/moving"; done' >/dev/null 2>&1 &); until [ -s moving ]; do sleep 0.01; done`;
      const test = `a=$(cat moving); for i in $(seq 200); do :; done; sleep 0.3; ${verdict('[ "$(cat moving)" = "$a" ]')}`;
      expect((await resultOf(bench, await bench.task({ instruction: writer, test }))).outcome).toMatchObject({
        hard: 1,
      });
    }));
};

describe('an agent in plain folders', () => bodies('plain', unwalled, noWalls.bound.kind === 'cell'));
describeWalled('an agent within walls', () => bodies('walls', walled, walls.bound.kind !== 'none'));

describeWalled('an agent within walls', () => {
  const within = (body: (bench: LocalBench) => Promise<void>, more: Partial<LocalOptions> = {}) =>
    withBench({ ...walled, ...more }, body);
  const said = async (bench: LocalBench, instruction: string) =>
    (await resultOf(bench, await bench.task({ instruction, test: pass }))).trajectory?.finalText ?? '';

  test('reads neither the user’s home nor the pack, its tests and solutions, nor the session', () =>
    within(async (bench) => {
      const home = join(bench.folder, 'home');
      mkdirSync(join(home, '.ssh'), { recursive: true });
      writeFileSync(join(home, '.ssh', 'id_ed25519'), 'PRIVATE');
      const files = { 'solution/solve.sh': 'SOLUTION', 'tests/expected.txt': 'EXPECTED' };
      const read = [
        `cat ${home}/.ssh/id_ed25519`,
        `ls -R ${bench.folder} /home /root /srv /mnt /media`,
        'grep -rl -e PRIVATE -e SOLUTION -e EXPECTED / --exclude-dir=proc --exclude-dir=usr --exclude-dir=dev 2>/dev/null',
        'find / -xdev -path /proc -prune -o -name "expected.txt" -print -o -name "solve.sh" -print 2>/dev/null',
        'ls /tests /solution',
      ].join('; ');
      const task = await bench.task({ instruction: read, test: pass, files });
      const text = (await resultOf(bench, task)).trajectory?.finalText ?? '';
      expect(text).not.toMatch(/PRIVATE|SOLUTION|EXPECTED|expected\.txt|solve\.sh/);
      expect(text).toContain('No such file or directory');
      expect(text).not.toContain('pack');
    }));

  test('sees nothing of another rollout that runs beside it', () =>
    within(async (bench) => {
      const one = await bench.task({ instruction: 'touch mine; until [ -e go ]; do sleep 0.02; done', test: pass });
      const other = resultOf(bench, one, null, 'other');
      const appOf = () => readdirSync(bench.tempRoot).map((name) => join(bench.tempRoot, name, 'app'));
      expect(await waitUntil(() => appOf().some((app) => existsSync(join(app, 'mine'))), 60_000)).toBe(true);
      const [app = ''] = appOf();
      const look = `touch mine; find / -name mine -not -path '/proc/*' 2>/dev/null; ls ${app} 2>&1 | grep -c mine; ps -e -o comm= | grep -c bwrap`;
      expect(await said(bench, look)).toBe('/app/mine\n0\n1\n');
      writeFileSync(join(app, 'go'), '');
      expect((await other).outcome).toMatchObject({ status: 'scored', hard: 1 });
    }));

  test('finds no path, no secret and no descriptor of ours in process 1 or its own', () =>
    within(async (bench) => {
      const look = [
        'for p in 1 self; do tr "\\0" "\\n" < /proc/$p/environ; tr "\\0" " " < /proc/$p/cmdline; echo; ls -l /proc/$p/fd; done',
        'ls -l /proc/1/cwd /proc/1/root /proc/self/cwd; cat /proc/self/mounts /proc/self/cgroup /proc/version >/dev/null',
      ].join('; ');
      const text = await said(bench, look);
      for (const ours of [bench.folder, process.cwd(), bench.secret, import.meta.dir, `${homedir()}/`])
        expect(text).not.toContain(ours);
      expect(text).toContain('SKILLOPT_ROLLOUT=');
      const targets = [...text.matchAll(/ -> (\S+)/g)].map(([, to = '']) =>
        to.replace(/-[0-9a-f]{12}$/, '').replace(/\d+/g, 'N'),
      );
      expect([...new Set(targets)].sort()).toEqual([
        '/',
        '/app',
        '/proc/N/fd',
        '<rollout>/.channel',
        'anon_inode:[eventfd]',
        'socket:[N]',
      ]);
    }));

  test('learns from its mounts where its own folders lie, and nothing else', () =>
    within(async (bench) => {
      const lines = (await said(bench, 'cat /proc/self/mountinfo')).trim().split('\n');
      const roots = lines.map((line) => line.split(' ')[3] ?? '').filter((root) => root.includes('bench'));
      expect(roots.every((root) => /\/skillopt-bench-[\w-]+\//.test(root) || root.startsWith('$'))).toBe(true);
      expect(lines.join('\n')).not.toContain('/pack/');
    }));

  test('writes nowhere but in its own folders', () =>
    within(async (bench) => {
      const places =
        '/ /etc /usr /usr/local /usr/bin /bin /lib /run /var /home /dev /proc/sys /sys /root /opt /srv /boot';
      const write = [
        `for d in ${places}; do { mkdir -p "$d"; echo x > "$d/planted-by-agent"; } 2>/dev/null && echo "wrote $d"; done`,
        '# below /tmp that is a folder of its own',
        `for d in ${bench.folder} ${bench.tempRoot} ${process.cwd()}; do mkdir -p "$d"; echo x > "$d/planted-by-agent"; done 2>/dev/null`,
        'rm -f /usr/bin/env /etc/passwd 2>/dev/null; mv /usr /usr2 2>/dev/null; echo "still here"; touch /app/ok; ls /app',
      ].join('\n');
      expect(await said(bench, write)).toBe('still here\nok\n');
      for (const folder of [...places.split(' '), bench.folder, bench.tempRoot, process.cwd()])
        expect(existsSync(join(folder, 'planted-by-agent'))).toBe(false);
      expect(statSync('/usr/bin/env').isFile()).toBe(true);
      await nextIsUnharmed(bench);
    }));

  test('signals and sees no process of this machine', () =>
    within(async (bench) => {
      const stop = new AbortController();
      let pid = 0;
      const bystander = runProcess({
        command: ['sh', '-c', 'echo $$ > pid; exec sleep 4799'],
        cwd: bench.folder,
        env: { PATH: '/usr/bin:/bin' },
        timeoutMs: 60_000,
        signal: stop.signal,
      });
      const pidFile = join(bench.folder, 'pid');
      expect(await waitUntil(() => existsSync(pidFile) && alive('sleep 4799'), 20_000)).toBe(true);
      pid = Number(readFileSync(pidFile, 'utf8'));
      const look = `kill -9 ${pid} 2>/dev/null && echo killed; [ -e /proc/${pid} ] && echo seen; ps -e -o args= | grep -c 'sleep [4]799'`;
      expect(await said(bench, look)).toBe('0\n');
      expect(alive('sleep 4799')).toBe(true);
      stop.abort();
      await bystander;
    }));

  test('changes no setting of the kernel', () =>
    within(async (bench) => {
      const look = [
        'find /proc -path "/proc/[0-9]*" -prune -o -path /proc/self -prune -o -path /proc/thread-self -prune -o -path /proc/pressure -prune -o -type f -writable -print 2>/dev/null',
        'for f in kernel/core_pattern vm/swappiness net/ipv4/ip_forward fs/file-max; do cat /proc/sys/$f > /tmp/v && cat /tmp/v > /proc/sys/$f && echo "wrote $f"; done 2>/dev/null',
        'echo end; cat /proc/sys/kernel/pid_max | wc -l',
      ].join('\n');
      expect(await said(bench, look)).toBe('end\n1\n');
    }));

  test('changes nothing about the files of this machine that it has a hold on', () =>
    within(async (bench) => {
      const modes = ['/dev/null', '/dev/zero', '/dev/urandom', '/usr/bin/bwrap', '/usr/bin/env', '/bin/sh'].filter(
        existsSync,
      );
      const before = modes.map((path) => statSync(path).mode);
      // what they are, so that nothing is broken should it succeed
      const holds =
        '/dev/null /dev/zero /dev/urandom /dev/tty /proc/1/exe /proc/self/exe /proc/1/fd/0 /proc/self/fd/0 /usr/bin/env';
      const look = `for f in ${holds}; do chmod "$(stat -L -c %a "$f")" "$f" 2>/dev/null && echo "$f $(readlink "$f")"; done; cat | wc -c`;
      const done = (await said(bench, look)).trim().split('\n');
      const foreign = done.filter((line) => !/^\/proc\/(1|self)\/(exe|fd\/0) <rollout>\//.test(line));
      expect(foreign).toEqual(['0']);
      expect(modes.map((path) => statSync(path).mode)).toEqual(before);
    }));

  test('gets at no key that the kernel keeps for this login', () =>
    within(async (bench) => {
      const call = (number: string) =>
        `python3 -c 'import ctypes, os; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(${number}), os.strerror(ctypes.get_errno()))'`;
      const keyctl = process.arch === 'x64' ? '250, 0, -3, 0' : '219, 0, -3, 0';
      expect(await said(bench, call(keyctl))).toBe('-1 Operation not permitted\n');
    }));

  test('gets no further rights: no namespaces of its own, no mounts, no devices', () =>
    within(async (bench) => {
      const text = await said(
        bench,
        'unshare -Ur true; unshare -m true; mount -t tmpfs none /app; mknod d b 8 0; cat /dev/sda /dev/mem /dev/kmsg; echo "end $?"; id -u',
      );
      expect(text).not.toMatch(/^0$/m);
      expect(
        text.match(/failed|denied|not permitted|No such|permission|superuser|not exist|No space/gi)?.length,
      ).toBeGreaterThanOrEqual(7);
    }));

  test('that keeps files open which it deleted is ended all the same', () =>
    within(async (bench) => {
      const fill =
        'for i in 1 2 3 4 5; do exec {fd}>f$i; head -c 19000000 /dev/zero >&$fd; rm f$i; done; touch up; sleep 300';
      const result = await resultOf(bench, await bench.task({ instruction: fill, test: pass }));
      expect(result.exit).toBe('timeout');
      expect(notesOf(result)).toEqual([expect.stringMatching(/^The limit of 40 MB was reached/)]);
    }));

  test('can’t reach this machine or any other without a network', () =>
    within(async (bench) => {
      const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('from outside') });
      try {
        const call = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3; cat /etc/resolv.conf; ls /sys/class/net; cut -d: -f1 /proc/net/dev | tail -n +3`;
        const off = await said(bench, call);
        expect(off).toContain('Connection refused');
        expect(off).not.toContain('from outside');
        expect(off.trim().split('\n').at(-1)?.trim()).toBe('lo');
        const task = await bench.task({
          instruction: ':',
          test: `(${call}) > seen 2>&1; ${verdict('! grep -q outside seen')}`,
        });
        expect((await resultOf(bench, task)).outcome).toMatchObject({ hard: 1 });
        await within(
          async (other) => {
            expect(await said(other, call)).toContain('from outside');
            const verify = await other.task({
              instruction: ':',
              test: `(${call}) > seen 2>&1; ${verdict('grep -q outside seen')}`,
            });
            expect((await resultOf(other, verify)).outcome).toMatchObject({ hard: 1 });
          },
          { network: 'on' },
        );
      } finally {
        server.stop(true);
      }
    }));

  test('uses a server of its own on the loopback', () =>
    within(async (bench) => {
      const serve =
        'python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in $(seq 400); do (exec 3<>/dev/tcp/127.0.0.1/8123) 2>/dev/null && break; sleep 0.02; done; exec 3<>/dev/tcp/127.0.0.1/8123; printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; head -1 <&3';
      expect(await said(bench, serve)).toContain('200 OK');
    }));

  test('that takes the limits off does not get rid of them', () =>
    within(async (bench) => {
      const text = await said(
        bench,
        'ulimit -f unlimited; ulimit -u unlimited; head -c 30000000 /dev/zero > big; stat -c %s big',
      );
      expect(text).toMatch(/(19|20)\d{6}\n$/);
      expect(limits.fileMb).toBe(20);
    }));
});
