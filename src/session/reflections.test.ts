import { expect, test } from 'bun:test';
import { readText } from '../journal/journal.ts';
import type { Proposals } from '../ports/proposals.ts';
import { noUsage, unknownUsage } from '../ports/usage.ts';
import { type Play, until } from './session-fixture.ts';

const key = `sk-ant-api03-${'aB3dE6gH9'.repeat(11).slice(0, 93)}AA`;
const base: Play = { world: { seed: 9 }, budget: 60 };
const callsIn = (log: string) =>
  readText(log).lines.flatMap(({ event }) => (event.type === 'model.called' ? [event.problem] : []));

/** Calls twice in each reflection: the first call fails with a key in its words. */
const failing = (end: 'unusable' | 'failed'): Proposals => ({
  preflight: async () => [],
  async performProposal(_request, { onCall }) {
    const call = { model: 'command/mine', usage: unknownUsage, durationMs: 1 };
    onCall({ ...call, problem: `it said: ${key}` });
    onCall({ ...call, problem: null });
    const failure = { code: 'environment-down', what: 'x', where: '', fix: '', retryable: false } as const;
    return end === 'failed' ? { kind: end, failure } : { kind: end, detail: 'x', usage: noUsage, durationMs: 1 };
  },
});

test.each(['unusable', 'failed'] as const)(
  'a key in the words of a call that failed does not come into the log, however the reflection ends: %s',
  async (end) => {
    const { log } = await until({ ...base, proposals: failing(end) });
    expect(log).not.toContain(key);
    const told = callsIn(log).slice(0, 2).sort();
    expect(told).toEqual([expect.stringMatching(/^it said: \[redacted: /), null]);
    const types = readText(log).lines.map(({ event }) => event.type);
    expect(callsIn(log).length).toBe(2 * types.filter((type) => type === 'reflection.started').length);
    if (end === 'failed') return;
    expect(types.lastIndexOf('model.called')).toBeLessThan(types.lastIndexOf('reflection.finished'));
  },
);
