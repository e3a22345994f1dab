import { expect, test } from 'bun:test';
import { isOfClosedTerminal, onTerminalGone, terminalGone } from './crash.ts';

test.each([
  ['a read that fails', { code: 'EIO', message: 'EIO: i/o error, read' }, true],
  ['raw mode that can’t be set', new Error('setRawMode failed with errno: 5'), true],
  ['a file of a broken disk', { code: 'EIO', message: 'EIO: i/o error, open', path: 'skillopt.jsonl' }, false],
  ['a reader that went away', { code: 'EPIPE', message: 'EPIPE' }, false],
  ['a fault', new TypeError('undefined is not a function'), false],
  ['nothing', undefined, false],
] as const)('%s: of a closed terminal or not', (_what, e, isOf) => expect(isOfClosedTerminal(e)).toBe(isOf));

test('a terminal that nobody drew on is not gone; one that was stays gone', () => {
  expect(terminalGone()).toBe(false);
  let heard = 0;
  const forget = onTerminalGone(() => heard++);
  expect(terminalGone()).toBe(true);
  forget();
  expect(terminalGone()).toBe(true);
  expect(heard).toBe(1);
});
