import { finalize } from '../engine/finalize.ts';
import { type LoopResult, optimize } from '../engine/loop.ts';
import type { LoopPlan } from '../engine/plan.ts';
import type { EventOf } from '../events/events.ts';
import { readLog } from '../journal/journal.ts';
import type { SkillOps } from '../ports/engine.ts';
import { opsOf } from '../skill/by-part.ts';
import { EndOfLog, OtherDecision } from './ends.ts';
import { loopPlan, nextLook } from './first-lines.ts';
import { Diverged, diverged, type Logged } from './logged.ts';
import { RecordedPorts } from './recorded-ports.ts';

/** The rules of the skill format for this session; what stands redacted in an edit was a secret. */
export function sessionOps(created: {
  readonly skill: { readonly text: string; readonly files: readonly string[] };
  /** The session's config, or as much of it as says what is optimized. */
  readonly config: { readonly optimize?: unknown };
}): SkillOps {
  const { skill, config } = created;
  const options = { bundledFiles: skill.files, secrets: ['[redacted: '] };
  return opsOf(config.optimize === 'description' ? 'description' : 'body', skill.text, options);
}

/** Is there something that the sealed test may be opened for? */
export function deliverable(loop: LoopResult, plan: LoopPlan): boolean {
  return loop.text !== plan.seedText && (loop.result === 'improved' || loop.result === 'no-measurable-difference');
}

/** The logged side of a difference is read again by its line, so that replay keeps no texts. */
export function divergence(e: OtherDecision, path: string): Diverged {
  for (const { event, body } of readLog(path))
    if (event.seq === e.line) return diverged(e.line, firstDifference(body, e.drawn), body, e.drawn);
  return diverged(e.line, 'another decision', e.type, e.drawn);
}

/** The first field in which two decisions differ. */
function firstDifference(logged: string, drawn: string): string {
  const a = JSON.parse(logged) as Record<string, unknown>;
  const b = JSON.parse(drawn) as Record<string, unknown>;
  if (a.type !== b.type) return `${String(a.type)} stands there, ${String(b.type)} follows from the rest`;
  const field = Object.keys(b).find((k) => JSON.stringify(a[k]) !== JSON.stringify(b[k]));
  return field ? `${String(a.type)}.${field} is not what follows from the rest` : 'the fields stand in another order';
}

/** How far a log follows from itself. */
export type Replayed = {
  readonly complete: boolean;
  readonly finalized: boolean;
  /** The first place where log and rules disagree; null = they agree as far as the log goes. */
  readonly difference: Diverged | null;
  /** What is odd though every decision follows. */
  readonly odd: readonly string[];
};

/** Replay without ports: draws every decision of a log again and compares. `path` is the log's file. */
export async function replayLog(
  logged: Logged,
  first: {
    readonly created: EventOf<'session.created'>;
    readonly splits: EventOf<'splits.fixed'>;
    readonly plan: EventOf<'plan.fixed'>;
  },
  path: string,
): Promise<Replayed> {
  const plan = loopPlan(first.created, first.splits, first.plan);
  const ports = new RecordedPorts(logged, null);
  const odd: string[] = [];
  let complete = false;
  let finalized = false;
  try {
    const loop = await optimize(plan, ports, sessionOps(first.created));
    complete = true;
    const started = logged.finalizeStarted;
    if (started !== null) {
      if (!deliverable(loop, plan)) odd.push('the test was opened although there was nothing to deliver');
      const look = nextLook(first.created);
      if (started.look !== look) odd.push(`the test was opened as look ${started.look}, and it was look ${look}`);
      await finalize(plan, ports, loop, started);
      finalized = true;
    }
  } catch (e) {
    if (e instanceof OtherDecision || e instanceof Diverged)
      return {
        complete: false,
        finalized: false,
        difference: e instanceof OtherDecision ? divergence(e, path) : e,
        odd,
      };
    if (!(e instanceof EndOfLog)) throw e;
  }
  const rest = ports.rest();
  const what = 'this line does not follow from the ones above: the rules never come to it';
  return { complete, finalized, difference: rest === null ? null : diverged(rest, what, '', ''), odd };
}
