import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Preloads } from '../../config/preloads.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { Agent } from '../agents/agent.ts';
import type { PreloadOptions } from '../preloads/options.ts';
import { PreloadBench, skillText } from '../preloads/preload-fixture.ts';
import type { Preloading } from '../preloads/preloading.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import type { LocalBench } from './bench-fixture.ts';
import { reportOf, resultOf, withBench } from './bench-runs-fixture.ts';
import type { LocalOptions } from './options.ts';
import { describeWalled, limits, noWalls, unwalled, walled, walls } from './sandbox-fixture.ts';
import { preparationMark, walledCommands } from './walled.ts';

let own: PreloadBench;
beforeEach(() => {
  own = new PreloadBench();
});
afterEach(() => own.close());

/** The scripted agent, with places where it looks for skills. It prints what it is told of other skills, then works. */
const finder: Agent = {
  ...createSelfCheckAgent(),
  skillMounts: [
    { base: 'workspace', path: '.agents/skills' },
    { base: 'home', path: '.claude/skills' },
  ],
  run: (run) => {
    const others = `OTHERS='${(run.otherSkills ?? []).join(' ')}'\n`;
    return createSelfCheckAgent().run({ ...run, instruction: others + run.instruction });
  },
};

const verdict = (condition: string) =>
  `if ${condition}; then echo 1; else echo 0; fi > "$LOGS_DIR/verifier/reward.txt"`;

const bodies = (options: Partial<LocalOptions>, sandbox: LocalOptions['sandbox']) => {
  const walledBy = () =>
    ({
      walled: walledCommands('preload-tests', {
        sandbox,
        network: 'off',
        show: [],
        hide: [own.home, own.base],
        limits,
        hostEnv: own.env,
        tempRoot: own.root,
      }),
      hasWalls: sandbox.kind !== 'none',
      mark: preparationMark('preload-tests'),
    }) satisfies Partial<PreloadOptions>;
  const prepare = (wanted: Partial<Preloads>, more: Partial<PreloadOptions> = {}) =>
    own.prepare(wanted, { ...walledBy(), ...more });
  const within = (preloads: Preloading, body: (bench: LocalBench) => Promise<void>, agent = finder) =>
    withBench({ ...options, agent, preloads }, body);
  const passes = async (bench: LocalBench, task: FolderTask) => {
    const { outcome, trajectory } = await resultOf(bench, task, await bench.skill(skillText('s'), {}));
    expect({ outcome, steps: trajectory?.steps.map((s) => (s.kind === 'tool' ? s.output : '')) }).toMatchObject({
      outcome: { status: 'scored', hard: 1 },
    });
  };

  test('commands of packages are found by agent and verifier', async () => {
    own.npmPackage('hello', 'from npm');
    const preloads = await prepare({
      npm: ['../hello'],
      setup: ['printf "#!/bin/sh\\necho from setup" > bin/said; chmod +x bin/said'],
    });
    await within(preloads, async (bench) => {
      await passes(
        bench,
        await bench.task({
          instruction: 'hello > out; said >> out',
          test: verdict('[ "$(hello; said)" = "$(cat out)" ]'),
        }),
      );
      // a PATH of the task's own stands behind them
      const env = { environment: { PATH: '/usr/bin:/bin' }, verifier: {}, solution: {} };
      await passes(
        bench,
        await bench.task({ env, instruction: 'hello > out', test: verdict('[ "$(cat out)" = "from npm" ]') }),
      );
    });
  });

  test('Python packages are found by agent and verifier, whatever Python this machine has first', async () => {
    const wheel = await own.wheel('greet', 'from pip');
    const preloads = await prepare({ pip: [`../${wheel}`] });
    await within(preloads, async (bench) => {
      const both = 'greet && python3 -c "import greet, json; print(greet.word)"';
      await passes(
        bench,
        await bench.task({
          instruction: `(${both}) > out`,
          test: verdict(`[ "$(${both})" = "$(cat out)" ] && [ "$(wc -l < out)" -eq 2 ]`),
        }),
      );
    });
    expect(preloads.prepared.changed()).toBeNull();
  });

  test('variables go to agent and verifier, those of MCP servers to the agent alone, and a task’s own are stronger', async () => {
    Object.assign(own.env, { FOR_ALL: 'all', FOR_SERVER: 'server', FOR_TASK: 'mine' });
    const preloads = await prepare({
      env: ['FOR_ALL', 'FOR_TASK'],
      mcp: { m: { command: ['sh'], env: ['FOR_SERVER'] } },
    });
    await within(preloads, async (bench) => {
      const env = { environment: { FOR_TASK: 'of the task' }, verifier: {}, solution: {} };
      await passes(
        bench,
        await bench.task({
          env,
          instruction: 'echo "$FOR_ALL $FOR_SERVER $FOR_TASK" > out',
          test: verdict(
            '[ "$(cat out)" = "all server of the task" ] && [ "$FOR_ALL$FOR_SERVER$FOR_TASK" = "allof the task" ]',
          ),
        }),
      );
    });
  });

  test('other skills lie where the agent looks, read-only, and the verifier sees none', async () => {
    own.write({ 'others/writer/SKILL.md': skillText('writer'), 'others/writer/scripts/go.sh*': 'echo go\n' });
    const preloads = await prepare({ skills: ['../others/writer'] });
    await within(preloads, async (bench) => {
      const found = [
        'set -e',
        'for at in .agents/skills "$HOME/.claude/skills"; do cat "$at/writer/SKILL.md" "$at/s/SKILL.md" > /dev/null; sh "$at/writer/scripts/go.sh" >> out; done',
        'cat "$OTHERS/SKILL.md" >> out',
        'if [ "$(id -u)" != 0 ]; then ! echo x 2> /dev/null > "$OTHERS/SKILL.md"; fi',
      ];
      const test = verdict(
        `[ "$(head -2 out | tr '\\n' ' ')" = "go go " ] && [ ! -e .agents ] && [ -z "$(ls -A "$HOME")" ]`,
      );
      await passes(bench, await bench.task({ instruction: found.join('\n'), test }));
      const { outcome } = await resultOf(
        bench,
        await bench.task({ instruction: 'cat .agents/skills/writer/SKILL.md > out', test: verdict('[ -s out ]') }),
      );
      expect(outcome).toMatchObject({ hard: 1 }); // the arm without a skill has them, too
    });
    expect(readFileSync(join(preloads.prepared.otherSkills[0]?.dir ?? '', 'SKILL.md'), 'utf8')).toBe(
      skillText('writer'),
    );
  });

  test('the user’s instructions lie in the agent’s home', async () => {
    own.write({ 'home/.claude/CLAUDE.md': 'Be brief.\n' });
    const preloads = await prepare({ machine: { skills: [], memory: true, mcp: [] } });
    await within(preloads, async (bench) => {
      await passes(
        bench,
        await bench.task({
          instruction: 'cp ~/.claude/CLAUDE.md out',
          test: verdict('[ "$(cat out)" = "Be brief." ]'),
        }),
      );
    });
  });

  test('what was brought in stands in the versions of each outcome', async () => {
    own.write({ 'others/writer/SKILL.md': skillText('writer') });
    const preloads = await prepare({ skills: ['../others/writer'] });
    await within(preloads, async (bench) => {
      const { versions } = await resultOf(bench, await bench.task({ instruction: ':', test: ':' }));
      expect(versions).toMatchObject({
        'self-check': '1',
        sandbox: sandbox.version,
        'skill writer': expect.any(String),
      });
    });
  });
};

