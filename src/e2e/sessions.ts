import { cpSync } from 'node:fs';
import { type Ended, jsonOf, type LogLine, Place } from './binary.ts';

// What tests ask of a session, however it came about.

let finished: Promise<{ readonly place: Place; readonly end: Ended }> | null = null;

/** One finished demo in `skillopt-demo`, made once, with what it wrote; tests that change it take a copy. */
export function finishedDemo(): Promise<{ readonly place: Place; readonly end: Ended }> {
  if (finished === null) {
    const place = new Place({ shared: true });
    finished = place.succeed(['demo']).then((end) => ({ place, end }));
  }
  return finished;
}

/** A place of its own that holds a copy of the finished demo. */
export async function copyOfDemo(): Promise<Place> {
  const place = new Place();
  cpSync((await finishedDemo()).place.path('skillopt-demo'), place.path('skillopt-demo'), { recursive: true });
  return place;
}

/** What must be the same however a session was cut: best skill, score table, confirmation and test number. */
export async function essence(place: Place, session: string): Promise<unknown> {
  const { cause, result, selection, test, stepRows } = jsonOf(await place.succeed(['status', session, '--json']));
  const table = (stepRows as readonly Record<string, unknown>[]).map(({ at, seq, prev, ...row }) => row);
  return { best: place.read(session, 'best_skill.md'), cause, result, selection, test, table };
}

/** Rollouts of a log that were performed although their outcome stood above, or that finished twice. */
export function performedAgain(events: readonly LogLine[]): readonly unknown[] {
  const done = new Set<unknown>();
  const again: unknown[] = [];
  for (const { type, key } of events) {
    if ((type === 'rollout.started' || type === 'rollout.finished') && done.has(key)) again.push(`${type} ${key}`);
    if (type === 'rollout.finished') done.add(key);
  }
  return again;
}

/** The five session files that a session leaves, as a listing of its folder shows them. */
export const sessionFiles = [
  'best_skill.md',
  'skillopt.config.json',
  'skillopt.jsonl',
  'skillopt.md',
  'skillopt.snapshots',
];

/** Names in the report after a run, in order. */
export function reportOf(end: Ended): readonly string[] {
  const lines = end.stdout.trimEnd().split('\n');
  const from = lines.findLastIndex((line) => line.startsWith('result '));
  return lines.slice(from).map((line) => line.slice(0, 12).trim());
}
