import type { Decision, EventOf } from '../events/events.ts';
import type { EnginePorts } from '../ports/engine.ts';
import { Conversation, EnvironmentChanged, NO_SKILL, type Settled, Stop } from './conversation.ts';
import type { LoopResult } from './loop.ts';
import type { LoopPlan } from './plan.ts';
import { type Cell, cellOf, scoreOf, shown } from './state.ts';
import { clopperPearson } from './stats.ts';

export type Arm = EventOf<'finalize.started'>['arms'][number]['arm'];
export type FinalizeResult = Omit<EventOf<'finalize.finished'>, 'type' | 'consumed' | 'seen' | 'digest'>;

/**
 * The sealed test: seed, result and no-skill together, interleaved task by task, after `finalize.started` is in the log.
 * Where the description is optimized there is no arm without a skill: nothing could be opened there. A scored rollout is
 * never tried again. Returns what stands in `finalize.finished`.
 */
export async function finalize(
  plan: LoopPlan,
  ports: EnginePorts<Decision>,
  loop: Pick<LoopResult, 'text' | 'environment'>,
  options: { readonly look: number; readonly attempts: number },
): Promise<FinalizeResult> {
  const talk = new Conversation({ ...plan, environment: loop.environment }, ports, 0);
  talk.budget = Number.POSITIVE_INFINITY;
  talk.line = 'finalize';
  const texts: readonly (readonly [Arm, string | null])[] = [
    ['seed', plan.seedText],
    ['result', loop.text],
    ...(plan.optimize === 'description' ? [] : [['no-skill', null] as const]),
  ];
  const skillOf = (text: string | null) => (text === null ? NO_SKILL : talk.hash(text));
  await talk.decide({
    type: 'finalize.started',
    look: options.look,
    attempts: options.attempts,
    arms: texts.map(([arm, text]) => ({ arm, skill: skillOf(text) })),
  });

  const planned = Array.from({ length: options.attempts }).flatMap(() =>
    plan.test.flatMap((t) => texts.map(([arm, text]) => ({ arm, text, task: t.id, ask: talk.number(text, t.id) }))),
  );
  const layOut = (from: number) => {
    for (const p of planned.slice(from)) talk.layOut([p.ask], p.text);
  };
  layOut(0);
  const cells = new Map<Arm, Cell[]>(texts.map(([arm]) => [arm, []]));
  const reads = new Map<Arm, [number, number]>(texts.map(([arm]) => [arm, [0, 0]]));
  const byTask = new Map<string, Map<Arm, Cell>>(plan.test.map((t) => [t.id, new Map()]));
  let done = 0;
  let moved: string | null = null;
  let limit: Stop | null = null;
  /**
   * The next outcome. After a limit it waits for a higher one, with a new attempt of what was cut off. When the
   * environment moves, what is left goes on in the new one, and the result says so.
   */
  const next = async (): Promise<Settled> => {
    for (;;) {
      const p = planned[done];
      if (!p) throw new Error('nothing is left');
      try {
        if (limit !== null) {
          if (!(await talk.limitRaised())) throw limit;
          limit = null;
          p.ask = talk.number(p.text, p.task);
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
        for (const q of planned.slice(done)) q.ask = talk.number(q.text, q.task);
        layOut(done);
      }
    }
  };
  try {
    for (const p of planned) {
      const settled = await next();
      done++;
      const cell = cellOf(settled);
      cells.get(p.arm)?.push(cell);
      const first = byTask.get(p.task);
      if (first && !first.has(p.arm)) first.set(p.arm, cell);
      const read = reads.get(p.arm);
      if (read && cell !== null && settled.read !== null) {
        read[1]++;
        if (settled.read) read[0]++;
      }
    }
  } catch (e) {
    if (!(e instanceof Stop)) throw e;
  } finally {
    talk.drop(planned.slice(done).map((p) => p.ask));
  }

  let wins = 0;
  let losses = 0;
  let pairs = 0;
  for (const arms of byTask.values()) {
    const before = arms.get('seed');
    const after = arms.get('result');
    if (!before || !after) continue;
    pairs++;
    if (after.value > before.value) wins++;
    if (after.value < before.value) losses++;
  }
  const body: FinalizeResult = {
    look: options.look,
    complete: done === planned.length,
    environmentChanged: moved,
    arms: texts.map(([arm, text]) => {
      const score = scoreOf(cells.get(arm) ?? []);
      const interval = clopperPearson(score.passed, score.scored, 0.95);
      return { arm, skill: skillOf(text), score, interval: interval && [...interval], read: reads.get(arm) ?? [0, 0] };
    }),
    wins,
    losses,
    pairs,
    tasks: [...byTask].map(([task, arms]) => ({ task, arms: [...arms].map(([arm, c]) => [arm, shown(c)]) })),
  };
  await talk.decide({ type: 'finalize.finished', ...body });
  return body;
}
