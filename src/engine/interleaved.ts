import type { Ask } from '../ports/engine.ts';
import { type Conversation, EnvironmentChanged, type Settled, Stop } from './conversation.ts';

/** One attempt of one arm; `skill` names the arm in its keys. */
export type PlannedAttempt<A extends string> = {
  readonly arm: A;
  readonly skill: string;
  readonly text: string | null;
  readonly task: string;
  ask: Ask;
};

/** Lays attempts out task by task and pass by pass, all arms at one task after another. */
export function interleave<A extends string>(
  talk: Conversation,
  arms: readonly { readonly arm: A; readonly skill: string; readonly text: string | null }[],
  tasks: readonly string[],
  attempts: number,
): readonly PlannedAttempt<A>[] {
  return Array.from({ length: attempts }).flatMap(() =>
    tasks.flatMap((task) =>
      arms.map(({ arm, skill, text }) => ({ arm, skill, text, task, ask: talk.numberFor(skill, task) })),
    ),
  );
}

/** How far it came; `moved` = what of the environment changed on the way, null = nothing did. */
export type Interleaved = { readonly done: number; readonly moved: string | null };

/**
 * Takes planned attempts one by one. After a limit it waits for a higher one, with a new attempt of what was cut off, and
 * ends where there is none. When the environment moves, what is left goes on in the new one.
 */
export async function rollInterleaved<A extends string>(
  talk: Conversation,
  planned: readonly PlannedAttempt<A>[],
  each: (planned: PlannedAttempt<A>, settled: Settled) => void,
): Promise<Interleaved> {
  const layOut = (from: number) => {
    for (const p of planned.slice(from)) talk.layOut([p.ask], p.text);
  };
  layOut(0);
  let done = 0;
  let moved: string | null = null;
  let limit: Stop | null = null;
  const next = async (p: PlannedAttempt<A>): Promise<Settled> => {
    for (;;) {
      try {
        if (limit !== null) {
          if (!(await talk.limitRaised())) throw limit;
          limit = null;
          talk.drop([p.ask]); // nobody takes it any more
          p.ask = talk.numberFor(p.skill, p.task);
          talk.layOut([p.ask], p.text);
        }
        return await talk.settle(p.ask, p.text);
      } catch (e) {
        if (e instanceof Stop && limit === null) {
          limit = e;
          continue;
        }
        if (!(e instanceof EnvironmentChanged)) throw e;
        if (done > 0) moved = e.what; // before the first one, all of it is of the new environment
        talk.drop(planned.slice(done).map((q) => q.ask));
        for (const q of planned.slice(done)) q.ask = talk.numberFor(q.skill, q.task);
        layOut(done);
      }
    }
  };
  try {
    for (const p of planned) {
      const settled = await next(p);
      done++;
      each(p, settled);
    }
  } catch (e) {
    if (!(e instanceof Stop)) throw e;
  } finally {
    talk.drop(planned.slice(done).map((p) => p.ask));
  }
  return { done, moved };
}
