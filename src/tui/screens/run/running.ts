import { askedText } from '../../../events/optimizer-words.ts';
import { readText, reflectingText } from '../../../events/words.ts';
import { clock, ends, fit, type Line, span, widthOf } from '../../text.ts';
import { type Facts, goesOnIn, since } from './facts.ts';

/** At most so many running rollouts are shown, longest first. */
const MOST = 8;

/** What is at work: running rollouts or the optimizer; at the right how often the skill was read. */
export function running(f: Facts, width: number): Line {
  const { state } = f;
  const read: Line = state.read[1] > 0 ? [span(`${readText(state)} `, 'quiet')] : [];
  const right = width >= 72 ? read : [];
  if (f.notice !== '' && state.session) return ends([span(` ${f.notice}`, 'warn')], [], width);
  if (f.waiting !== '') {
    const whose = state.reflecting && width >= 72 ? [span(' optimizer ', 'live')] : [];
    return ends([...whose, span(' waiting  ', 'warn'), span(f.waiting)], right, width);
  }
  if (state.reflecting && f.resumesAtMs === null) {
    const { calls, since: at } = state.reflecting;
    const made = calls === 0 ? '' : `, ${askedText(state.plan, calls)}`;
    const text = `${reflectingText(state.reflecting)}${made}`;
    return ends([span(' optimizer  ', 'live'), span(`${text} ${clock(since(f, at))}`)], right, width);
  }
  const list = byTask(f);
  if (list.length === 0) return ends([span(idle(f), 'quiet')], right, width);
  const label = ' running  ';
  const out = [span(label, 'live')];
  let room = width - widthOf(label) - (right[0] ? widthOf(right[0].text) + 1 : 0);
  let shown = 0;
  for (const { task, times, sinceAt } of list.slice(0, MOST)) {
    const name = times > 1 ? `${task} ×${times} ` : `${task} `;
    const time = `${clock(since(f, sinceAt))}  `;
    const more = list.length - shown - 1;
    if (shown > 0 && widthOf(name + time) > room - (more > 0 ? 9 : 0)) break;
    out.push(span(name), span(time, 'quiet'));
    room -= widthOf(name + time);
    shown++;
  }
  if (list.length > shown) out.push(span(`+${list.length - shown} more`, 'quiet'));
  return fit(ends(out, right, width), width);
}

type RunningTask = { readonly task: string; readonly times: number; readonly sinceAt: string };

/** What runs, longest first; a task that runs under several skills side by side stands once. */
function byTask(f: Facts): readonly RunningTask[] {
  const tasks = new Map<string, RunningTask>();
  for (const { task, since: at } of f.state.running.values()) {
    const before = tasks.get(task);
    const sinceAt = before && before.sinceAt < at ? before.sinceAt : at;
    tasks.set(task, { task, times: (before?.times ?? 0) + 1, sinceAt });
  }
  return [...tasks.values()].sort((a, b) => (a.sinceAt < b.sinceAt ? -1 : a.sinceAt > b.sinceAt ? 1 : 0));
}

function idle(f: Facts): string {
  const { state, model } = f;
  if (f.paused) {
    const goesOn = goesOnIn(f);
    return goesOn === '' ? ' paused: nothing new starts' : ` paused until the login’s limit is reset, ${goesOn}`;
  }
  if (model.ending === 'now') return ' what ran is being cleaned up';
  if (state.phase === 'finished' || model.ending === 'over') return ' nothing runs any more';
  return ' …';
}
