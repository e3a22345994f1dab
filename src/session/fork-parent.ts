import { ENGINE } from '../engine/rules.ts';
import type { Envelope, Event, EventOf } from '../events/events.ts';
import type { Head, ReadEnd, ReadLine } from '../journal/journal.ts';
import { chainHash } from '../journal/lines.ts';
import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { checkRules } from './first-lines.ts';
import type { Effect } from './inherited-ports.ts';
import { Logged } from './logged.ts';

/** A session that is to be forked, as its log has it. */
export type Parent = {
  readonly logged: Logged;
  readonly created: EventOf<'session.created'>;
  readonly splits: EventOf<'splits.fixed'>;
  readonly effects: readonly { readonly line: number; readonly event: Effect }[];
  readonly inputs: readonly { readonly line: number; readonly event: EventOf<'input.received'> }[];
  /** The lines at which the steps were decided, by step. */
  readonly gates: ReadonlyMap<number, number>;
  /** Last line before the first reflection; null = the baseline is not finished. */
  readonly baseline: number | null;
  /** How often the sealed test was opened, here and by those that it comes from. */
  readonly looks: number;
  readonly head: (line: number) => Head;
};

/** The place at which a fork leaves its parent: after a step, with all effects down to this line. */
export type Place = { readonly step: number; readonly line: number };

/** Reads a parent's log. `dir` is named in failures. */
export function readParent(reader: Generator<ReadLine, ReadEnd>, log: string, dir: string): Parent {
  const effects: { line: number; event: Effect }[] = [];
  const inputs: { line: number; event: EventOf<'input.received'> }[] = [];
  const gates = new Map<number, number>();
  const hashes: string[] = [];
  let opened = 0;
  let measured = false;
  let ended = false;
  let reflected: number | null = null;
  const { logged } = Logged.read(reader, ({ event, raw }) => {
    hashes.push(chainHash(raw));
    const line = event.seq;
    if (event.type === 'rollout.finished' || event.type === 'reflection.finished')
      effects.push({ line, event: bare(event) });
    else if (event.type === 'input.received') inputs.push({ line, event: bare(event) });
    else if (event.type === 'gate.decided') gates.set(event.step, line);
    else if (event.type === 'evaluation.finished' && event.split === 'train') measured = true;
    else if (event.type === 'session.ended') ended = true;
    else if (event.type === 'finalize.started' || event.type === 'test.looked') opened++;
    if (event.type === 'reflection.started' || event.type === 'reflection.finished') reflected ??= line;
  });
  const { created, splits } = logged;
  if (created) checkRules(created, log);
  if (!created || !splits || !measured)
    throw fail(
      'usage',
      'the baseline of this session is not finished, so there is nothing to inherit',
      log,
      ended
        ? 'start anew in a directory of its own'
        : `go on with it (\`skillopt run ${shellWord(dir)}\`), or start anew in a directory of its own`,
    );
  return {
    logged,
    created,
    splits,
    effects,
    inputs,
    gates,
    baseline: reflected === null ? hashes.length : reflected - 1,
    looks: opened + (created.fork?.looks ?? 0),
    head: (line) => ({ lines: line, hash: hashes[line - 1] ?? '' }),
  };
}

/** An event as it goes into another log: without the envelope of its line. */
function bare<E extends Event>(event: Envelope & E): E {
  const { v: _v, seq: _seq, at: _at, prev: _prev, ...rest } = event;
  return rest as unknown as E;
}

/**
 * The place of a fork: after step `at`, or after the last one. Where this program decides otherwise from line
 * `differsAt` on, only steps above it count. Step 0 is the baseline.
 */
export function placeOf(parent: Parent, at: number | null, differsAt: number | null, log: string): Place {
  const steps = [...parent.gates].filter(([, line]) => differsAt === null || line < differsAt);
  const step = at ?? steps.at(-1)?.[0] ?? 0;
  if (step === 0) return { step, line: parent.baseline ?? 0 };
  const line = new Map(steps).get(step);
  if (line !== undefined) return { step, line };
  const known = steps.map(([n]) => n);
  const list = known.length === 0 ? '0 (the baseline) alone' : `0 (the baseline), ${known.join(', ')}`;
  const differs = parent.gates.has(step)
    ? `step ${step} was decided by engine ${parent.logged.engine}, and engine ${ENGINE} of this program decides otherwise from line ${differsAt} on`
    : `this session has no step ${step}`;
  throw fail('usage', differs, log, `the steps to fork at are ${list}`);
}
