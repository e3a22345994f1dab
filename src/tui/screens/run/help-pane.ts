import { runKeys, shownKey } from '../../keys.ts';
import { ends, fit, type Line, pad, span, widthOf, wrap } from '../../text.ts';
import type { Facts } from './facts.ts';

/** Columns of the keys, where there is room and where there is little. */
const KEYS = 17;
const KEYS_NARROW = 13;

/** The page of keys, made from the table of keys. */
export function helpLines(f: Facts, width: number): readonly Line[] {
  const columns = width >= 70 ? KEYS : KEYS_NARROW;
  return [
    ...runKeys.flatMap((b) => {
      const [first = '', ...more] = b.keys.slice(0, 2).map(shownKey);
      const both = [first, ...more].join(' ');
      const keys = widthOf(both) < columns ? both : first;
      return wrap(b.help, width - columns - 1).map(
        (text, at): Line => [span(` ${pad(at === 0 ? keys : '', columns)}`, 'accent'), span(text)],
      );
    }),
    [],
    ...notes(f).flatMap((note) => wrap(note, width - 2).map((text): Line => [span(` ${text}`, 'quiet')])),
  ];
}

function notes(f: Facts): readonly string[] {
  const slowed = `Each rollout of this rehearsal waits ${(f.slowedMs / 1000).toFixed(2)} s, so that there is something to see (--delay).`;
  return [
    'Stop it any way: the same command goes on where it stopped, and nothing is paid twice.',
    ...(f.slowedMs > 0 ? [slowed] : []),
  ];
}

/** The last line of the screen: a question, what is going on, or the keys that fit. */
export function bottomLine(f: Facts, width: number): Line {
  const { model } = f;
  const ask = (text: string, keys: string) =>
    ends([span(` ${text} `, 'warn')], [span(keys, 'strong'), span(' ')], width);
  if (model.question === 'quit')
    return width >= 74
      ? ask('Stop? What finished is kept.', '[y] now  [s] after this step  [n] no, stay')
      : ask('Stop?', '[y] now [s] after step [n] no');
  if (model.question === 'finish') {
    const then = f.finalizes ? ', then open the sealed test' : '';
    const what = width >= 90 ? 'End the search: confirm what there is' : 'End the search, confirm';
    return width >= 74 ? ask(`${what}${then}?`, '[y] yes  [n] no') : ask('End the search?', '[y] yes [n] no');
  }
  if (model.ending === 'over') return ask(width >= 60 ? 'The run is over.' : 'Over.', '[enter] the report');
  if (model.ending === 'now')
    return ask('Stopping in order; what finished is kept.', width >= 70 ? '[ctrl+c] at once' : '');
  const shown = runKeys
    .filter((b) => b.short !== '')
    .map((b) => ({ key: b.keys[0] ?? '', text: label(f, b.action, b.short) }));
  const back = model.pane === 'overview' ? [] : [{ key: 'esc', text: 'back' }];
  const tabs =
    model.pane === 'matrix' || model.pane === 'diff' || model.pane === 'evidence' ? [{ key: '[ ]', text: 'turn' }] : [];
  const out = [];
  let room = width - 1;
  for (const { key, text } of [...back, ...tabs, ...ordered(shown)]) {
    const columns = widthOf(key) + widthOf(text) + (key.startsWith('[') ? 3 : 5);
    if (columns > room) continue;
    out.push(span(key.startsWith('[') ? ` ${key}` : ` [${key}]`, 'accent'), span(` ${text} `, 'quiet'));
    room -= columns;
  }
  return fit(out, width);
}

/** `? keys` and `q quit` are worth more than the rest where there is little room. */
function ordered(keys: readonly { readonly key: string; readonly text: string }[]) {
  const first = ['?', 'p', 'q', 's', 'd', 'e', 'm'];
  return [...keys].sort((a, b) => rank(first, a.key) - rank(first, b.key));
}

function rank(first: readonly string[], key: string): number {
  const at = first.indexOf(key);
  return at < 0 ? first.length : at;
}

function label(f: Facts, action: string, short: string): string {
  if (action === 'pause') return f.paused ? 'resume' : short;
  if (action === 'after-step') return f.model.ending === 'after-step' ? 'don’t stop' : short;
  return short;
}
