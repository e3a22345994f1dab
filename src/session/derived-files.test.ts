import { expect, test } from 'bun:test';
import { kindOf, syncBy } from '../events/events.ts';
import { frequent, telling } from './derived-files.ts';

test('an event after which files are written is on the disk before they are', () => {
  for (const type of telling) expect([type, syncBy(type)]).toEqual([type, 'now']);
});

test('what ends or pauses something, and another best skill, is told on the spot, the rest within a second', () => {
  for (const type of frequent) expect(telling.has(type)).toBe(true);
  const atOnce = [
    'plan.fixed',
    'incumbent.changed',
    'confirmation.finished',
    'session.ended',
    'session.paused',
  ] as const;
  for (const type of [...atOnce, 'finalize.started', 'finalize.finished'] as const)
    expect([type, telling.has(type), frequent.has(type)]).toEqual([type, true, false]);
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
