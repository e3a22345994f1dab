import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../journal/journal.ts';
import { firstLines, type Play, play, randomLatency, until } from '../session/session-fixture.ts';
import type { LoggedEvent } from './events.ts';
import { Fold } from './fold.ts';
import type { RunState } from './run-state.ts';

export const eventsOf = (log: string): readonly LoggedEvent[] => readText(log).lines.map((l) => l.event);

/** Folds a log and looks at it before and after every line. */
export function watch(
  events: readonly LoggedEvent[],
  look: {
    readonly before?: (event: LoggedEvent, state: RunState) => void;
    readonly after?: (event: LoggedEvent, state: RunState) => void;
  },
): RunState {
  const fold = new Fold();
  for (const event of events) {
    look.before?.(event, fold.state);
    fold.add(event);
    look.after?.(event, fold.state);
  }
  return fold.state;
}

/** The logs of earlier versions. */
export function goldenLogs(): readonly (readonly [string, readonly LoggedEvent[]])[] {
  const dir = join(import.meta.dir, '..', 'session', 'golden');
  return readdirSync(dir)
    .filter((f) => f.endsWith('.jsonl'))
    .map((f) => [f, eventsOf(readFileSync(join(dir, f), 'utf8'))]);
}

/** Runs ahead of what the engine reads, in an order of its own. */
export const pool = (name: string): Pick<Play, 'workers' | 'latency' | 'optimizerMs'> => ({
  workers: 8,
  latency: randomLatency(name),
  optimizerMs: 40,
});

/** A session that is ended at these shares of its log and taken up again each time. */
export async function cutAndGoOn(o: Play, shares: readonly number[]): Promise<string> {
  const whole = await play(o);
  const total = whole.log.split('\n').length - 1;
  let log = '';
  for (const share of shares) {
    const { log: longer } = await until({ ...o, log, texts: whole.texts });
    log = firstLines(longer, Math.max(log.split('\n').length, Math.floor(total * share)));
  }
  return (await play({ ...o, log, texts: whole.texts })).log;
}
