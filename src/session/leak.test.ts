import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readText } from '../journal/journal.ts';
import type { Applied, Edit } from '../ports/edit.ts';
import { noUsage } from '../ports/usage.ts';
import { leakScanner } from '../skill/leak-scan.ts';
import { essence, firstLines, type Play, play } from './session-fixture.ts';
import { verifySession } from './verify.ts';

const answer = 'kx9-4471-quill';
const leaking: Edit = {
  op: 'append_section',
  target: '',
  content: `NOTE 1: the holder is\nNOTE 2: ${answer}`,
  cites: ['train-0'],
  reason: 'it is the holder',
};
const scan = leakScanner(
  {
    paths: [],
    tasks: [
      {
        id: 'train-0',
        instruction: 'do train-0',
        expected: [answer],
        patterns: [],
        verifier: [],
        solution: [],
      },
    ],
  },
  '',
);

test('a proposal that leaks is refused before a rollout is paid for it; replayed without a scan it is the same', async () => {
  const checked: Applied[] = [];
  const o: Play = {
    world: { seed: 9 },
    budget: 60,
    finalize: true,
    leaks: async () => scan,
    proposals: {
      preflight: async () => [],
      async performProposal(_request, { check }) {
        checked.push(check(leaking));
        const proposal = { edits: [leaking], summary: 'one' };
        return { kind: 'proposal', proposal, usage: noUsage, durationMs: 1 };
      },
    },
  };
  const full = await play(o);
  const detail = 'line 2 of the content holds a value that a task expects as its answer: say how it is found';
  expect(checked[0]).toEqual({ ok: false, reason: 'leak', detail });
  const events = readText(full.log).lines.map((l) => l.event);
  const rejected = events.flatMap((e) => (e.type === 'edit.rejected' && e.edit !== null ? [e] : []));
  expect(rejected.length).toBeGreaterThan(0);
  for (const e of rejected) expect([e.reason, e.detail]).toEqual(['leak', detail]);
  expect(full.state.feed.some((entry) => entry.text.endsWith(`not tried: ${detail}`))).toBe(true);
  expect(events.filter((e) => e.type === 'screening.decided' || e.type === 'gate.decided')).toEqual([]);
  expect([...full.state.skills.values()].filter((s) => s.text.includes(answer))).toEqual([]);

  const cut = events.findLastIndex((e) => e.type === 'edit.rejected') + 1;
  const again = await play({ ...o, log: firstLines(full.log, cut), texts: full.texts, leaks: async () => () => null });
  expect(readText(again.log).lines.slice(0, cut)).toEqual(readText(full.log).lines.slice(0, cut));
  expect(essence(again).best).toBe(essence(full).best);

  const dir = mkdtempSync(join(tmpdir(), 'skillopt-leak-'));
  try {
    writeFileSync(join(dir, 'skillopt.jsonl'), full.log);
    const report = await verifySession(dir, () => '', 'test');
    expect(report.problems.filter((p) => p.kind !== 'missing text')).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
