import { hunks } from '../../../skill/diff.ts';
import { remember } from '../../remember.ts';
import { fit, type Line, line, pad, span } from '../../text.ts';
import { draftText } from './draft-text.ts';
import type { Facts } from './facts.ts';

/** The lines of the diff, and where its hunks begin. */
export type DiffView = { readonly title: string; readonly lines: readonly Line[]; readonly hunks: readonly number[] };

/** The diff of the chosen tab, hunk by hunk, with line numbers of the new side. */
export function diffView(f: Facts, width: number): DiffView {
  const { state, model } = f;
  const seed = state.session?.skill.text ?? '';
  const best = state.skills.get(state.incumbent)?.text ?? seed;
  if (model.diffTab === 1) return between(seed, best, 'best against seed', 'the seed still is the best skill', width);
  const draft = draftText(state);
  if (draft === null)
    return {
      title: 'draft against best',
      hunks: [],
      lines: [line(' the draft’s text can’t be made from the log here', 'warn')],
    };
  return between(
    best,
    draft,
    `draft of ${state.draft.length} against best`,
    'the draft holds no edit yet: it is the best skill',
    width,
  );
}

function between(before: string, after: string, title: string, same: string, width: number): DiffView {
  if (before === after) return { title, hunks: [], lines: [line(` ${same}`, 'quiet')] };
  return { title, ...laidOut(before, after, width) };
}

const laidOut = remember((before: string, after: string, width: number): Pick<DiffView, 'lines' | 'hunks'> => {
  const lines: Line[] = [];
  const starts: number[] = [];
  const all = hunks(before, after);
  for (const [at, hunk] of all.entries()) {
    starts.push(lines.length);
    const { beforeStart, afterStart, beforeCount, afterCount } = hunk;
    lines.push(
      fit(
        [
          span(` hunk ${at + 1} of ${all.length}  `, 'accent'),
          span(
            `lines ${beforeStart}–${beforeStart + Math.max(0, beforeCount - 1)} → ${afterStart}–${afterStart + Math.max(0, afterCount - 1)}`,
            'quiet',
          ),
        ],
        width,
      ),
    );
    for (const l of hunk.lines) {
      const tone = l.kind === 'same' ? 'plain' : l.kind;
      const sign = l.kind === 'added' ? '+' : l.kind === 'removed' ? '−' : ' ';
      const number = pad(String(l.afterLine ?? l.beforeLine ?? ''), 5);
      for (const [part, text] of folded(l.text, width - 9).entries())
        lines.push([span(` ${part === 0 ? number : '     '}`, 'quiet'), span(`${sign} `, tone), span(text, tone)]);
    }
    if (at < all.length - 1) lines.push([]);
  }
  return { lines, hunks: starts };
});

/** A long line goes on below itself: no part of a skill is cut off in its diff. */
function folded(text: string, width: number): readonly string[] {
  const plain = text.replaceAll('\t', '    ');
  if (width < 8) return [plain];
  return Bun.wrapAnsi(plain, width, { hard: true, trim: false, wordWrap: true }).split('\n');
}
