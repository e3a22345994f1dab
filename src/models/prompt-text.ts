import type { ModelMessage, ModelPart, ModelRequest } from '../ports/model.ts';

/** A request as one text, for programs that take nothing else. Of a conversation each turn is named. */
export function promptText(request: ModelRequest): string {
  const [only, ...more] = request.messages;
  const conversation =
    only !== undefined && more.length === 0 ? [textOf(only)] : request.messages.map((m) => `[${m.role}]\n${textOf(m)}`);
  return `${[request.system, ...conversation].filter((t) => t !== '').join('\n\n')}\n`;
}

function textOf(message: ModelMessage): string {
  return message.parts
    .map(partText)
    .filter((t) => t !== '')
    .join('\n\n');
}

function partText(part: ModelPart): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'tool-call':
      return `[calls ${part.name}] ${JSON.stringify(part.input)}`;
    case 'tool-result':
      return `[result${part.isError ? ', failed' : ''}]\n${part.output}`;
    default: {
      const never: never = part;
      return never;
    }
  }
}
