import { expect, test } from 'bun:test';
import { momentWords } from '../clock-words.ts';
import { besideFailure, keysBeside, refusedFailure, usedUpFailure } from './login-failures.ts';

test('a used-up window says until when, in UTC and local time, and when to start again', () => {
  const when = momentWords(Date.parse('2026-12-01T03:18:00Z'));
  expect(usedUpFailure('codex', 'You’ve hit your usage limit', '2026-12-01T03:17:20Z')).toEqual({
    code: 'quota',
    what: `the login of codex is used up until ${when} (You’ve hit your usage limit)`,
    where: 'login of codex',
    fix: `start it again after ${when}: it goes on where it stopped; with --wait-for-reset it waits for that by itself`,
    retryable: true,
    retryAt: '2026-12-01T03:17:20.000Z',
  });
});

test('of the vendor’s words the first are told', () => {
  const what = (said: string) => usedUpFailure('gemini-cli', said, undefined).what;
  expect(what('Used up. 💡 Tip: buy more')).toBe('the login of gemini-cli is used up (Used up.)');
  expect(what('x'.repeat(500))).toBe(`the login of gemini-cli is used up (${'x'.repeat(200)}…)`);
});

test('one that nobody knows the end of says so', () => {
  for (const resetsAt of [undefined, 'soon']) {
    const failure = usedUpFailure('pi', '', resetsAt);
    expect(failure).toMatchObject({ code: 'quota', what: 'the login of pi is used up', retryable: true });
    expect(failure.retryAt).toBeUndefined();
    expect(failure.fix).toStartWith('look up when it is reset');
  }
});

test('a login that is refused is no reason to try again', () => {
  expect(refusedFailure('codex', '401', '`codex login`')).toMatchObject({
    code: 'auth',
    what: 'the login of codex is refused (401)',
    fix: 'log in anew with `codex login`, then start it again: it goes on where it stopped',
    retryable: false,
  });
});

test('variables that an agent would use in place of its login are named', () => {
  expect(keysBeside('claude-code', ['PATH', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'])).toEqual([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
  ]);
  expect(keysBeside('codex', ['OPENAI_API_KEY'])).toEqual([]);
  expect(keysBeside('constructor', ['PATH'])).toEqual([]);
  expect(besideFailure('codex', ['CODEX_API_KEY'], 'preloads.env')).toMatchObject({
    code: 'auth',
    what: 'codex would use CODEX_API_KEY in place of its login',
    where: 'preloads.env',
  });
});
