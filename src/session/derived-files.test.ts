import { expect, test } from 'bun:test';
import { kindOf, syncBy } from '../events/events.ts';
import { telling } from './derived-files.ts';

test('an event after which files are written is on the disk before they are', () => {
  for (const type of telling) expect([type, syncBy(type)]).toEqual([type, 'now']);
});

test('what opens the sealed test, ends the search or comes from outside waits for nothing', () => {
  for (const type of ['finalize.started', 'session.ended', 'input.received', 'session.created', 'plan.fixed'] as const)
    expect([type, syncBy(type)]).toEqual([type, 'now']);
});

test('what is paid in bulk is synced soon, together with others', () => {
  for (const type of ['rollout.finished', 'reflection.finished', 'model.called', 'screening.decided'] as const)
    expect([type, syncBy(type)]).toEqual([type, 'soon']);
  for (const type of ['rollout.started', 'warning.raised'] as const) {
    expect(kindOf(type)).toBe('marker');
    expect([type, syncBy(type)]).toEqual([type, 'any']);
  }
});
