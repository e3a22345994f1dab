import { ENGINE } from '../engine/rules.ts';
import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { planEvent, splitsEvent } from './first-lines.ts';
import type { Logged } from './logged.ts';
import type { SessionPaths } from './paths.ts';
import { replayLog } from './replay.ts';

/** The last step whose gate was decided above a line; 0 = none was. */
export function stepAbove(logged: Logged, line: number): number {
  return logged.decisions.filter((d) => d.type === 'gate.decided' && d.line < line).length;
}

/**
 * A session that another engine number drew goes on here only when this engine draws every logged decision the same.
 * Performs and writes nothing. Throws `session-mismatch` with both sides and the way out.
 */
export async function checkUpgrade(logged: Logged, paths: SessionPaths): Promise<void> {
  const { created, engine } = logged;
  if (created === null || engine === null || engine === ENGINE) return;
  const splits = logged.splits ?? splitsEvent(created);
  const plan = logged.plan ?? planEvent(created, splits);
  const { difference } = await replayLog(logged, { created, splits, plan }, paths.log);
  if (difference === null) return;
  const { failure, line } = difference;
  throw fail(
    'session-mismatch',
    `engine ${engine} drew this session, and engine ${ENGINE} of this program decides otherwise: ${failure.what}`,
    `${paths.log}:${line}\n${failure.where}`,
    `go on from where both agree: \`skillopt fork ${shellWord(paths.dir)} --at ${stepAbove(logged, line)}\`; or use the program that made it`,
    { cause: difference },
  );
}
