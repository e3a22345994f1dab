import { localZone, momentOf, type WallTime, wallTime } from './clock-words.ts';

/** When and where an agent said something: times of day are meant in its zone. */
export type SaidAt = {
  readonly nowMs: number;
  /** The zone of its processes, as `Intl` names it. */
  readonly zone: string;
};

/** A login's window is used up. `resetsAt` (ISO 8601) null = it did not say until when. */
export type UsedUp = { readonly resetsAt: string | null };

/** When the output of a process that has just ended was said; `env` = its environment. */
export function saidNow(env: Readonly<Record<string, string>>): SaidAt {
  return { nowMs: Date.now(), zone: env.TZ || localZone() };
}

const phrases = [
  /(?<!rate )limit (?:has been |is )?reached|usage_limit_reached/,
  /hit your (?:[a-z0-9-]+ ){0,4}(?:limit|cap)\b/,
  /hit your spend cap/,
  /reached your (?:[a-z0-9'’-]+ ){0,4}(?:usage |monthly )?limit\b/,
  /out of (?:extra usage|usage|usage credits|credits)\b/,
  /exhausted your (?:capacity|daily quota|premium model quota)/,
  /quota will reset after/,
  /exceeded your premium request allowance/,
  /would exceed your account's rate limit/,
  /gousagelimiterror|freeusagelimiterror|free usage exceeded/,
  /subscription_sharing\w*usage_limit/,
  /insufficient_quota|quota_exceeded|you have no quota|insufficient_g1_credits/,
  /quota exceeded(?! for quota metric .{0,200}per minute)/,
];

/**
 * What a message of an agent or of its vendor says of a login's window; null = nothing: it is another error. Only for
 * messages of errors: what a model wrote may say anything. Epochs, delays and times of day are read; of a time of day
 * the next one is meant, and as minutes are cut off, its end.
 */
export function usedUp(message: string, at: SaidAt): UsedUp | null {
  const text = message.replaceAll('’', "'");
  const low = text.toLowerCase();
  if (low.includes('not your usage limit')) return null;
  if (!phrases.some((phrase) => phrase.test(low))) return null;
  const ms = epoch(text) ?? delay(low, at) ?? timeOfDay(text, at);
  return { resetsAt: ms === null ? null : isoOf(ms) };
}

/** A moment as seconds since 1970 for `resetsAt`; null where it is none. */
export function resetOf(epochSeconds: unknown): string | null {
  return typeof epochSeconds === 'number' && epochSeconds > 1e9 && epochSeconds < 1e11
    ? isoOf(epochSeconds * 1000)
    : null;
}

/** `usage limit reached|1762952400`, `"resets_at":1775317531` */
function epoch(text: string): number | null {
  const found = /(?:limit reached\||"?resets?_?at\\?"?\s*[:=]\s*\\?"?)(\d{10})(\d{3})?\b/i.exec(text);
  return found === null ? null : Number(found[1]) * 1000;
}

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** `try again in 5 days 22 hours 11 minutes`, `in ~187 min`, `reset after 3h12m54s`, `"resets_in_seconds":11220` */
function delay(low: string, { nowMs }: SaidAt): number | null {
  const seconds = /resets_in_seconds\\?"?\s*[:=]\s*(\d+)/.exec(low) ?? /"retry-after\\?"\s*:\s*\\?"?(\d+)/.exec(low);
  if (seconds !== null) return nowMs + Number(seconds[1]) * 1000;
  const said =
    /(?:try again|resets?|retry) (?:in|after) ~?((?:about )?[\d.]+ ?[dhms][a-z]*(?:,? ?(?:and )?[\d.]+ ?[dhms][a-z]*)*)/;
  const span = said.exec(low)?.[1];
  if (span === undefined) return null;
  const parts = [...span.matchAll(/([\d.]+) ?(ms|[dhms])/g)];
  return nowMs + parts.reduce((sum, [, n, unit]) => sum + Number(n) * (unit === 'ms' ? 1 : unitMs[unit!]!), 0);
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const said =
  /(?:resets?(?: at| on)?|try again at|until)\s+(?:(?:([A-Za-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?(?: at|,)? )?)(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?(?: \(?([A-Za-z]+(?:\/[A-Za-z_+-]+)*(?:[+-]\d{1,2}(?::?\d{2})?)?)\)?)?/i;

/** `resets 3:17am (UTC)`, `resets Dec 5, 3pm (Europe/Rome)`, `try again at Dec 5th, 2026 3:17 AM.` */
function timeOfDay(text: string, { nowMs, zone }: SaidAt): number | null {
  const found = said.exec(text);
  if (found === null) return null;
  const [, month, day, year, hour, minute, half, named] = found;
  const where = zoneOf(named) ?? zone;
  const today = wallTime(nowMs, where);
  const clock = {
    hour: (Number(hour) % 12) + (half!.toLowerCase() === 'p' ? 12 : 0),
    minute: Number(minute ?? 0),
  };
  if (month === undefined) {
    const next = endOfMinute({ ...today, ...clock }, where);
    return next >= nowMs - SLACK_MS ? next : endOfMinute({ ...dayAfter(today), ...clock }, where);
  }
  const at = months.indexOf(month.toLowerCase());
  if (at === -1) return null;
  const on = (y: number) => endOfMinute({ year: y, month: at + 1, day: Number(day), ...clock }, where);
  if (year !== undefined) return on(Number(year));
  return on(today.year) >= nowMs - 86_400_000 ? on(today.year) : on(today.year + 1);
}

/** A window that was reset while its refusal was on the way. */
const SLACK_MS = 10 * 60_000;

const endOfMinute = (wall: WallTime, zone: string) => momentOf(wall, zone) + 60_000;

function dayAfter({ year, month, day, hour, minute }: WallTime): WallTime {
  const next = new Date(Date.UTC(year, month - 1, day + 1));
  return { year: next.getUTCFullYear(), month: next.getUTCMonth() + 1, day: next.getUTCDate(), hour, minute };
}

/** A zone as messages name it, for `Intl`; null = it is none. */
function zoneOf(name: string | undefined): string | null {
  if (name === undefined) return null;
  const offset = /^(?:GMT|UTC)([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(name);
  const zone = offset === null ? name : `${offset[1]}${offset[2]!.padStart(2, '0')}:${offset[3] ?? '00'}`;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone });
    return zone;
  } catch {
    return null;
  }
}

function isoOf(ms: number): string | null {
  return Number.isFinite(ms) && Math.abs(ms) < 8e15 ? new Date(ms).toISOString() : null;
}
