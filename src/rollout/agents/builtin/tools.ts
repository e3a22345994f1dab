import { z } from 'zod';
import type { ModelTool } from '../../../ports/model.ts';
import { runBash } from './bash.ts';
import { editFile, readFile, writeFile } from './files.ts';
import type { Hands } from './hands.ts';
import { type Performed, shapes, type ToolInput, type ToolName } from './tool-inputs.ts';

const descriptions: Readonly<Record<ToolName, string>> = {
  bash: 'Runs a command and shows what it prints, with its exit code. Long outputs are cut in the middle.',
  read: 'Shows a text file.',
  write: 'Writes a text file whole, with the folders that it needs. What stood there before is gone.',
  edit: 'Replaces a text in a file.',
};

/** What the model may call. */
export const modelTools: readonly ModelTool[] = (Object.keys(shapes) as ToolName[]).map((name) => ({
  name,
  description: descriptions[name],
  schema: jsonSchema(shapes[name]),
}));

/** Plain JSON Schema: what some providers refuse, and no model needs, is left out. */
function jsonSchema(shape: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io: 'input',
    override: ({ jsonSchema: part }) => {
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
    },
  });
  return schema;
}

/** Performs a call of the model. What is wrong with the call is told to the model, never thrown. */
export async function performCall(
  hands: Hands,
  call: { readonly name: string; readonly input: unknown },
): Promise<Performed> {
  switch (call.name) {
    case 'bash':
      return checked('bash', call.input, (input) => runBash(hands, input.command));
    case 'read':
      return checked('read', call.input, (input) => readFile(hands, input));
    case 'write':
      return checked('write', call.input, (input) => writeFile(hands, input));
    case 'edit':
      return checked('edit', call.input, (input) => editFile(hands, input));
    default: {
      const known = Object.keys(shapes).join(', ');
      return refused(call.name, call.input, `There is no tool ${JSON.stringify(call.name)}. The tools are ${known}.`);
    }
  }
}

async function checked<N extends ToolName>(
  name: N,
  input: unknown,
  perform: (input: ToolInput<N>) => Promise<Performed>,
): Promise<Performed> {
  const read = shapes[name].safeParse(input);
  if (read.success) return perform(read.data as ToolInput<N>);
  const problems = read.error.issues.map(({ path: at, message }) => `${at.join('.') || 'the input'}: ${message}`);
  return refused(name, input, `${name} was not run. ${problems.join('; ')}.`);
}

function refused(name: string, input: unknown, output: string): Performed {
  const shown = JSON.stringify(input) ?? '';
  return { kind: 'done', step: { kind: 'tool', name, input: shown, output, exitCode: null }, isError: true };
}
