import { z } from 'zod';
import type { OptimizedPart } from '../ports/edit.ts';
import type { ModelTool } from '../ports/model.ts';
import type { ProposalRequest } from '../ports/proposals.ts';
import { type DataFence, fencedDocument } from './fences.ts';
import { handInSchemas, jsonSchema } from './hand-in.ts';
import { historyText, LONG_HISTORY } from './history.ts';
import type { Readable } from './material.ts';
import { cutMiddle, shares } from './room.ts';

/** The one way to hand in. */
export const HAND_IN = 'hand_in';

/** Most characters that the tools of one reflection give, and one answer of them. */
const READING_BUDGET = 80_000;
const LARGEST_ANSWER = 8_000;
const MOST_LINES = 200;
const MOST_HITS = 20;
const LONGEST_LINE = 1_000;
const LONGEST_HIT = 240;

const id = z.string().describe('The id of a task, as list_rollouts shows it.');
const from = z.number().int().min(1).default(1).describe('The first line, counted from 1.');
const lines = z
  .number()
  .int()
  .min(1)
  .max(MOST_LINES)
  .default(MOST_LINES)
  .describe(`How many lines, ${MOST_LINES} at most.`);

const shapes = {
  list_rollouts: z.object({}),
  read_rollout: z.object({ id, from, lines }),
  search_rollouts: z.object({
    text: z.string().min(1).describe('What to look for: plain text, upper and lower case alike.'),
    id: id.optional(),
  }),
  read_skill: z.object({
    which: z
      .enum(['draft', 'incumbent'])
      .describe('draft = what edits apply to; incumbent = the best that was confirmed.'),
  }),
  read_history: z.object({}),
} as const;
type ToolName = keyof typeof shapes;

const descriptions: Readonly<Record<ToolName, string>> = {
  list_rollouts: 'Lists the rollouts that can be read, failing and passing, with their sizes.',
  read_rollout: 'Shows lines of what the agent did at a task, numbered. Its last words stand at the end.',
  search_rollouts: 'Finds lines that hold a text, in all rollouts or in one.',
  read_skill: 'Shows the text of the skill, without line numbers.',
  read_history: 'Shows the edits that were tried before, kept and refused, with what came of them.',
};

const readingTools: readonly ModelTool[] = (Object.keys(shapes) as ToolName[]).map((name) => ({
  name,
  description: descriptions[name],
  schema: jsonSchema(shapes[name], 'input'),
}));
const handInDescription = 'Hands in your edits. Call it once, with all of them, when you are done.';

/** The tool by which a model hands in edits of a part. */
export const handInTool = (part: OptimizedPart): ModelTool => ({
  name: HAND_IN,
  description: handInDescription,
  schema: handInSchemas[part],
});
const withHandIn = (part: OptimizedPart): readonly ModelTool[] => [...readingTools, handInTool(part)];

/** What the model may call, by what is optimized. What has a default need not be given. */
export const toolsFor: Readonly<Record<OptimizedPart, readonly ModelTool[]>> = {
  body: withHandIn('body'),
  description: withHandIn('description'),
};
const names = [...readingTools.map((t) => t.name), HAND_IN];

/** The answer to a call of a tool. */
export type ToolAnswer = { readonly output: string; readonly isError: boolean };

/** Answers the reading tools from what the request holds, which is training data alone, within a budget. */
export class Reader {
  private left = READING_BUDGET;

  constructor(
    private readonly request: ProposalRequest,
    private readonly rollouts: readonly Readable[],
    private readonly fence: DataFence,
  ) {}

  /** Nothing more can be read. */
  get spent(): boolean {
    return this.left <= 0;
  }

  answer(name: string, input: unknown): ToolAnswer {
    if (this.spent) return wrong(`you have read all that can be read: call ${HAND_IN}`);
    const answer = this.read(name, input);
    this.left -= answer.output.length;
    if (answer.isError) return answer;
    const rest = this.spent
      ? `That was all that can be read: call ${HAND_IN}.`
      : `${this.left} characters of reading are left.`;
    return { ...answer, output: `${answer.output}\n${rest}` };
  }

  private read(name: string, input: unknown): ToolAnswer {
    if (!(name in shapes)) return wrong(`there is no tool ${JSON.stringify(name)}: use one of ${names.join(', ')}`);
    const tool = name as ToolName;
    switch (tool) {
      case 'list_rollouts':
        return right(this.list());
      case 'read_rollout':
        return withInput(shapes[tool], input, (i) => this.lines(i.id, i.from, i.lines));
      case 'search_rollouts':
        return withInput(shapes[tool], input, (i) => this.search(i.text, i.id));
      case 'read_skill':
        return withInput(shapes[tool], input, (i) =>
          right(fencedDocument(i.which === 'draft' ? this.request.text : this.request.incumbentText)),
        );
      case 'read_history': {
        const text = historyText(this.request, LONG_HISTORY);
        return right(text === '' ? 'Nothing was tried before.' : this.fence.wrap(cutMiddle(text, 2 * LARGEST_ANSWER)));
      }
      default:
        return tool satisfies never;
    }
  }

