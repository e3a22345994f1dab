import type { Decision, EventOf } from '../events/events.ts';
import type { EnginePorts } from '../ports/engine.ts';
import { Conversation, NO_SKILL } from './conversation.ts';
import { interleave, rollInterleaved } from './interleaved.ts';
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
  const arms = texts.map(([arm, text]) => ({ arm, text, skill: skillOf(text) }));
  await talk.decide({
    type: 'finalize.started',
    look: options.look,
    attempts: options.attempts,
    arms: arms.map(({ arm, skill }) => ({ arm, skill })),
  });

  const planned = interleave(
    talk,
    arms,
    plan.test.map((t) => t.id),
    options.attempts,
  );
  const cells = new Map<Arm, Cell[]>(texts.map(([arm]) => [arm, []]));
  const reads = new Map<Arm, [number, number]>(texts.map(([arm]) => [arm, [0, 0]]));
  const byTask = new Map<string, Map<Arm, Cell>>(plan.test.map((t) => [t.id, new Map()]));
  const { done, moved } = await rollInterleaved(talk, planned, (p, settled) => {
    const cell = cellOf(settled);
    cells.get(p.arm)?.push(cell);
    const first = byTask.get(p.task);
    if (first && !first.has(p.arm)) first.set(p.arm, cell);
    const read = reads.get(p.arm);
    if (read && cell !== null && settled.read !== null) {
      read[1]++;
      if (settled.read) read[0]++;
    }
  });

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
    arms: arms.map(({ arm, skill }) => {
      const score = scoreOf(cells.get(arm) ?? []);
      const interval = clopperPearson(score.passed, score.scored, 0.95);
      return { arm, skill, score, interval: interval && [...interval], read: reads.get(arm) ?? [0, 0] };
    }),
    wins,
    losses,
    pairs,
    tasks: [...byTask].map(([task, arms]) => ({ task, arms: [...arms].map(([arm, c]) => [arm, shown(c)]) })),
  };
  await talk.decide({ type: 'finalize.finished', ...body });
  return body;
}
