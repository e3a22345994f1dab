import type OpenAI from 'openai';
import type { Model } from '../ports/model.ts';
import type { Draft } from './draft.ts';
import type { Endpoint } from './endpoint.ts';
import { httpModel } from './http-model.ts';
import { chatBody } from './openai-body.ts';
import { ChatReader } from './openai-reader.ts';
import { kindOf } from './refusal.ts';
import { longestTimerMs } from './timer.ts';
import { asStream } from './whole-reply.ts';
import type { Wire } from './wire.ts';

/** A model behind Chat Completions, streamed by the official client: OpenAI, and whoever speaks its protocol. */
export function openAiModel(endpoint: Endpoint): Model {
  /** Whether the server takes a request for the usage; null = not known yet. */
  let tellsUsage: boolean | null = endpoint.provider === 'openai' ? true : null;

  return httpModel(endpoint, async (request, key, wire, draft) => {
    const { default: Client } = await import('openai');
    const client = new Client({
      apiKey: key,
      adminAPIKey: null,
      baseURL: endpoint.baseUrl,
      organization: endpoint.organization,
      project: endpoint.project,
      webhookSecret: null,
      defaultHeaders: Object.fromEntries(endpoint.foreignHeaders.map((name) => [name, null])),
      maxRetries: 0,
      timeout: longestTimerMs,
      logLevel: 'off',
      fetch: async (input, init) => asStream(await wire.fetch(input, init)),
    });
    const send = (withUsage: boolean) => client.chat.completions.create(chatBody(request, endpoint, withUsage));
    if (tellsUsage !== null) return consume(await send(tellsUsage), draft);
    try {
      const stream = await send(true);
      tellsUsage = true;
      return await consume(stream, draft);
    } catch (error) {
      if (!mayMindUsage(wire)) throw error;
      wire.refusal = null;
      draft.requests += 1;
      const stream = await send(false);
      tellsUsage = false;
      return consume(stream, draft);
    }
  });
}

/** Some servers refuse what they do not know, and each says so in its own words: it is tried once without. */
function mayMindUsage({ refusal }: Wire): boolean {
  return refusal !== null && (refusal.status === 400 || refusal.status === 422) && kindOf(refusal) === 'bad-request';
}

async function consume(stream: AsyncIterable<OpenAI.ChatCompletionChunk>, draft: Draft): Promise<void> {
  const reader = new ChatReader(draft);
  for await (const chunk of stream) reader.read(chunk);
}
