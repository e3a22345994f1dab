import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { waitUntil } from '../../process/wait.ts';
import { all, never, request } from '../self-check-tools.ts';
import { harborIsHere, makeHarborBench } from './bench-fixture.ts';
import { isPlanted, PlantWatch } from './plant-watch.ts';
import { trialOf } from './trial-fixture.ts';

const at = (ms: number) => new Date(ms).toISOString();
const begun = Date.parse('2026-12-01T12:00:00Z');

/** Runs of an agent and a verifier, one after the other; `ms` each. */
function trialWith(steps: readonly { readonly agent: number; readonly gap: number; readonly verifier: number }[]) {
  let now = begun;
  const parts = steps.map(({ agent, gap, verifier }, i) => {
    const agentAt = now;
    const verifierAt = agentAt + agent + gap;
    now = verifierAt + verifier + 1;
    return {
      step_name: `s${i}`,
      agent_execution: { started_at: at(agentAt), finished_at: at(agentAt + agent) },
      verifier: { started_at: at(verifierAt), finished_at: at(verifierAt + verifier) },
    };
  });
  const [first] = parts;
  return { trial: trialOf(parts.length === 1 ? { ...first } : { step_results: parts }), parts };
}

const steps = fc.array(fc.record({ agent: fc.nat(5000), gap: fc.nat(500), verifier: fc.nat(500) }), {
  minLength: 1,
  maxLength: 4,
});

test('what appears while an agent runs is planted, and what a verifier writes never is, in every step', () => {
  fc.assert(
    fc.property(steps, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (given, which, where) => {
      const { trial, parts } = trialWith(given);
      const { agent_execution: agent, verifier } = parts[which % parts.length]!;
      const within = (from: string, to: string) =>
        Date.parse(from) + Math.floor(where * (Date.parse(to) - Date.parse(from)));
      const written = within(verifier.started_at, verifier.finished_at);
      expect(isPlanted([{ from: written, to: written }], trial)).toBe(false);
      const planted = within(agent.started_at, verifier.started_at);
      expect(isPlanted([{ from: planted, to: planted }], trial)).toBe(planted < Date.parse(verifier.started_at));
    }),
  );
});

test('a look that took so long that it may have met the verifier’s own proves nothing', () => {
  const { trial, parts } = trialWith([{ agent: 100, gap: 0, verifier: 100 }]);
  const start = Date.parse(parts[0]!.verifier.started_at);
  expect(isPlanted([{ from: start - 50, to: start + 1 }], trial)).toBe(false);
  expect(isPlanted([{ from: start - 50, to: start - 1 }], trial)).toBe(true);
  expect(isPlanted([{ from: start, to: start }], trialOf({}))).toBe(false);
});

test('a file is seen once for each time that it appears', async () => {
  const trial = mkdtempSync(join(tmpdir(), 'plant-watch-'));
  const watch = new PlantWatch();
  try {
    watch.look(trial);
    mkdirSync(join(trial, 'verifier'));
    watch.look(trial);
    writeFileSync(join(trial, 'verifier/other.txt'), '1');
    watch.look(trial);
    const ends = (ms: number) => trialOf({ verifier: { started_at: at(ms) } });
    expect(watch.found(trial, ends(Date.now() + 60_000))).toBeNull();
    writeFileSync(join(trial, 'verifier/reward.json'), '{}');
    const planted = () => watch.found(trial, ends(Date.now() + 60_000)) !== null;
    watch.look(trial);
    await waitUntil(planted, 5_000);
    expect(planted()).toBe(true);
    expect(watch.found(trial, ends(begun))).toBeNull();
  } finally {
    watch.close();
    rmSync(trial, { recursive: true, force: true });
  }
});

const plant = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';

(harborIsHere ? describe : describe.skip)('with Harbor', () => {
  test('an agent that writes the reward is found out, early, late or hidden, and no verifier is', async () => {
    const bench = await makeHarborBench();
    try {
      const test = 'echo 0 > $LOGS_DIR/verifier/reward.txt';
      const tasks = {
        early: await bench.task({ instruction: `${plant}; sleep 0.3`, test }),
        late: await bench.task({ instruction: `sleep 0.3; ${plant}; sleep 0.2`, test }),
        hidden: await bench.task({ instruction: `${plant}; sleep 0.3; rm -f "$LOGS_DIR/verifier/reward.txt"`, test }),
        honest: await bench.task({ instruction: 'true', test }),
      };
      const requests = Object.entries(tasks).map(([name, task]) => request(name, task));
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      const told = Object.fromEntries(
        reports.map((report) => {
          if (report.kind !== 'finished') throw new Error(JSON.stringify(report));
          const { outcome } = report.result;
          return [report.key, outcome.status === 'scored' ? outcome.soft : outcome.reason];
        }),
      );
      expect(told).toEqual({ early: 'tampered', late: 'tampered', hidden: 'tampered', honest: 0 });
    } finally {
      await bench.close();
    }
  }, 120_000);

  test('so is one that writes it in a later step', async () => {
    const bench = await makeHarborBench();
    try {
      const make = async (name: string, second: string) => {
        const task = await bench.task({ id: name, instruction: 'true', test: 'true' });
        const reward = '#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n';
        const files = {
          'task.toml': 'schema_version = "1.4"\n[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n',
          'steps/one/instruction.md': 'sleep 0.2',
          'steps/two/instruction.md': second,
          'steps/one/tests/test.sh': reward,
          'steps/two/tests/test.sh': reward,
        };
        for (const [path, text] of Object.entries(files)) {
          mkdirSync(join(task.dir, path, '..'), { recursive: true });
          writeFileSync(join(task.dir, path), text);
        }
        return task;
      };
      const requests = [
        request('honest', await make('honest', 'sleep 0.2')),
        request('planter', await make('planter', `${plant}; sleep 0.3`)),
      ];
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      const told = Object.fromEntries(
        reports.map((report) => [report.key, report.kind === 'finished' ? report.result.outcome : report]),
      );
      expect(told).toMatchObject({ honest: { status: 'scored', soft: 1 }, planter: { reason: 'tampered' } });
    } finally {
      await bench.close();
    }
  }, 120_000);
});
