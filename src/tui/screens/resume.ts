import { standing, standingTexts } from '../../events/progress.ts';
import type { RunState } from '../../events/run-state.ts';
import { countText, scoreText } from '../../events/words.ts';
import type { KeyName } from '../keys.ts';
import { ends, fill, type Line, rule, span, wrap } from '../text.ts';
import type { Facts } from './run/facts.ts';
import { stoppedHeader } from './run/header.ts';
import type { Size } from './run/layout.ts';
import { rowCount, scoreTable } from './run/score-table.ts';

/** What a key answers to "go on?"; null = nothing. */
export function answerOf(key: KeyName): boolean | null {
  if (key === 'enter' || key === 'y') return true;
  return key === 'q' || key === 'n' || key === 'esc' || key === 'ctrl+c' ? false : null;
}

/** The session was begun before: where it stopped, what is kept, what going on may cost, and one key. */
export function resumeFrame(f: Facts, size: Size): readonly Line[] {
  const width = Math.max(1, size.columns);
  const height = Math.max(1, size.rows - 1);
  const { state } = f;
  const [head = '', ...rest] = standingTexts(standing(state));
  const texts = (text: string, tone: 'plain' | 'strong' | 'quiet') =>
    wrap(text, width - 4).map((t): Line => [span(`  ${t}`, tone)]);
  const top = [
    stoppedHeader(f, width),
    rule('this session was begun before', width),
    [],
    ...texts(head, 'strong'),
    ...rest.flatMap((t) => texts(t, 'plain')),
    ...texts(kept(state), 'quiet'),
    ...(state.paused ? texts(`it stopped because: ${state.paused.why}`, 'quiet') : []),
    [],
  ];
  const bottom = ends([span(' [enter] go on ', 'accent')], [span('[q] leave it as it is', 'accent'), span(' ')], width);
  const room = height - 1;
  const table = Math.max(0, Math.min(room - top.length, rowCount(state) + 1));
  const body = [...top, ...(table >= 2 ? scoreTable(f, width, table) : [])].slice(0, room);
  const blank = Array.from({ length: Math.max(0, room - body.length) }, (): Line => []);
  return [...body, ...blank, bottom].slice(-height).map((l) => fill(l, width));
}

/** What the session holds so far; none of it is paid for again. */
function kept(state: RunState): string {
  const accepted = state.steps.filter((s) => s.gateAction === 'accept');
  const best = accepted.at(-1);
  const parts = [
    `${countText(state.steps.length, 'step')}, ${accepted.length} accepted`,
    ...(state.seed.selection
      ? [
          `selection ${scoreText(state.seed.selection, state.plan?.gate.metric)}${best ? ` → ${scoreText(best.selection.candidate, best.metric)}` : ''}`,
        ]
      : []),
    ...(state.draft.length > 0 ? [`a draft of ${countText(state.draft.length, 'edit')}`] : []),
  ];
  return `kept: ${parts.join(' · ')}`;
}
