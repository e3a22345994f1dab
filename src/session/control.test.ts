import { expect, test } from 'bun:test';
import type { LoggedEvent } from '../events/events.ts';
import { Fold } from '../events/fold.ts';
import { Control } from './control.ts';
import type { Session } from './session.ts';

test('hears events until it has enough, hands inputs over once, and stops', () => {
  let emit: (event: LoggedEvent, state: never) => void = () => {};
  const control = new Control({ onEvent: (listener: typeof emit) => (emit = listener) } as unknown as Session);
  const heard: string[] = [];
  const enough = control.subscribe((event) => heard.push(event.type));
  const event = { type: 'rollout.lost' } as LoggedEvent;
  emit(event, new Fold().state as never);
  enough();
  emit(event, new Fold().state as never);
  expect(heard).toEqual(['rollout.lost']);
  control.send({ kind: 'note', text: 'be brief' });
  expect(control.inputs('round')).toEqual([{ kind: 'note', text: 'be brief' }]);
  expect(control.inputs('round')).toEqual([]);
  control.stop();
  expect(control.signal.aborted).toBe(true);
});
