import { ROUND_TRIP_SYSTEM } from '../models/round-trip.ts';
import { atEnd } from './binary.ts';

// A model behind a local endpoint, for tests of the binary. It speaks Chat Completions and Messages, in streams, with
// tools and usage; what it says is a function of what it is asked.

/** One message as the model sees it, whatever the protocol. */
export type Turn = {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly calls: readonly Call[];
  /** Outputs of tools, in the order of their calls. */
  readonly results: readonly string[];
};
export type Call = { readonly name: string; readonly input: unknown };

/** A request as the model sees it. */
export type Question = {
  readonly protocol: 'openai' | 'anthropic';
  readonly model: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  /** Names of the tools that it may call. */
  readonly tools: readonly string[];
  /** One of the tools has to be called. */
  readonly mustCall: boolean;
  readonly headers: Headers;
};

/** What the model says: a text, or calls of tools. */
export type Said = { readonly text?: string; readonly calls?: readonly Call[] };

/** What stands in the way of an answer: a response in its place, or null for none. It may take its time. */
export type Trouble = (question: Question) => Response | null | Promise<Response | null>;

export class ModelServer {
  /** Every request for an answer, those that were refused too; the short ones before the work begins stand in `checked`. */
  readonly asked: Question[] = [];
  readonly checked: Question[] = [];
  /** Tokens of the answers that were given, as the server counts them. */
  readonly tokens = { input: 0, output: 0 };
  /** Asked before each answer. */
  trouble: Trouble = () => null;
  /** Asked before each answer to a short request before the work begins, and what is answered to it. */
  checkTrouble: Trouble = () => null;
  checkPlay: (question: Question) => Said = repeatsTheWord;
  private server: ReturnType<typeof Bun.serve> | null = null;
  private readonly port: number;

  constructor(private readonly play: (question: Question) => Said) {
    this.server = this.listen(0);
    this.port = this.server.port ?? 0;
    atEnd(() => this.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /** Breaks every connection and listens no more. */
  stop(): void {
    void this.server?.stop(true);
    this.server = null;
  }

  /** Listens again where it did. */
  start(): void {
    this.server ??= this.listen(this.port);
  }

  private listen(port: number) {
    return Bun.serve({ hostname: '127.0.0.1', port, idleTimeout: 0, fetch: (request) => this.answer(request) });
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/v1/models') return Response.json({ data: [{ id: 'target' }, { id: 'optimizer' }] });
    const text = await request.text();
    const read = { '/v1/chat/completions': readOpenai, '/v1/messages': readAnthropic }[pathname];
    if (read === undefined) return refusal(404, 'not_found_error', 'no such path');
    const question = read(JSON.parse(text) as Fields, new Headers(request.headers));
    const isCheck = question.system === ROUND_TRIP_SYSTEM;
    (isCheck ? this.checked : this.asked).push(question);
    const trouble = await (isCheck ? this.checkTrouble : this.trouble)(question);
    if (trouble !== null) return trouble;
    const said = (isCheck ? this.checkPlay : this.play)(question);
    const usage = { input: tokensOf(text), output: tokensOf(JSON.stringify(said)) };
    this.tokens.input += usage.input;
    this.tokens.output += usage.output;
    const pieces = question.protocol === 'openai' ? openaiStream(said, usage) : anthropicStream(said, usage);
    return new Response(pieces.join(''), { headers: { 'content-type': 'text/event-stream' } });
  }
}

/** Says the word that it is asked for, or calls the tool with it. */
export function repeatsTheWord({ turns, tools }: Question): Said {
  const word = /: (\w+)$/.exec(turns[0]?.text ?? '')?.[1] ?? '';
  const [tool] = tools;
  return tool === undefined ? { text: word } : { calls: [{ name: tool, input: { summary: word, edits: [] } }] };
}

/** An answer that refuses, in a form that both protocols know. */
export function refusal(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ type: 'error', error: { type, message } }, { status, headers });
}

type Fields = Readonly<Record<string, unknown>>;
type Usage = { readonly input: number; readonly output: number };

