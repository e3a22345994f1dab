import { z } from 'zod';
import { type Edit, type EditOp, editOps, type OptimizedPart } from '../ports/edit.ts';
import { objectAt } from './json-text.ts';

const bodyEdit = z.object({
  op: z.enum(editOps),
  target: z
    .string()
    .default('')
    .describe(
      'A text of the body, copied letter for letter, that occurs exactly once. For append_section a heading line.',
    ),
  content: z.string().default('').describe('The new text. Empty for delete.'),
  cites: z
    .array(z.string())
    .default([])
    .describe('Ids of the failing tasks that it answers, first the one that this edit alone should mend.'),
  reason: z.string().default('').describe('One sentence: the mistake, and why this helps on tasks not seen.'),
});

/** Words at the end are *appended* where there are no sections. */
const APPEND = 'append';
const APPEND_SECTION: EditOp = 'append_section';

const descriptionEdit = bodyEdit.extend({
  op: z.enum(editOps.map((op) => (op === APPEND_SECTION ? APPEND : op))),
  target: z
    .string()
    .default('')
    .describe('Words of the description, copied letter for letter, that occur exactly once. Empty for append.'),
  content: z.string().default('').describe('The new words, one paragraph of plain text. Empty for delete.'),
});

const handInShape = (edit: z.ZodType) =>
  z.object({
    summary: z.string().default('').describe('What you saw and what you change, in a sentence or two.'),
    edits: z.array(edit).describe('The edits. Empty when none is worth trying.'),
  });

/** The form of a hand-in, as JSON Schema for a tool, by what is optimized. */
export const handInSchemas: Readonly<Record<OptimizedPart, object>> = {
  body: jsonSchema(handInShape(bodyEdit), 'output'),
  description: jsonSchema(handInShape(descriptionEdit), 'output'),
};

/** A shape as plain JSON Schema: what some providers refuse, and no model needs, is left out. */
export function jsonSchema(shape: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io,
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}

/** One edit of a hand-in: as it was meant, or why it is none. */
export type ReadEdit = { readonly edit: Edit } | { readonly problem: string };

/** A hand-in with each edit read by itself; or why it is none at all. */
export type HandIn = { readonly summary: string; readonly edits: readonly ReadEdit[] };
export type ReadHandIn = HandIn | { readonly problem: string };

/** Whether a value looks like a hand-in, well formed or not. */
export function isHandIn(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'edits' in value;
}

/** Reads a hand-in. A list of edits that was written as a text is taken for what it says. */
export function readHandIn(value: unknown): ReadHandIn {
  const input = typeof value === 'string' ? fromText(value) : value;
  if (!isHandIn(input)) return { problem: 'it is not an object with "summary" and "edits"' };
  const { summary, edits } = input as { readonly summary?: unknown; readonly edits: unknown };
  const list = typeof edits === 'string' ? fromText(edits) : edits;
  if (!Array.isArray(list)) return { problem: '"edits" is not a list' };
  return { summary: typeof summary === 'string' ? summary.trim() : '', edits: list.map(readEdit) };
}

/** The hand-ins of one reply as one: some models hand in each edit by itself. */
export function joined(handIns: readonly HandIn[]): HandIn {
  return {
    summary: handIns
      .map((h) => h.summary)
      .filter((s) => s !== '')
      .join(' '),
    edits: handIns.flatMap((h) => h.edits),
  };
}

function readEdit(value: unknown): ReadEdit {
  const read = bodyEdit.safeParse(asMeant(value));
  if (read.success) return { edit: { ...read.data, cites: read.data.cites.map((id) => id.trim()) } };
  return { problem: read.error.issues.map((i) => `${i.path.join('.') || 'the edit'}: ${i.message}`).join('; ') };
}

/** One id where a list was asked for, and the name that appending has for descriptions. */
function asMeant(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const cites = 'cites' in value && typeof value.cites === 'string' ? { cites: [value.cites] } : {};
  return { ...value, ...cites, ...('op' in value && value.op === APPEND ? { op: APPEND_SECTION } : {}) };
}

/** The value of a JSON text; null when it is none. */
function fromText(text: string): unknown {
  const found = objectAt(text.trim(), 0);
  return found.kind === 'whole' ? found.value : null;
}
