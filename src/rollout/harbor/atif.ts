import { z } from 'zod';
import type { TrajectoryStep } from '../../ports/trajectory.ts';

const part = z.union([z.string(), z.looseObject({ text: z.string().nullish().catch(null) })]);
const content = z
  .union([z.string(), z.array(part)])
  .nullish()
  .catch(null);

const step = z.object({
  source: z.enum(['system', 'user', 'agent']).catch('agent'),
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
const trajectory = z.object({ steps: z.array(step).min(1) });

/** What an agent did, as Harbor's own format of trajectories (ATIF 1.x) tells it. */
export type AtifReading = { readonly steps: readonly TrajectoryStep[]; readonly finalText: string };

/**
 * Reads `agent/trajectory.json`; null = it is not there whole, or in no form that is known. What stands before the agent's
 * first step is what it was told at its start: its system's words and the instruction, which are no steps of its own. The
 * format has no place for exit codes.
 */
export function readAtif(text: string): AtifReading | null {
  try {
    const read = trajectory.safeParse(JSON.parse(text));
    if (!read.success) return null;
    const from = read.data.steps.findIndex(({ source }) => source === 'agent');
    const steps = from < 0 ? [] : read.data.steps.slice(from).flatMap(stepsOf);
    const last = steps.at(-1);
    return { steps, finalText: last?.kind === 'message' && last.role === 'agent' ? last.text : '' };
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
  const taken = new Set<number>();
  for (const [at, call] of calls.entries()) {
    const mine = results.findIndex((r, i) => !taken.has(i) && r.source_call_id === call.tool_call_id);
    const index = mine >= 0 ? mine : results[at]?.source_call_id == null && results[at] !== undefined ? at : -1;
    if (index >= 0) taken.add(index);
    out.push({
      kind: 'tool',
      name: call.function_name,
      input: inputOf(call.arguments),
      output: index < 0 ? '' : textOf(results[index]?.content),
      exitCode: null,
    });
  }
  for (const [i, result] of results.entries())
    if (!taken.has(i) && textOf(result.content) !== '') out.push({ kind: 'note', text: textOf(result.content) });
  return out;
}

function textOf(given: z.output<typeof content>): string {
  if (given === null || given === undefined) return '';
  if (typeof given === 'string') return given;
  return given.map((one) => (typeof one === 'string' ? one : (one.text ?? ''))).join('');
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
