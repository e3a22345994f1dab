import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RolloutReport } from '../../../ports/rollouts.ts';
import type { FolderTask } from '../../../ports/task.ts';
import { all, never, request } from '../../self-check-tools.ts';
import { type HarborBench, makeHarborBench } from '../bench-fixture.ts';
import { baseImage, dockerIsHere } from './here-fixture.ts';

// Tasks as others write them, in Harbor's whole format: several steps, services beside the agent's, an image that is
// built already, a verifier with an environment of its own. All in one call.

const pass = 'echo 1 > /logs/verifier/reward.txt';
const verdict = (condition: string) =>
  `#!/bin/bash\nif ${condition}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n`;

let bench: HarborBench;
let reports: ReadonlyMap<string, RolloutReport>;

function lay(task: FolderTask, files: Readonly<Record<string, string | null>>): FolderTask {
  for (const [name, text] of Object.entries(files)) {
    const path = join(task.dir, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path, { recursive: true });
    else writeFileSync(path, text);
  }
  return task;
}

(dockerIsHere ? describe : describe.skip)('a task from outside', () => {
  beforeAll(async () => {
    bench = await makeHarborBench({ environment: { type: 'docker' }, concurrency: 4 });
    const plain = (id: string, instruction: string) => bench.task({ id, instruction, test: pass });
    const step = (name: string, instruction: string, condition: string) => ({
      [`steps/${name}/instruction.md`]: instruction,
      [`steps/${name}/tests/test.sh`]: verdict(condition),
    });
    const steps = lay(await plain('steps', 'Two steps.'), {
      'instruction.md': null,
      'tests/test.sh': null,
      'task.toml': 'schema_version = "1.0"\n[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n',
      ...step('one', 'echo a > one', '[ -f /app/one ]'),
      ...step('two', 'test -f one && echo b > two', '[ -f /app/two ]'),
    });
    const half = lay(await plain('half', 'Two steps.'), {
      'instruction.md': null,
      'tests/test.sh': null,
      'task.toml': 'schema_version = "1.0"\n[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n',
      ...step('one', 'echo a > one', '[ -f /app/one ]'),
      ...step('two', 'true', '[ -f /app/two ]'),
    });
    const composed = lay(await plain('composed', 'test "$SAID" = by-compose && cat /shared/word > word; cat word'), {
      'environment/docker-compose.yaml': JSON.stringify({
        services: {
          main: { environment: { SAID: 'by-compose' }, volumes: ['shared:/shared'], depends_on: ['other'] },
          other: {
            image: baseImage(),
            init: true,
            command: ['sh', '-c', 'echo from-other > /shared/word; sleep infinity'],
            volumes: ['shared:/shared'],
          },
        },
        volumes: { shared: {} },
      }),
      'tests/test.sh': verdict('[ "$(cat /app/word)" = from-other ]'),
    });
    const image = lay(await plain('image', 'cat data.txt > copy'), {
      'environment/Dockerfile': null,
      'environment/data.txt': 'data',
      'task.toml': `schema_version = "1.0"\n[environment]\ndocker_image = "${baseImage()}"\nworkdir = "/app"\n`,
      'tests/test.sh': verdict('[ "$(cat /app/copy)" = data ]'),
    });
    const separate = (id: string, instruction: string) =>
      plain(id, instruction).then((task) =>
        lay(task, {
          'task.toml': 'schema_version = "1.0"\n[verifier]\nenvironment_mode = "separate"\n',
          'tests/Dockerfile': `FROM ${baseImage()}\nSTOPSIGNAL SIGKILL\nCOPY . /tests/\n`,
          'tests/test.sh': verdict('[ "$(cat /logs/artifacts/out 2> /dev/null)" = right ] && [ ! -e /app/secret ]'),
        }),
      );
    const right = await separate('right', 'mkdir -p /logs/artifacts; echo right > /logs/artifacts/out; touch secret');
    const wrong = await separate('wrong', 'mkdir -p /logs/artifacts; echo wrong > /logs/artifacts/out');
    const tasks = [steps, half, composed, image, right, wrong];
    const done = await all(
      bench.backend.performRollouts(
        tasks.map((task) => request(task.id, task)),
        { signal: never() },
      ),
    );
    reports = new Map(done.map((report) => [report.key, report]));
  }, 280_000);
  afterAll(() => bench.close());

  test.each([
    ['of two steps, both done', 'steps', 1, 1],
    ['of two steps, the second not done', 'half', 0, 0.5],
    ['with a service beside it', 'composed', 1, 1],
    ['with an image that is built already', 'image', 1, 1],
    ['whose verifier has an environment of its own', 'right', 1, 1],
    ['whose verifier has one, and that failed', 'wrong', 0, 0],
  ])('%s', (_, id, hard, soft) => {
    expect(reports.get(id)).toMatchObject({ result: { outcome: { status: 'scored', hard, soft } } });
  });

  test('leaves nothing behind', async () => {
    expect(await bench.leftovers()).toEqual([]);
  });
});