describe('preloads in plain folders', () => {
  bodies(unwalled, noWalls);

  test('a rollout that changes what was installed is no outcome, and what was installed comes back', async () => {
    const wanted = { setup: ['echo tool > bin/tool'] };
    const preloads = await own.prepare(wanted);
    const prefix = preloads.prepared.show[0] ?? '';
    await withBench({ ...unwalled, agent: finder, preloads }, async (bench) => {
      const report = await reportOf(
        bench,
        await bench.task({ instruction: `echo mine > '${prefix}/bin/tool'`, test: verdict('true') }),
      );
      expect(report).toMatchObject({
        kind: 'failed',
        failure: { code: 'environment-down', what: expect.stringContaining('was changed by a rollout') },
      });
    });
    const again = await own.prepare(wanted, { isNew: false });
    expect(readFileSync(join(again.prepared.show[0] ?? '', 'bin/tool'), 'utf8')).toBe('tool\n');
  });
});

describeWalled('preloads within walls', () => {
  bodies(walled, walls);

  const prepared = (wanted: Partial<Preloads>, hide: readonly string[] = [own.home, own.base]) =>
    own.prepare(wanted, {
      walled: walledCommands('preload-tests', {
        sandbox: walls,
        network: 'off',
        show: [],
        hide,
        limits,
        hostEnv: own.env,
        tempRoot: own.root,
      }),
      hasWalls: true,
    });

  test('a rollout can’t change what was installed', async () => {
    const preloads = await prepared({ setup: ['echo tool > bin/tool'] });
    const prefix = preloads.prepared.show[0] ?? '';
    await withBench({ ...walled, agent: finder, preloads }, async (bench) => {
      const instruction = `for at in '${prefix}/bin/tool' '${prefix}/bin/more' '${prefix}/more'; do echo mine 2> /dev/null > "$at" && echo "$at" >> out; done; ls -A '${prefix}/..' > seen`;
      const task = await bench.task({
        instruction,
        test: verdict(`[ ! -e out ] && [ "$(cat seen)" = "${prefix.split('/').at(-1)}" ]`),
      });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ status: 'scored', hard: 1 });
    });
    expect(preloads.prepared.changed()).toBeNull();
  });

  test('a setup that is up to no good changes nothing outside of its prefix, and sees nothing of the user', async () => {
    own.write({ 'home/secret.txt': 'mine', 'my session/skillopt.jsonl': 'log', 'beside/file': 'mine' });
    const places = ['home', 'my session', 'beside', 'my session/.skillopt/preloads'].map((place) =>
      join(own.root, place),
    );
    const lines = [
      ...places.map(
        (place) =>
          `mkdir -p '${place}' 2> /dev/null && echo evil > '${place}/evil'; cat '${place}'/*.txt '${place}'/*.jsonl '${place}'/file 2> /dev/null >> loot; true`,
      ),
      'echo evil >> /etc/hosts; echo evil > /usr/bin/evil; env | grep -v "^\\(PATH\\|HOME\\|TMPDIR\\|LANG\\|LC_ALL\\|TZ\\|APP_DIR\\|LOGS_DIR\\|PREFIX\\|PWD\\|SHLVL\\|_\\|OLDPWD\\|SKILLOPT_ROLLOUT\\)=" > env.txt; true',
      'setsid sh -c "echo $$ > daemon; sleep 600" & sleep 0.1; true',
    ];
    own.env.UNNAMED_SECRET = 'unnamed-secret';
    const preloads = await prepared({ setup: lines });
    const prefix = preloads.prepared.show[0] ?? '';
    for (const place of places) expect(existsSync(join(place, 'evil'))).toBe(false);
    expect(readFileSync(join(prefix, 'loot'), 'utf8')).toBe('');
    expect(readFileSync(join(prefix, 'env.txt'), 'utf8')).toBe('');
    expect(own.read('home/secret.txt')).toBe('mine');
    expect(readdirSync(own.root).filter((name) => name.startsWith('skillopt-'))).toEqual([]);
    expect(readdirSync('/proc').some((pid) => commandOf(pid) === 'sleep 600')).toBe(false);
  });

  test('a setup that writes more than a rollout may is ended and says so', async () => {
    const work = prepared({ setup: ['head -c 60000000 /dev/zero | split -b 5000000 - part-; sleep 600'] });
    const failure = await work.then(
      () => null,
      (e: { failure: { what: string; where: string } }) => e.failure,
    );
    expect(failure?.what).toContain('setup 1: head -c');
    expect(failure?.where).toMatch(/limit of 40 MB/);
    expect(own.left()).toEqual(['build.log']);
  });

  test('links that a setup leaves lead nowhere within a rollout', async () => {
    own.write({ 'home/secret.txt': 'mine' });
    const preloads = await prepared({ setup: [`ln -s '${own.home}/secret.txt' bin/link`] });
    await withBench({ ...walled, agent: finder, preloads }, async (bench) => {
      const task = await bench.task({
        instruction: `cat '${preloads.prepared.path[0]}/link' > out`,
        test: verdict('[ ! -s out ]'),
      });
      expect((await resultOf(bench, task)).outcome).toMatchObject({ hard: 1 });
    });
  });

  test('a command that rollouts can’t see is told, though this machine has it', async () => {
    own.write({ 'home/bin/tool*': '#!/bin/sh\n' });
    writeFileSync(join(own.root, 'plain'), '');
    own.env.PATH = `${own.home}/bin:${own.env.PATH}`;
    const walledBy = (show: readonly string[]) => ({
      show,
      walled: walledCommands('preload-tests', {
        sandbox: walls,
        network: 'off',
        show,
        hide: [own.home],
        limits,
        hostEnv: own.env,
        tempRoot: own.root,
      }),
    });
    expect(await own.problems({ commands: ['tool'] }, walledBy([]))).toEqual([
      expect.stringContaining('the command tool is not found by rollouts'),
    ]);
    expect(await own.problems({ commands: ['tool'] }, walledBy([join(own.home, 'bin')]))).toEqual([]);
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
