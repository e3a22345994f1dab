import type { FeedEntry, FeedKind } from '../../../events/run-state.ts';
import { cut, type Line, span, wrap } from '../../text.ts';
import type { Tone } from '../../theme.ts';
import type { Facts } from './facts.ts';

const marks: Readonly<Record<FeedKind, readonly [string, Tone]>> = {
  measured: ['=', 'quiet'],
  kept: ['+', 'good'],
  dropped: ['−', 'quiet'],
  skipped: ['·', 'quiet'],
  accept: ['✓', 'good'],
  reject: ['✗', 'bad'],
  indecisive: ['?', 'warn'],
  test: ['◆', 'accent'],
  warning: ['!', 'warn'],
  session: ['▸', 'accent'],
  input: ['›', 'accent'],
};

const TIME = 6;

/** Entries of which the last lines are taken: no screen shows more. */
const LATEST = 60;

/** The accept/reject feed, oldest first; `whole` = all of it, else its last part. */
export function feedLines(f: Facts, width: number, whole: boolean): readonly Line[] {
  const { feed } = f.state;
  if (whole) return wholeFeed(feed, width);
  const first = Math.max(0, feed.length - LATEST);
  return feed
    .slice(first)
    .flatMap((entry, at) => laidOut(entry, at > 0 ? feed[first + at - 1] : undefined, width, false));
}

type Feed = readonly FeedEntry[];

/** A feed only grows: what is laid out stays, and new entries are put below it. The last width is kept. */
const wholeFeeds = new WeakMap<Feed, { readonly width: number; readonly lines: Line[]; entries: number }>();

function wholeFeed(feed: Feed, width: number): readonly Line[] {
  const before = wholeFeeds.get(feed);
  const laid = before?.width === width ? before : { width, lines: [], entries: 0 };
  for (; laid.entries < feed.length; laid.entries++) {
    const entry = feed[laid.entries];
    if (entry) laid.lines.push(...laidOut(entry, feed[laid.entries - 1], width, true));
  }
  wholeFeeds.set(feed, laid);
  return laid.lines;
}

/** An entry below the one before it: the time stands there once. */
function laidOut(entry: FeedEntry, above: FeedEntry | undefined, width: number, whole: boolean): readonly Line[] {
  const [mark, tone] = marks[entry.kind];
  const time = hourMinute(entry.at);
  const lead = above !== undefined && hourMinute(above.at) === time ? ' '.repeat(TIME) : `${time} `;
  const tones: Tone = isLoud(entry) ? 'strong' : 'plain';
  const { head, more, details } = textsOf(entry, width - TIME - 3, whole);
  const indent = span(' '.repeat(TIME + 3));
  return [
    [span(` ${lead}`, 'quiet'), span(`${mark} `, tone), span(head, tones)],
    ...more.map((text): Line => [indent, span(text, tones)]),
    ...details.map((text): Line => [indent, span(text, 'quiet')]),
  ];
}

const isLoud = (entry: FeedEntry): boolean =>
  entry.kind === 'accept' || entry.kind === 'reject' || entry.kind === 'test';

type Texts = {
  readonly room: number;
  readonly head: string;
  readonly more: readonly string[];
  readonly details: readonly string[];
};

/** The last part of a feed is shown again with each frame. */
const lastTexts = new WeakMap<FeedEntry, Texts>();

function textsOf(entry: FeedEntry, room: number, whole: boolean): Texts {
  const known = whole ? undefined : lastTexts.get(entry);
  if (known?.room === room) return known;
  const [head = '', ...more] = wrap(entry.text, room);
  const details = whole
    ? entry.details.flatMap((d) => wrap(d, room))
    : isLoud(entry)
      ? entry.details.map((d) => cut(d, room))
      : [];
  const texts = { room, head, more, details };
  if (!whole) lastTexts.set(entry, texts);
  return texts;
}

function hourMinute(at: string): string {
  const d = new Date(at);
  return `${String(d.getHours()).padStart(2, '0')}:${String(d.getMinutes()).padStart(2, '0')}`;
}
