import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { momentOf, momentWords, spanWords, wallTime } from './clock-words.ts';
import { resetOf, type SaidAt, saidNow, usedUp } from './used-up.ts';

const at: SaidAt = { nowMs: Date.parse('2026-12-01T00:10:20Z'), zone: 'UTC' };
const newYork: SaidAt = { ...at, zone: 'America/New_York' };

/** What agents and vendors said, by what is meant; null = the window is used up, and nobody says until when. */
const used: readonly (readonly [agent: string, message: string, resetsAt: string | null, at?: SaidAt])[] = [
  ['claude-code', "You've hit your 5-hour limit · resets 3:17am (UTC)", '2026-12-01T03:18:00.000Z'],
  ['claude-code', "You've hit your weekly limit · resets Dec 5, 3:17am (UTC)", '2026-12-05T03:18:00.000Z'],
  ['claude-code', "You've hit your session limit · resets 1:10am (Europe/Moscow)", '2026-12-01T22:11:00.000Z'],
  ['claude-code', "You've hit your limit · resets 3:30am (Asia/Calcutta)", '2026-12-01T22:01:00.000Z'],
  ['claude-code', 'Limit reached · resets 11:30am (Asia/Calcutta) · /upgrade to Max', '2026-12-01T06:01:00.000Z'],
  ['claude-code', '5-hour limit reached ∙ resets 3pm', '2026-12-01T15:01:00.000Z'],
  ['claude-code', 'Claude AI usage limit reached|1796095063', '2026-12-01T03:17:43.000Z'],
  [
    'claude-code',
    'Claude usage limit reached. Your limit will reset at 9am (America/Chicago).',
    '2026-12-01T15:01:00.000Z',
  ],
  ['claude-code', "You've hit your monthly spend limit.", null],
  [
    'codex',
    'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 3:17 AM.',
    '2026-12-01T03:18:00.000Z',
  ],
  [
    'codex',
    'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 10:17 PM.',
    '2026-12-01T03:18:00.000Z',
    newYork,
  ],
  [
    'codex',
    'You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at Dec 5th, 2026 3:17 AM.',
    '2026-12-05T03:18:00.000Z',
  ],
  ['codex', 'You’ve hit your usage limit. Try again later.', null],
  [
    'codex',
    "You've hit your usage limit. Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or try again at Jul 5th, 2027 8:19 PM.",
    '2027-07-05T20:20:00.000Z',
  ],
  [
    'codex',
    "■ You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes.",
    '2026-12-06T22:21:20.000Z',
  ],
  [
    'codex',
    "You've hit your usage limit. Upgrade your plan to continue, or try again at 10 de jul. de 2027, 11:52.",
    null,
  ],
  ['pi', 'You have hit your ChatGPT usage limit (plus plan). Try again in ~187 min.', '2026-12-01T03:17:20.000Z'],
  ['pi', 'You have hit your ChatGPT usage limit (enterprise plan).', null],
  [
    'pi',
    '429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit. Please try again later."}}',
    null,
  ],
  ['pi', '429 {"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}', null],
  ['pi', '402 {"error":{"message":"You have no quota","code":"quota_exceeded"}}', null],
  [
    'opencode',
    '{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1796095586,"resets_in_seconds":11220}}',
    '2026-12-01T03:26:26.000Z',
  ],
  [
    'opencode',
    String.raw`{\"error\":{\"type\":\"usage_limit_reached\",\"resets_in_seconds\":11220}}`,
    '2026-12-01T03:17:20.000Z',
  ],
  ['opencode', 'AI_APICallError: The usage limit has been reached', null],
  [
    'opencode',
    'Usage limit reached. It will reset in 3 hours 5 minutes. To continue using this model now, enable usage from your available balance',
    '2026-12-01T03:15:20.000Z',
  ],
  [
    'gemini-cli',
    '[API Error: You have exhausted your capacity on this model. Your quota will reset after 3h12m54s.\n\n💡 Tip: the shared project has hit its limits]',
    '2026-12-01T03:23:14.000Z',
  ],
  ['gemini-cli', '[API Error: You have exhausted your daily quota on this model.]', null],
  [
    'gemini-cli',
    "Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Gemini 2.5 Pro Requests per day per user per tier'",
    null,
  ],
  [
    'gemini-cli',
    'Usage limit reached for gemini-3-flash-preview. Access resets at 10:57 PM GMT-3.',
    '2026-12-01T01:58:00.000Z',
  ],
];

/** Errors that no reset of a window mends. */
const others: readonly string[] = [
  '',
  'API Error: Server is temporarily limiting requests (not your usage limit) · too fast',
  'API Error: Request rejected (429) · This request would exceed your organization’s rate limit of 40,000 input tokens per minute',
  'exceeded retry limit, last status: 429 Too Many Requests',
  'Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000.',
  'unexpected status 401 Unauthorized: unauthorized, url: https://chatgpt.com/backend-api/codex/responses',
  'OAuth refresh failed for openai-codex: OpenAI Codex token refresh failed (400)',
  'Your access token could not be refreshed. Please log out and sign in again.',
  'stream disconnected before completion: stream closed before response.completed',
  "Quota exceeded for quota metric 'Generate requests per minute' and limit 'Generate request limit per minute for a region'",
  'Selected model is at capacity. Please try a different model.',
  'Reconnecting... 2/5 (workspace routing discovery timed out)',
];

