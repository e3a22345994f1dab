/** A moment in UTC and, where that differs, in local time: `2026-12-01 03:17 UTC (04:17 here)`. To the minute, rounded up. */
export function momentWords(ms: number, zone: string = localZone()): string {
  const at = Math.ceil(ms / 60_000) * 60_000;
  const utc = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  const here = inZone(at, zone);
  if (here === utc) return `${utc} UTC`;
  return `${utc} UTC (${here.slice(0, 10) === utc.slice(0, 10) ? here.slice(11) : here} here)`;
}

/** A span to the minute, rounded up: `2 h 51 min`, `15 min`. */
export function spanWords(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const [days, hours, left] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), minutes % 60];
  const parts = [days > 0 ? `${days} d` : '', hours > 0 ? `${hours} h` : '', left > 0 ? `${left} min` : ''];
  return parts.filter((part) => part !== '').join(' ');
}

/** The time zone of this process, as `Intl` names it. */
export function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `YYYY-MM-DD hh:mm` in a zone; an unknown zone is taken for UTC. */
function inZone(ms: number, zone: string): string {
  const { year, month, day, hour, minute } = wallTime(ms, zone);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}`;
}

/** What the clocks of a zone show. */
export type WallTime = {
  readonly year: number;
  /** 1…12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
};

/** What the clocks of a zone show at a moment; an unknown zone is taken for UTC. */
export function wallTime(ms: number, zone: string): WallTime {
  const shown = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (part: Intl.DateTimeFormatPartTypes) => shown.get(part) ?? 0;
  return { year: of('year'), month: of('month'), day: of('day'), hour: of('hour'), minute: of('minute') };
}

/** The moment at which the clocks of a zone show this. Of two such moments (clocks are set back) the later one. */
export function momentOf(wall: WallTime, zone: string): number {
  const wanted = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const offsets = [-1, 1].map((days) => offsetAt(wanted + days * 86_400_000, zone));
  const moments = offsets.map((offset) => wanted - offset);
  return Math.max(...moments.filter((ms) => ms + offsetAt(ms, zone) === wanted), Math.min(...moments));
}

/** Milliseconds by which a zone's clocks are ahead of UTC. */
function offsetAt(ms: number, zone: string): number {
  const { year, month, day, hour, minute } = wallTime(ms, zone);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(ms / 60_000) * 60_000;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const options = {
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });
  }
}