  private list(): string {
    const line = (r: Readable) => {
      const count = r.lines().length;
      return `- ${r.id}: ${count === 0 ? 'no longer at hand' : `${count} lines, ${r.lines().join('\n').length} characters`}`;
    };
    const part = (title: string, of: readonly Readable[]) => [title, ...(of.length === 0 ? ['- none'] : of.map(line))];
    const failing = part(
      'Failing:',
      this.rollouts.filter((r) => r.fails),
    );
    const passing = part(
      'Passing:',
      this.rollouts.filter((r) => !r.fails),
    );
    return cutMiddle([...failing, ...passing].join('\n'), LARGEST_ANSWER);
  }

  private lines(id: string, from: number, count: number): ToolAnswer {
    const rollout = this.find(id);
    if (rollout === undefined) return this.noRollout(id);
    const all = rollout.lines();
    if (all.length === 0) return wrong(`the rollout of ${id} is no longer at hand`);
    if (from > all.length) return wrong(`the rollout of ${id} has ${all.length} lines: read from one of them`);
    const shown: string[] = [];
    let size = 0;
    for (const [at, line] of all.slice(from - 1, from - 1 + count).entries()) {
      const numbered = `${from + at}| ${cutMiddle(line, LONGEST_LINE)}`;
      if (size + numbered.length > LARGEST_ANSWER) break;
      shown.push(numbered);
      size += numbered.length + 1;
    }
    const last = from + shown.length - 1;
    const next = last < all.length ? `; go on from ${last + 1}` : '';
    const asked = from === 1 ? `What was asked:\n${this.fence.wrap(cutMiddle(rollout.instruction, 3_000))}\n` : '';
    const title = `${id}, which ${rollout.fails ? 'fails' : 'passes'}: lines ${from}-${last} of ${all.length}${next}`;
    return right(`${asked}${title}\n${this.fence.wrap(shown.join('\n'))}`);
  }

  private search(text: string, id: string | undefined): ToolAnswer {
    const one = id === undefined ? undefined : this.find(id);
    if (id !== undefined && one === undefined) return this.noRollout(id);
    const wanted = text.toLowerCase();
    const found = (one === undefined ? this.rollouts : [one]).map((rollout) =>
      rollout
        .lines()
        .flatMap((line, at) =>
          line.toLowerCase().includes(wanted) ? `${rollout.id} ${at + 1}| ${around(line, wanted)}` : [],
        ),
    );
    // one rollout full of hits leaves room for those of the others
    const counts = found.map((lines) => lines.length);
    const shown = shares(counts, MOST_HITS);
    const hits = found.flatMap((lines, at) => lines.slice(0, shown[at]));
    const count = counts.reduce((a, b) => a + b, 0);
    if (count === 0) return right('No line holds this text.');
    const more = count > hits.length ? `, these ${hits.length} among them` : '';
    return right(
      `${count} ${count === 1 ? 'line holds' : 'lines hold'} it${more}:\n${this.fence.wrap(hits.join('\n'))}`,
    );
  }

  private find(id: string): Readable | undefined {
    return this.rollouts.find((r) => r.id === id);
  }

  private noRollout(id: string): ToolAnswer {
    const known = this.rollouts.map((r) => r.id);
    return wrong(`there is no rollout ${JSON.stringify(id)}: use one of ${cutMiddle(known.join(', '), 1_500)}`);
  }
}

/** The part of a line around what was found in it. */
function around(line: string, wanted: string): string {
  if (line.length <= LONGEST_HIT) return line;
  const start = Math.max(0, Math.min(line.toLowerCase().indexOf(wanted) - LONGEST_HIT / 2, line.length - LONGEST_HIT));
  return `…${line.slice(start, start + LONGEST_HIT)}…`.toWellFormed();
}

function withInput<S extends z.ZodType>(
  shape: S,
  input: unknown,
  work: (input: z.output<S>) => ToolAnswer,
): ToolAnswer {
  const read = shape.safeParse(input ?? {});
  if (read.success) return work(read.data);
  return wrong(read.error.issues.map((i) => `${i.path.join('.') || 'the input'}: ${i.message}`).join('; '));
}

const right = (output: string): ToolAnswer => ({ output, isError: false });
const wrong = (output: string): ToolAnswer => ({ output, isError: true });
