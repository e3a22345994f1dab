import { empty, ends, fill, type Line, line, rule, span, wrap } from '../text.ts';
import type { Size } from './run/layout.ts';

/** What a session that has not begun is, and what it will come to. */
export type Start = {
  readonly title: string;
  /** Sentences, the most important ones first. */
  readonly estimate: readonly string[];
  /** It was begun: what happens now, in a few words; null = the question stands. */
  readonly busy: string | null;
};

/** A new session that will cost something: what it may come to, and one key. Nothing was spent before it. */
export function startFrame(start: Start, size: Size): readonly Line[] {
  const width = Math.max(1, size.columns);
  const height = Math.max(1, size.rows - 1);
  const texts = start.estimate.flatMap((text, at) =>
    wrap(text, width - 4, 2).map((t): Line => [span(`  ${t}`, at === 0 ? 'strong' : 'plain')]),
  );
  const tight = texts.length + 5 > height;
  const gap = tight ? [] : [empty];
  const body = [
    [span(' skillopt ', 'accent'), span(start.title, 'strong')],
    rule('before anything is spent', width),
    ...gap,
    ...texts,
    ...gap,
    ...wrap('Nothing was asked or paid so far. Stopped at any time, it keeps what is done.', width - 4).map((t) =>
      line(`  ${t}`, 'quiet'),
    ),
  ];
  const room = height - 1;
  const shown = body.length > room ? body.slice(0, room) : body;
  const blank = Array.from({ length: room - shown.length }, () => empty);
  const bottom =
    start.busy === null
      ? ends([span(' [enter] begin ', 'accent')], [span('[q] leave', 'accent'), span(' ')], width)
      : line(` ${start.busy}`, 'live');
  return [...shown, ...blank, bottom].slice(-height).map((l) => fill(l, width));
}
