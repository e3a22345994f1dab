import { afterAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HarborBench, makeHarborBench } from '../bench-fixture.ts';
import { askDocker } from '../docker-preflight.ts';
import type { HarborOptions } from '../options.ts';
import { harborPreflight } from '../preflight.ts';
import { dockerIsHere } from './here-fixture.ts';

const benches: HarborBench[] = [];
afterAll(async () => {
  for (const bench of benches) await bench.close();
});

async function onDocker(more: Partial<HarborOptions> = {}): Promise<HarborBench> {
  const made = await makeHarborBench({ environment: { type: 'docker' }, agent: { name: 'oracle' }, ...more });
  benches.push(made);
  return made;
}

const sound = { instruction: 'Do it.', test: 'echo 1 > /logs/verifier/reward.txt' };

(dockerIsHere ? describe : describe.skip)('the preflight on Docker', () => {
  test('tries a container, tells which images are missing, and leaves no container', async () => {
    const { options, task } = await onDocker();
    const [image = ''] = (
      await askDocker(options, ['image', 'ls', '--format', '{{.Repository}}:{{.Tag}}'])
    ).stdout.split('\n');
    const missing = 'skillopt.invalid/not-here:1';
    const tasks = [
      await task({ ...sound, dockerfile: `FROM ${image}\n` }),
      await task({ ...sound, dockerfile: `FROM ${missing} AS a\nFROM ${image}\n` }),
      await task({ ...sound, dockerfile: `FROM ${missing}\n` }),
    ];
    const found = await harborPreflight({ ...options, tasks });
    const lines = found.map(({ level, what }) => `${level} ${what}`);
    expect(lines).toContain('ok a container sees the session’s folder');
    expect(lines).toContain(`warning 1 image of the tasks is not here, and pulled by the first trials: ${missing}`);
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([]);
    const left = await askDocker(options, [
      'ps',
      '--all',
      '--quiet',
      '--filter',
      `label=skillopt.session=${options.sessionId}`,
    ]);
    expect(left.stdout).toBe('');
  });

  test('a task that asks for less than the whole network is refused exactly where the probe fails', async () => {
    const { options, task } = await onDocker();
    const walled = await task({ ...sound, id: 'walled' });
    writeFileSync(join(walled.dir, 'task.toml'), '[environment]\nnetwork_mode = "no-network"\n');
    const found = await harborPreflight({ ...options, tasks: [await task(sound), walled] });
    const walls = found.filter(({ where }) => where === `${walled.dir}/task.toml`);
    const probe = await askDocker(options, ['image', 'ls', '--quiet', '--filter', 'reference=alpine:3.23.4']);
    if (probe.stdout !== '') return;
    expect(walls.map(({ level, what }) => `${level} ${what}`)).toEqual([
      expect.stringMatching(
        /^error task walled asks for \[environment\] network_mode = "no-network", which this Docker can’t enforce/,
      ),
    ]);
    expect(walls[0]?.fix).toContain('docker pull');
  });
});
