import type { Protocol } from '../../ports/gateway.ts';

// A request to the scripted model, in one form for all APIs.

export type Fields = Readonly<Record<string, unknown>>;

export type ScriptedTool = {
  readonly name: string;
  /** The group that it stands in, where its API has groups. */
  readonly namespace: string | null;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly schema: Fields;
  /** `custom`: its input is a text. */
  readonly kind: 'function' | 'custom';
};

/** What an agent has asked, with all that went before. */
export type ScriptedTurn = {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly user: string;
  readonly tools: readonly ScriptedTool[];
  /** Inputs of the tools that were called so far, and what they gave. */
  readonly calls: readonly unknown[];
  readonly results: readonly string[];
};

export const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : []);
const word = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A text, a list of parts, or something around one of them. */
function flat(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(flat).join('\n');
  const { text, content: inner, output, parts } = fields(content);
  const within = text ?? inner ?? output ?? parts;
  return within === undefined ? '' : flat(within);
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text ?? {};
  try {
    return JSON.parse(text);
  } catch {
    return { raw: text };
  }
}

/** The parts of a turn as they are found. */
class Reading {
  readonly system: string[] = [];
  readonly user: string[] = [];
  readonly calls: unknown[] = [];
  readonly results: string[] = [];
  readonly tools: ScriptedTool[] = [];

  tool(tool: Fields, schema: unknown, namespace: string | null = null): void {
    const kind = tool.type === 'custom' ? 'custom' : 'function';
    const described = { name: word(tool.name), description: word(tool.description), schema: fields(schema) };
    this.tools.push({ ...described, namespace, kind });
  }

  said(role: unknown, text: string): void {
    if (role === 'system' || role === 'developer') this.system.push(text);
    else if (role === 'user') this.user.push(text);
  }

  turn(model: unknown, stream: boolean): ScriptedTurn {
    const [system, user] = [this.system.join('\n'), this.user.join('\n')];
    return { model: word(model), stream, system, user, tools: this.tools, calls: this.calls, results: this.results };
  }
}

/** Reads a request; `path` as it was asked for. */
export function scriptedTurn(protocol: Protocol, body: Fields, path: string): ScriptedTurn {
  const reading = new Reading();
  switch (protocol) {
    case 'messages':
      readMessages(body, reading);
      break;
    case 'chat':
      readChat(body, reading);
      break;
    case 'responses':
      readResponses(body, reading);
      break;
    case 'gemini':
      readGemini(body, reading);
      return reading.turn(/models\/([^:]+):/.exec(path)?.[1], path.includes('streamGenerateContent'));
    default:
      return protocol satisfies never;
  }
  return reading.turn(body.model, body.stream === true);
}

function readMessages(body: Fields, to: Reading): void {
  to.system.push(flat(body.system));
  for (const tool of list(body.tools)) to.tool(tool, tool.input_schema);
  for (const message of list(body.messages)) {
    const { content } = message;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
    for (const block of blocks as readonly Fields[]) {
      if (block.type === 'tool_use') to.calls.push(block.input);
      else if (block.type === 'tool_result') to.results.push(flat(block.content));
      else if (block.type === 'text') to.said(message.role, word(block.text));
    }
  }
}

function readChat(body: Fields, to: Reading): void {
  for (const { function: tool } of list(body.tools)) to.tool(fields(tool), fields(tool).parameters);
  for (const message of list(body.messages)) {
    to.said(message.role, flat(message.content));
    if (message.role === 'tool') to.results.push(flat(message.content));
    for (const call of list(message.tool_calls)) to.calls.push(parsed(fields(call.function).arguments));
  }
}

function readResponses(body: Fields, to: Reading): void {
  to.system.push(flat(body.instructions));
  const tools = (some: readonly Fields[], namespace: string | null) => {
    for (const tool of some) {
      if (tool.type === 'namespace') tools(list(tool.tools), word(tool.name));
      else if (word(tool.name) !== '') to.tool(tool, tool.parameters, namespace);
    }
  };
  tools(list(body.tools), null);
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : list(body.input);
  for (const item of input as readonly Fields[]) {
    if (item.type === 'additional_tools') tools(list(item.tools), null);
    else if (item.type === 'function_call') to.calls.push(parsed(item.arguments));
    else if (item.type === 'custom_tool_call') to.calls.push({ raw: item.input });
    else if (word(item.type).endsWith('_output')) to.results.push(flat(item.output));
    else to.said(item.role, flat(item.content));
  }
}

function readGemini(body: Fields, to: Reading): void {
  to.system.push(flat(fields(body.systemInstruction ?? body.system_instruction).parts));
  for (const group of list(body.tools)) {
    for (const tool of list(group.functionDeclarations)) to.tool(tool, tool.parametersJsonSchema ?? tool.parameters);
  }
  for (const message of list(body.contents)) {
    for (const part of list(message.parts)) {
      if (part.functionCall !== undefined) to.calls.push(fields(part.functionCall).args);
      else if (part.functionResponse !== undefined) to.results.push(responseText(fields(part.functionResponse)));
      else if (part.text !== undefined) to.said(message.role, word(part.text));
    }
  }
}

function responseText({ response }: Fields): string {
  const values = Object.values(fields(response));
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');
}