const tokensOf = (text: string): number => Math.ceil(text.length / 4);
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);
const word = (value: unknown): string => (typeof value === 'string' ? value : '');

function readOpenai(body: Fields, headers: Headers): Question {
  const messages = list(body.messages);
  const turns: Turn[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === 'system') continue;
    if (message.role === 'tool') {
      const results = [...(last?.role === 'user' ? last.results : []), word(message.content)];
      if (last?.role === 'user') turns.pop();
      turns.push({ role: 'user', text: '', calls: [], results });
    } else {
      const calls = list(message.tool_calls).map((c) => {
        const { name, arguments: input } = c.function as { name: string; arguments: string };
        return { name, input: JSON.parse(input) };
      });
      turns.push({ role: message.role as Turn['role'], text: word(message.content), calls, results: [] });
    }
  }
  return {
    protocol: 'openai',
    model: word(body.model),
    system: word(messages.find((m) => m.role === 'system')?.content),
    turns,
    tools: list(body.tools).map((t) => word((t.function as Fields).name)),
    mustCall: body.tool_choice !== undefined,
    headers,
  };
}

function readAnthropic(body: Fields, headers: Headers): Question {
  const { system } = body;
  return {
    protocol: 'anthropic',
    model: word(body.model),
    system:
      typeof system === 'string'
        ? system
        : list(system)
            .map((part) => word(part.text))
            .join('\n'),
    turns: list(body.messages).map((message) => {
      const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
      const of = (type: string) => list(parts).filter((part) => part.type === type);
      return {
        role: message.role as Turn['role'],
        text: of('text')
          .map((p) => word(p.text))
          .join('\n'),
        calls: of('tool_use').map((p) => ({ name: word(p.name), input: p.input })),
        results: of('tool_result').map((p) =>
          typeof p.content === 'string'
            ? p.content
            : list(p.content)
                .map((c) => word(c.text))
                .join('\n'),
        ),
      };
    }),
    tools: list(body.tools).map((t) => word(t.name)),
    mustCall: (body.tool_choice as Fields | undefined)?.type === 'tool',
    headers,
  };
}

let calls = 0;
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

/** In two pieces, as texts come. */
function halves(text: string): readonly string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function openaiStream(said: Said, usage: Usage): readonly string[] {
  const chunk = (delta: object, finish: string | null = null) =>
    data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
  return [
    chunk({ role: 'assistant' }),
    ...halves(said.text ?? '').map((content) => chunk({ content })),
    ...(said.calls ?? []).flatMap(({ name, input }, index) => {
      const [first, second] = halves(JSON.stringify(input));
      return [
        chunk({
          tool_calls: [{ index, id: `call-${++calls}`, type: 'function', function: { name, arguments: first } }],
        }),
        chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
      ];
    }),
    chunk({}, said.calls ? 'tool_calls' : 'stop'),
    data({
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [],
      usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
    }),
    'data: [DONE]\n\n',
  ];
}

function anthropicStream(said: Said, usage: Usage): readonly string[] {
  const event = (type: string, rest: object = {}) => `event: ${type}\n${data({ type, ...rest })}`;
  const block = (index: number, content_block: object, deltas: readonly object[]) => [
    event('content_block_start', { index, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
  const message = { id: 'm', type: 'message', role: 'assistant', content: [] };
  return [
    event('message_start', { message: { ...message, usage: { input_tokens: usage.input, output_tokens: 1 } } }),
    ...(said.text === undefined
      ? []
      : block(
          0,
          { type: 'text', text: '' },
          halves(said.text).map((text) => ({ type: 'text_delta', text })),
        )),
    ...(said.calls ?? []).flatMap(({ name, input }, at) =>
      block(
        at + (said.text === undefined ? 0 : 1),
        { type: 'tool_use', id: `call-${++calls}`, name, input: {} },
        halves(JSON.stringify(input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      ),
    ),
    event('message_delta', {
      delta: { stop_reason: said.calls ? 'tool_use' : 'end_turn' },
      usage: { output_tokens: usage.output },
    }),
    event('message_stop'),
  ];
}
