import { type Protocol, type TokenCounts, unknownCounts } from '../ports/gateway.ts';

// Answers of a model as the four APIs send them, for tests.

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { readonly type: string }) => `event: ${value.type}\n${data(value)}`;

/** What an answer of a test costs, whatever the API. */
export const usage = { input: 100, output: 20, cached: 40 } as const;
export const counts: Readonly<Record<Protocol, TokenCounts>> = {
  messages: { ...unknownCounts, inputTokens: 140, outputTokens: 20, cacheReadTokens: 40 },
  chat: { ...unknownCounts, inputTokens: 100, outputTokens: 20, cacheReadTokens: 40 },
  responses: { ...unknownCounts, inputTokens: 100, outputTokens: 20, cacheReadTokens: 40 },
  gemini: { ...unknownCounts, inputTokens: 100, outputTokens: 20, cacheReadTokens: 40 },
};

const messagesUsage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 40 };
const chatUsage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };
const responsesUsage = {
  input_tokens: 100,
  output_tokens: 20,
  total_tokens: 120,
  input_tokens_details: { cached_tokens: 40 },
};
const geminiUsage = {
  promptTokenCount: 100,
  candidatesTokenCount: 15,
  thoughtsTokenCount: 5,
  cachedContentTokenCount: 40,
};

/** The events of a streamed answer, in two pieces of text. */
export function events(protocol: Protocol, text = 'hello, wörld ✓'): readonly string[] {
  const half = Math.ceil(text.length / 2);
  const halves = [text.slice(0, half), text.slice(half)];
  switch (protocol) {
    case 'messages':
      return [
        event({ type: 'message_start', message: { id: 'm', usage: { ...messagesUsage, output_tokens: 1 } } } as never),
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
        ...halves.map((t) =>
          event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: t } } as never),
        ),
        event({ type: 'content_block_stop', index: 0 } as never),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } } as never),
        event({ type: 'message_stop' }),
      ];
    case 'chat': {
      const chunk = (rest: object) => data({ id: 'c', object: 'chat.completion.chunk', ...rest });
      return [
        ...halves.map((content) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
        chunk({ choices: [], usage: chatUsage }),
        'data: [DONE]\n\n',
      ];
    }
    case 'responses':
      return [
        event({
          type: 'response.created',
          response: { id: 'r', status: 'in_progress', output: [], usage: null },
        } as never),
        ...halves.map((delta) => event({ type: 'response.output_text.delta', delta } as never)),
        event({
          type: 'response.completed',
          response: {
            id: 'r',
            status: 'completed',
            output: [{ type: 'message', content: [{ text }] }],
            usage: responsesUsage,
          },
        } as never),
      ];
    case 'gemini':
      return halves.map((t, i) =>
        data({
          candidates: [
            { content: { parts: [{ text: t }], role: 'model' }, ...(i === 1 ? { finishReason: 'STOP' } : {}) },
          ],
          usageMetadata: i === 1 ? geminiUsage : { promptTokenCount: 100, totalTokenCount: 100 },
        }),
      );
    default:
      return protocol satisfies never;
  }
}

/** The same answer in one piece. */
export function whole(protocol: Protocol, text = 'hello, wörld ✓'): object {
  switch (protocol) {
    case 'messages':
      return {
        id: 'm',
        type: 'message',
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        usage: messagesUsage,
      };
    case 'chat':
      return {
        id: 'c',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage: chatUsage,
      };
    case 'responses':
      return {
        id: 'r',
        object: 'response',
        status: 'completed',
        output: [{ type: 'message', content: [{ text }] }],
        usage: responsesUsage,
      };
    case 'gemini':
      return {
        candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP' }],
        usageMetadata: geminiUsage,
      };
    default:
      return protocol satisfies never;
  }
}

/** A request of the API, as an agent sends it, with tools unless told otherwise. */
export function ask(
  protocol: Protocol,
  texts: readonly string[],
  { stream = false, tools = true }: { readonly stream?: boolean; readonly tools?: boolean } = {},
): object {
  const tool = { name: 'bash', description: 'runs a command' };
  switch (protocol) {
    case 'messages':
      return {
        model: 'own',
        max_tokens: 1000,
        ...(stream ? { stream } : {}),
        messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
        ...(tools ? { tools: [{ ...tool, input_schema: { type: 'object' } }] } : {}),
      };
    case 'chat':
      return {
        model: 'own',
        ...(stream ? { stream } : {}),
        messages: texts.map((content) => ({ role: 'user', content })),
        ...(tools ? { tools: [{ type: 'function', function: tool }] } : {}),
      };
    case 'responses':
      return {
        model: 'own',
        ...(stream ? { stream } : {}),
        input: texts.map((text) => ({ role: 'user', content: [{ type: 'input_text', text }] })),
        ...(tools ? { tools: [{ type: 'function', ...tool }] } : {}),
      };
    case 'gemini':
      return {
        contents: [{ role: 'user', parts: texts.map((text) => ({ text })) }],
        ...(tools ? { tools: [{ functionDeclarations: [tool] }] } : {}),
      };
    default:
      return protocol satisfies never;
  }
}

/** Where an agent posts a request. */
export function pathOf(protocol: Protocol, stream = false): string {
  switch (protocol) {
    case 'messages':
      return '/v1/messages';
    case 'chat':
      return '/v1/chat/completions';
    case 'responses':
      return '/v1/responses';
    case 'gemini':
      return `/v1beta/models/own:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
    default:
      return protocol satisfies never;
  }
}
