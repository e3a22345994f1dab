import { z } from 'zod';
import type { TrajectoryStep } from '../../ports/trajectory.ts';

const part = z.union([
  z.string(),
  z.looseObject({ type: z.string().nullish().catch(null), text: z.string().nullish().catch(null) }),
]);
const content = z
  .union([z.string(), z.array(part)])
  .nullish()
  .catch(null);

const step = z.object({
  source: z.enum(['system', 'user', 'agent']).catch('agent'),
  is_copied_context: z.boolean().nullish().catch(null),
  message: content,
  reasoning_content: z.string().nullish().catch(null),
  tool_calls: z
    .array(
      z.object({
        tool_call_id: z.string().nullish().catch(null),
        function_name: z.string().catch('tool'),
        arguments: z.unknown(),
      }),
    )
    .nullish()
    .catch(null),
  observation: z
    .object({ results: z.array(z.object({ source_call_id: z.string().nullish().catch(null), content })).catch([]) })
    .nullish()
    .catch(null),
});
const trajectory = z.object({
  steps: z.array(step).min(1),
  continued_trajectory_ref: z.string().nullish().catch(null),
});

/** What an agent did, as Harbor's own format of trajectories (ATIF 1.x) tells it. */
export type AtifReading = {
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  /** The file beside it in which it goes on; null = none. */
  readonly next: string | null;
};

/**
 * Reads `agent/trajectory.json`; null = it is not there whole, or in no form that is known. What stands before the agent's
 * first step is what it was told at its start: its system's words and the instruction, which are no steps of its own. The
 * format has no place for exit codes.
 */
export function readAtif(text: string): AtifReading | null {
  try {
    const read = trajectory.safeParse(JSON.parse(text));
    if (!read.success) return null;
    // what a file repeats of one before it was done there
    const own = read.data.steps.filter(({ is_copied_context: isCopied }) => isCopied !== true);
    const from = own.findIndex(({ source }) => source === 'agent');
    const steps = from < 0 ? [] : own.slice(from).flatMap(stepsOf);
    const last = steps.at(-1);
    const finalText = last?.kind === 'message' && last.role === 'agent' ? last.text : '';
    return { steps, finalText, next: read.data.continued_trajectory_ref ?? null };
  } catch {
    return null;
  }
}

function stepsOf(one: z.output<typeof step>): readonly TrajectoryStep[] {
  const out: TrajectoryStep[] = [];
  if (one.reasoning_content) out.push({ kind: 'thought', text: one.reasoning_content });
  const said = textOf(one.message);
  if (said !== '') out.push({ kind: 'message', role: one.source, text: said });
  const results = one.observation?.results ?? [];
  const calls = one.tool_calls ?? [];
  const isTaken = new Set<number>();
  for (const [at, call] of calls.entries()) {
    const named = results.flatMap((r, i) =>
      r.source_call_id != null && r.source_call_id === call.tool_call_id ? [i] : [],
    );
    // results that name no call stand in the order of the calls
    const mine = named.length > 0 || results[at] === undefined || results[at].source_call_id != null ? named : [at];
    const output = mine.filter((i) => !isTaken.has(i)).map((i) => textOf(results[i]?.content));
    for (const i of mine) isTaken.add(i);
    const input = inputOf(call.arguments);
    out.push({ kind: 'tool', name: call.function_name, input, output: output.join('\n'), exitCode: null });
  }
  for (const [i, result] of results.entries())
    if (!isTaken.has(i) && textOf(result.content) !== '') out.push({ kind: 'note', text: textOf(result.content) });
  return out;
}

function textOf(given: z.output<typeof content>): string {
  if (given === null || given === undefined) return '';
  if (typeof given === 'string') return given;
  return given.map((one) => (typeof one === 'string' ? one : (one.text ?? `[${one.type ?? 'part'}]`))).join('\n');
}

/** A command as it was given; anything else as JSON. */
function inputOf(given: unknown): string {
  if (typeof given === 'string') return given;
  if (typeof given === 'object' && given !== null) {
    const { command, cmd } = given as { readonly command?: unknown; readonly cmd?: unknown };
    for (const one of [command, cmd]) {
      if (typeof one === 'string') return one;
      if (Array.isArray(one) && one.every((word) => typeof word === 'string')) return one.join(' ');
    }
  }
  return JSON.stringify(given) ?? '';
}
