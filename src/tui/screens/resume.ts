import { standing, standingTexts } from '../../events/progress.ts';
import type { KeyName } from '../keys.ts';
import { ends, fill, type Line, rule, span, wrap } from '../text.ts';
import type { Facts } from './run/facts.ts';
import { header } from './run/header.ts';
import type { Size } from './run/layout.ts';

/** What a key answers to "go on?"; null = nothing. */
export function answerOf(key: KeyName): boolean | null {
  if (key === 'enter' || key === 'y' || key === 'c') return true;
  return key === 'q' || key === 'n' || key === 'esc' || key === 'ctrl+c' ? false : null;
}

/** The session was begun before: where it stopped, what is kept, what going on may cost, and one key. */
export function resumeFrame(f: Facts, size: Size): readonly Line[] {
  const width = size.columns;
  const height = size.rows - 1;
  const { state } = f;
  const [head = '', ...rest] = standingTexts(standing(state));
  const body: Line[] = [
    ...wrap(head, width - 4).map((t): Line => [span(`  ${t}`, 'strong')]),
    ...rest.flatMap((text) => wrap(text, width - 4).map((t): Line => [span(`  ${t}`)])),
    ...(state.paused
      ? ['', `stopped because: ${state.paused.why}`].flatMap((t) =>
          wrap(t, width - 4).map((x): Line => [span(`  ${x}`, 'quiet')]),
        )
      : []),
  ];
  const bottom = ends([span(' [enter] go on ', 'accent')], [span('[q] leave it as it is', 'accent'), span(' ')], width);
  const room = Math.max(0, height - 4);
  const shown = body.slice(0, room);
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, (): Line => []);
  return [...header(f, width), rule('this session was begun before', width), ...shown, ...blank, bottom]
    .slice(0, Math.max(1, height))
    .map((l) => fill(l, Math.max(1, width)));
}
