import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RolloutReport } from '../../ports/rollouts.ts';
import { runProcess } from '../../process/run-process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'no-room-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const here = (name: string) => JSON.stringify(join(import.meta.dir, name));

/**
 * A program with few open files that takes all but three of them: while the agent of a rollout works, or while its
 * verifier does. Files can still be copied then, and no process be started.
 */
const program = `
import { closeSync, openSync } from 'node:fs';
import { createOracleAgent } from ${here('../agents/oracle.ts')};
import { createRehearsalAgent } from ${here('../agents/rehearsal.ts')};
import { createSelfCheckAgent } from ${here('../self-check-agent.ts')};
import { makeLocalBench } from ${here('bench-fixture.ts')};

const held = [];
const take = () => {
  try { for (;;) held.push(openSync('/dev/null', 'r')); } catch {}
  for (let i = 0; i < 3; i++) closeSync(held.pop());
};
const release = () => { for (const fd of held.splice(0)) closeSync(fd); };
const signal = new AbortController().signal;
const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
const reports = {};

async function perform(name, agent, phase) {
  const working = { ...agent, run: async (run) => {
    if (phase === 'agent') take();
    try { return await agent.run(run); } finally { release(); }
  } };
  const bench = await makeLocalBench({ agent: working });
  const task = await bench.task({ instruction: ':', test: pass, files: { 'solution/solve.sh': 'true' } });
  const skill = agent.takesSkill ? await bench.skill('---\\nname: s\\n---\\nbody\\n', {}) : null;
  const onProgress = (progress) => { if (progress.phase === phase && phase === 'verifier') take(); };
  const request = { key: 'k', task, skill, attempt: 0, try: 0, signal };
  for await (const report of bench.backend.performRollouts([request], { signal, onProgress })) reports[name] = report;
  release();
  const left = await bench.leftovers();
  if (left.length > 0) throw new Error('left behind: ' + left.join(', '));
  await bench.close();
}

await perform('warm-up', createSelfCheckAgent(), 'none');
await perform('rehearsal', createRehearsalAgent(), 'agent');
await perform('oracle', createOracleAgent({ variables: {} }), 'agent');
await perform('self-check', createSelfCheckAgent(), 'agent');
await perform('verifier', createSelfCheckAgent(), 'verifier');
await perform('afterwards', createSelfCheckAgent(), 'none');
console.log(JSON.stringify(reports));
`;

test('a process that the system has no room for is never an outcome', async () => {
  const file = join(folder, 'program.ts');
  writeFileSync(file, program);
  const end = await runProcess({
    command: ['bash', '-c', 'ulimit -n 120; exec "$0" "$1"', process.execPath, file],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', TMPDIR: folder },
    timeoutMs: 60_000,
  });
  expect(end.stderr).toBe('');
  const reports: Readonly<Record<string, RolloutReport>> = JSON.parse(end.stdout);
  const kinds = Object.fromEntries(Object.entries(reports).map(([name, report]) => [name, report.kind]));
  expect(kinds).toEqual({
    'warm-up': 'finished',
    rehearsal: 'failed',
    oracle: 'failed',
    'self-check': 'failed',
    verifier: 'failed',
    afterwards: 'finished',
  });
  for (const report of Object.values(reports)) {
    if (report.kind !== 'failed') continue;
    expect(report.failure).toMatchObject({ code: 'environment-down', retryable: true });
    expect(report.failure.what).toContain('EMFILE');
    expect(report.failure.fix).toMatch(/ulimit -n.*ulimit -u.*fewer workers/);
  }
});
