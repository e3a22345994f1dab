import { expect, test } from 'bun:test';
import { callsNoModel, rehearsalNote } from './rehearsal-words.ts';
import type { RunState } from './run-state.ts';

type Named = Pick<RunState, 'session' | 'plan'>;
const named = (agent: string, optimizer: string | null): Named =>
  ({
    session: { rehearsal: agent === 'rehearsal' || optimizer === 'rehearsal', environment: { agent } },
    plan: optimizer === null ? null : { optimizer },
  }) as unknown as Named;

const cases: readonly (readonly [string, string | null, string])[] = [
  ['rehearsal', 'rehearsal', ' · REHEARSAL (no model is called)'],
  ['rehearsal', null, ' · REHEARSAL (no model is called)'],
  ['rehearsal', 'openai/gpt-5', ' · REHEARSAL (a small program does the tasks)'],
  ['claude-code', 'rehearsal', ' · REHEARSAL (a small program proposes the edits)'],
  ['claude-code', 'openai/gpt-5', ''],
];
test.each(cases)('%s with %s', (agent, optimizer, note) => {
  expect(rehearsalNote(named(agent, optimizer))).toBe(note);
  expect(callsNoModel(named(agent, optimizer))).toBe(note.includes('no model'));
});
