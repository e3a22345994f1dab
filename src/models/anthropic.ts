import type Anthropic from '@anthropic-ai/sdk';
import type { Model, ModelMessage, ModelPart, ModelReply, ModelRequest } from '../ports/model.ts';
import type { Draft } from './draft.ts';
import type { Endpoint } from './endpoint.ts';
import { httpModel } from './http-model.ts';
import { longestTimerMs } from './timer.ts';
import { messagesCounts } from './told-counts.ts';

type Body = Anthropic.MessageCreateParamsStreaming;
type Block = Anthropic.ContentBlockParam;
type Event = Anthropic.RawMessageStreamEvent;

/** The protocol demands a bound. Models of today give more; a longer answer to us is a mistake. */
const defaultMaxTokens = 16_000;

/** A model behind Anthropic's Messages, streamed by the official client. */
export function anthropicModel(endpoint: Endpoint): Model {
  return httpModel(endpoint, async (request, key, wire, draft) => {
    const { streamMessage } = await import('./anthropic-client.ts');
    const options = {
      apiKey: key,
      baseURL: endpoint.baseUrl,
      maxRetries: 0,
      timeout: longestTimerMs,
      logLevel: 'off',
      fetch: wire.fetch,
    } as const;
    const blocks = new Map<number, OpenCall>();
    for await (const event of await streamMessage(options, body(request, endpoint))) read(event, draft, blocks);
  });
}

type OpenCall = { readonly id: string; readonly name: string; json: string };

function body(request: ModelRequest, { model, settings }: Endpoint): Body {
  const messages = request.messages
    .map((m) => ({ role: m.role, content: content(m) }))
    .filter((m) => m.content.length > 0);
  // a conversation with tools goes on: its next turn reads what this one has sent from the cache
  if (request.tools.length > 0) cacheUpToHere(messages.at(-1)?.content);
  return {
    model,
    stream: true,
    max_tokens: request.maxOutputTokens ?? settings.maxOutputTokens ?? defaultMaxTokens,
    messages,
    ...(request.system === '' ? {} : { system: request.system }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((t) => ({
            name: t.name,
            description: t.description,
            input_schema: t.schema as Anthropic.Tool.InputSchema,
          })),
        }),
    ...(request.mustCall === null ? {} : { tool_choice: { type: 'tool', name: request.mustCall } }),
  };
}

function cacheUpToHere(blocks: Block[] | undefined): void {
  const last = blocks?.at(-1);
  if (blocks === undefined || last === undefined) return;
  blocks[blocks.length - 1] = { ...last, cache_control: { type: 'ephemeral' } } as Block;
}

/** Results stand before texts, and no text is empty: the API refuses else. */
function content(message: ModelMessage): Block[] {
  const results = message.parts.filter((p) => p.kind === 'tool-result');
  const others = message.parts.filter((p) => p.kind !== 'tool-result' && !(p.kind === 'text' && p.text === ''));
  return [...results, ...others].map(block);
}

function block(part: ModelPart): Block {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'tool-call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input };
    case 'tool-result':
      return { type: 'tool_result', tool_use_id: part.id, content: part.output, is_error: part.isError };
    default: {
      const never: never = part;
      return never;
    }
  }
}

/** Takes one event in. Thinking and what this program does not know are no part of the text. */
function read(event: Event, draft: Draft, calls: Map<number, OpenCall>): void {
  switch (event.type) {
    case 'message_start':
      // its count of output tokens is a placeholder
      draft.counts = messagesCounts(event.message.usage, null);
      return;
    case 'content_block_start':
      if (event.content_block.type === 'tool_use')
        calls.set(event.index, { id: event.content_block.id, name: event.content_block.name, json: '' });
      if (event.content_block.type === 'text') draft.addText(event.content_block.text);
      return;
    case 'content_block_delta': {
      if (event.delta.type === 'text_delta') draft.addText(event.delta.text);
      const call = calls.get(event.index);
      if (event.delta.type === 'input_json_delta' && call !== undefined) call.json += event.delta.partial_json;
      return;
    }
    case 'content_block_stop': {
      const call = calls.get(event.index);
      if (call !== undefined) draft.addCall(call.id, call.name, call.json);
      calls.delete(event.index);
      return;
    }
    case 'message_delta':
      if (event.usage !== undefined) draft.counts = messagesCounts(event.usage, draft.counts);
      if (event.delta.stop_reason) draft.end(stops[event.delta.stop_reason] ?? 'end');
      return;
    default:
      return;
  }
}

const stops: Readonly<Record<string, ModelReply['stop']>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_use: 'tool',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refused',
};
