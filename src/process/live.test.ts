import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMarked } from './reap-leftovers.ts';
import { runProcess } from './run-process.ts';
import { waitUntil } from './wait.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'live-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const outer = { name: 'LIVE_TEST', match: 'prefix', value: `${process.pid}/` } as const;

/** A program that starts a group with a job in it and a marked job outside of it, and then ends in its own way. */
function program(name: string, ending: string): string {
  const file = join(folder, `${name}.ts`);
  const script = `setsid bash -c "trap '' TERM; touch ${folder}/${name}.up; while :; do sleep 0.05; done" & trap '' TERM; while :; do sleep 0.05; done`;
  writeFileSync(
    file,
    `import { existsSync } from 'node:fs';
    import { runProcess } from ${JSON.stringify(join(import.meta.dir, 'run-process.ts'))};
    import { endAllNow } from ${JSON.stringify(join(import.meta.dir, 'live.ts'))};
    import { waitUntil } from ${JSON.stringify(join(import.meta.dir, 'wait.ts'))};
    void runProcess({ command: ['bash', '-c', ${JSON.stringify(script)}], cwd: '/', env: { PATH: process.env.PATH },
      timeoutMs: 60_000, mark: { name: '${outer.name}', match: 'exact', value: '${outer.value}${name}' } });
    await waitUntil(() => existsSync('${folder}/${name}.up'), 20_000);
    ${ending}`,
  );
  return file;
}

async function runProgram(file: string, signal?: NodeJS.Signals) {
  const pidFile = `${file}.pid`;
  const running = runProcess({
    // The shell notes the id and becomes the program.
    command: ['bash', '-c', 'echo $$ > "$0"; exec "$@"', pidFile, process.execPath, file],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    timeoutMs: 30_000,
  });
  if (signal !== undefined) {
    expect(await waitUntil(() => existsSync(`${file}.ready`), 20_000)).toBe(true);
    process.kill(Number(await Bun.file(pidFile).text()), signal);
  }
  return running;
}

describe('when this process ends, all that it started ends', () => {
  test('by process.exit', async () => {
    const end = await runProgram(program('exit', 'process.exit(5);'));
    expect(end).toMatchObject({ cause: 'exited', exitCode: 5 });
    expect(await findMarked(outer)).toEqual([]);
  });

  for (const [signal, exitCode] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const) {
    test(`by ${signal}`, async () => {
      const file = join(folder, `${signal}.ts`);
      program(
        signal,
        `process.on('${signal}', () => { endAllNow(); process.exit(${exitCode}); }); await Bun.write(${JSON.stringify(`${file}.ready`)}, ''); setInterval(() => {}, 1000);`,
      );
      const end = await runProgram(file, signal);
      expect(end).toMatchObject({ cause: 'exited', exitCode });
      expect(await findMarked(outer)).toEqual([]);
    });
  }
});
