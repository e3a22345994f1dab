import { afterEach, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RolloutReport } from '../../../ports/rollouts.ts';
import type { FolderTask } from '../../../ports/task.ts';
import { PreloadBench } from '../../preloads/preload-fixture.ts';
import { all, never, request } from '../../self-check-tools.ts';
import { type HarborBench, makeHarborBench } from '../bench-fixture.ts';
import { HarborRollouts } from '../harbor-rollouts.ts';
import { withPreloads } from '../preloads.ts';
import { baseImage, dockerIsHere } from './here-fixture.ts';

let user: PreloadBench | null = null;
let harbor: HarborBench | null = null;
afterEach(async () => {
  user?.close();
  await harbor?.close();
});

/** A package of Debian's with one command, made without a network. */
function deb(folder: string, name: string): void {
  const root = join(folder, 'deb');
  mkdirSync(join(root, 'DEBIAN'), { recursive: true });
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  const control = `Package: ${name}\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: a test\n`;
  writeFileSync(join(root, 'DEBIAN/control'), control);
  writeFileSync(join(root, 'usr/bin', name), '#!/bin/sh\necho from-deb\n', { mode: 0o755 });
  const { status, stderr } = spawnSync('dpkg-deb', ['--build', root, join(folder, `${name}.deb`)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

const told = (report: RolloutReport | undefined) =>
  report?.kind === 'finished'
    ? { outcome: report.result.outcome, said: JSON.stringify(report.result.trajectory?.steps) }
    : report;

(dockerIsHere ? describe : describe.skip)('preloads in containers', () => {
  test('are installed once for all tasks, by Dockerfile and by image, and hold no secret', async () => {
    user = new PreloadBench();
    user.env.TOKEN = 'sk-token-0123456789abcdef';
    deb(user.base, 'deb-tool');
    const bench = await makeHarborBench({ environment: { type: 'docker' } });
    harbor = bench;
    const look = [
      'deb-tool',
      'set-up-tool',
      'cat /usr/local/stamp',
      '[ "$TOKEN" = sk-token-0123456789abcdef ] && echo has-token',
      'ls -A /app',
      'ls -d /opt/skillopt-layer; id -un; true',
    ].join('\n');
    const test = '[ "$(deb-tool)" = from-deb ] && [ -n "$TOKEN" ] && echo 1 > "$LOGS_DIR/verifier/reward.txt"';
    const file = `FROM ${baseImage()}\nWORKDIR /app\nCOPY . /app/\n`;
    const one = await bench.task({ id: 'one', instruction: look, test, dockerfile: file });
    const two = await bench.task({ id: 'two', instruction: look, test, dockerfile: file });
    const image = await bench.task({ id: 'image', instruction: look, test });
    asImage(image);
    const wanted = {
      apt: ['./deb-tool.deb'],
      setup: [
        'printf "#!/bin/sh\\necho from-setup\\n" > "$PREFIX/bin/set-up-tool"',
        'chmod +x bin/set-up-tool',
        'date +%s%N > stamp',
      ],
      commands: ['deb-tool', 'set-up-tool', 'bash'],
      env: ['TOKEN'],
    };
    const hostEnv = { ...bench.options.hostEnv, TOKEN: user.env.TOKEN };
    const { options, findings } = await withPreloads(
      { ...bench.options, tasks: [one, two, image], hostEnv },
      { ...user.options(wanted), measured: [] },
    );
    expect(findings).toEqual([]);
    const backend = new HarborRollouts(options);
    const reports = await all(
      backend.performRollouts(
        [one, two, image].map((task) => request(task.id, task)),
        { signal: never() },
      ),
    );
    const found = new Map(reports.map((report) => [report.key, told(report)]));
    const stamps = new Set<string>();
    for (const id of ['one', 'two', 'image']) {
      const report = found.get(id);
      if (report === undefined || !('said' in report)) throw new Error(JSON.stringify(report));
      expect(report.outcome).toMatchObject({ status: 'scored', hard: 1 });
      for (const word of ['from-deb', 'from-setup', 'has-token', 'root']) expect(report.said).toContain(word);
      for (const word of ['skillopt-layer-', '/opt/skillopt-layer\\n']) expect(report.said).not.toContain(word);
      if (id !== 'image') stamps.add(/\d{19}/.exec(report.said)?.[0] ?? id);
    }
    expect(found.get('image')).toMatchObject({ said: expect.stringMatching(/data\.txt/) });
    expect(stamps.size).toBe(1);
    expect(await backend.versions()).toMatchObject({ 'package deb-tool.deb': expect.any(String) });
    expect(await bench.leftovers()).toEqual([]);
  }, 280_000);

  test('a command that is not there fails the build, and scores nothing', async () => {
    user = new PreloadBench();
    const bench = await makeHarborBench({ environment: { type: 'docker' } });
    harbor = bench;
    const task = await bench.task({ instruction: ':', test: 'echo 1 > "$LOGS_DIR/verifier/reward.txt"' });
    const { options } = await withPreloads(bench.options, {
      ...user.options({ commands: ['no-such-program'] }),
      measured: [],
    });
    const [report] = await all(new HarborRollouts(options).performRollouts([request('k', task)], { signal: never() }));
    expect(report).toMatchObject({ result: { outcome: { status: 'unscored', reason: 'environment' } } });
    expect(JSON.stringify(report)).toContain('no-such-program');
  }, 280_000);
});

/** The task as one with an image that is built already, and files that Harbor lays into its place of work. */
function asImage(task: FolderTask): void {
  rmSync(join(task.dir, 'environment/Dockerfile'));
  writeFileSync(join(task.dir, 'environment/data.txt'), 'data');
  writeFileSync(
    join(task.dir, 'task.toml'),
    `schema_version = "1.0"\n[environment]\ndocker_image = "${baseImage()}"\nworkdir = "/app"\n`,
  );
}