describe('a used-up window', () => {
  for (const [agent, message, resetsAt, said = at] of used)
    test(`${agent}: ${message.slice(0, 60).replace(/[^\x20-\x7e]/g, '?')}`, () => {
      expect(usedUp(message, said)).toEqual({ resetsAt });
    });

  for (const message of others)
    test(`no window: ${message.slice(0, 60).replace(/[^\x20-\x7e]/g, '?')}`, () => {
      expect(usedUp(message, at)).toBeNull();
    });

  test('a time of day that has just passed is not taken for tomorrow', () => {
    const said = { nowMs: Date.parse('2026-12-01T03:19:00Z'), zone: 'UTC' };
    expect(usedUp("You've hit your limit · resets 3:17am", said)?.resetsAt).toBe('2026-12-01T03:18:00.000Z');
    const later = { nowMs: Date.parse('2026-12-01T04:19:00Z'), zone: 'UTC' };
    expect(usedUp("You've hit your limit · resets 3:17am", later)?.resetsAt).toBe('2026-12-02T03:18:00.000Z');
  });

  test('a date without a year is the one that comes', () => {
    const said = { nowMs: Date.parse('2026-12-30T12:00:00Z'), zone: 'UTC' };
    expect(usedUp("You've hit your weekly limit · resets Jan 3, 3am (UTC)", said)?.resetsAt).toBe(
      '2027-01-03T03:01:00.000Z',
    );
  });

  test('midnight and noon', () => {
    expect(usedUp("You've hit your limit · resets 12am (UTC)", at)?.resetsAt).toBe('2026-12-01T00:01:00.000Z');
    expect(usedUp("You've hit your limit · resets 12pm (UTC)", at)?.resetsAt).toBe('2026-12-01T12:01:00.000Z');
  });

  test('seconds since 1970 of an event', () => {
    expect(resetOf(1_796_095_063)).toBe('2026-12-01T03:17:43.000Z');
    for (const none of [undefined, null, '1796095063', 0, Number.NaN, 1e15]) expect(resetOf(none)).toBeNull();
  });

  test('of any text it makes a moment or nothing, and never throws', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('usage limit reached', "You've hit your limit"),
        fc.array(
          fc.constantFrom(
            'resets',
            'try again',
            ' at ',
            ' in ',
            '13',
            ':',
            '99',
            'pm',
            'Feb 31',
            '(UTC)',
            '9'.repeat(30),
            ' days',
            '|',
            'reset after ',
            'h',
          ),
          { maxLength: 12 },
        ),
        (phrase, parts) => {
          const said = usedUp(`${phrase} ${parts.join('')}`, at);
          return said !== null && (said.resetsAt === null || Number.isFinite(Date.parse(said.resetsAt)));
        },
      ),
    );
  });

  test('is said in the zone of the agent’s processes', () => {
    expect(saidNow({ TZ: 'Asia/Tokyo' }).zone).toBe('Asia/Tokyo');
    expect(saidNow({ TZ: '' }).zone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
  });
});

describe('moments', () => {
  test('in UTC, and in local time where that differs', () => {
    const ms = Date.parse('2026-12-01T03:17:00Z');
    expect(momentWords(ms, 'UTC')).toBe('2026-12-01 03:17 UTC');
    expect(momentWords(ms, 'Europe/Rome')).toBe('2026-12-01 03:17 UTC (04:17 here)');
    expect(momentWords(ms, 'America/New_York')).toBe('2026-12-01 03:17 UTC (2026-11-30 22:17 here)');
    expect(momentWords(ms + 1, 'UTC')).toBe('2026-12-01 03:18 UTC');
    expect(momentWords(ms, 'no/zone')).toBe('2026-12-01 03:17 UTC');
  });

  test('spans', () => {
    expect([1, 60_000, 61_000, 3_600_000, 10_260_000, 90_000_000].map(spanWords)).toEqual([
      '1 min',
      '1 min',
      '2 min',
      '1 h',
      '2 h 51 min',
      '1 d 1 h',
    ]);
  });

  test('what the clocks show and the moment are inverse, clock changes included', () => {
    const zones = ['UTC', 'Europe/Rome', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', '-03:00'];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: Date.parse('2024-01-01') / 60_000, max: Date.parse('2030-01-01') / 60_000 }),
        (zone, minutes) => {
          const wall = wallTime(minutes * 60_000, zone);
          const back = momentOf(wall, zone);
          // an hour that comes twice is taken for the later one
          return JSON.stringify(wallTime(back, zone)) === JSON.stringify(wall) && back >= minutes * 60_000;
        },
      ),
    );
  });
});
