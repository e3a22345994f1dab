import type { FeedEntry, FeedKind } from '../../../events/feed.ts';
import { remember } from '../../remember.ts';
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

/** Entries that are laid out at most: the last ones, unless the whole feed is read. */
const LATEST = 60;

/** The accept/reject feed, oldest first; `whole` = all of it, else its last part. */
export const feedLines = (f: Facts, width: number, whole: boolean): readonly Line[] =>
  (whole ? wholeFeed : lastFeed)(f.state.feed, f.state.feed.length, width);

const wholeFeed = remember((feed: Feed, _entries: number, width: number) => laidOut(feed, width, true));
const lastFeed = remember((feed: Feed, _entries: number, width: number) => laidOut(feed.slice(-LATEST), width, false));

type Feed = readonly FeedEntry[];

function laidOut(entries: Feed, width: number, whole: boolean): readonly Line[] {
  let shownTime = '';
  return entries.flatMap((entry) => {
    const [mark, tone] = marks[entry.kind];
    const loud = entry.kind === 'accept' || entry.kind === 'reject' || entry.kind === 'test';
    const time = hourMinute(entry.at);
    const lead = time === shownTime ? ' '.repeat(TIME) : `${time} `;
    shownTime = time;
    const room = width - TIME - 3;
    const [head = '', ...more] = wrap(entry.text, room);
    const details = whole
      ? entry.details.flatMap((d) => wrap(d, room))
      : loud
        ? entry.details.map((d) => cut(d, room))
        : [];
    return [
      [span(` ${lead}`, 'quiet'), span(`${mark} `, tone), span(head, loud ? 'strong' : 'plain')],
      ...more.map((text): Line => [span(' '.repeat(TIME + 3)), span(text, loud ? 'strong' : 'plain')]),
      ...details.map((text): Line => [span(' '.repeat(TIME + 3)), span(text, 'quiet')]),
    ];
  });
}

function hourMinute(at: string): string {
  const d = new Date(at);
  return `${String(d.getHours()).padStart(2, '0')}:${String(d.getMinutes()).padStart(2, '0')}`;
}
