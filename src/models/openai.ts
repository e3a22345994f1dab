import type OpenAI from 'openai';
import type { Model } from '../ports/model.ts';
import type { Draft } from './draft.ts';
import type { Endpoint } from './endpoint.ts';
import { httpModel } from './http-model.ts';
import { chatBody } from './openai-body.ts';
import { ChatReader } from './openai-reader.ts';
import { kindOf } from './refusal.ts';
import { longestTimerMs } from './timer.ts';
import { chunkOf, isWhole } from './whole-reply.ts';
import type { Wire } from './wire.ts';

/** A model behind Chat Completions, streamed by the official client: OpenAI, and whoever speaks its protocol. */
export function openAiModel(endpoint: Endpoint): Model {
  /** Whether the server takes a request for the usage; null = not known yet. */
  let tellsUsage: boolean | null = endpoint.provider === 'openai' ? true : null;

  /** Made once: to make one takes longer than to send a request. Each call brings the wire that it goes over. */
  let client: Promise<OpenAI> | null = null;
  const made = async (key: string): Promise<OpenAI> => {
    const { default: Client } = await import('openai');
    return new Client({
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
      fetch: overItsWire,
    });
  };

  return httpModel(endpoint, async (request, key, wire, draft) => {
    client ??= made(key);
    const known = await client;
    const over: WithWire = { [itsWire]: wire };
    const send = (withUsage: boolean) =>
      known.chat.completions
        .create(chatBody(request, endpoint, withUsage), { fetchOptions: over as object })
        .asResponse();
    if (tellsUsage !== null) return consume(known, await send(tellsUsage), draft);
    try {
      const answer = await send(true);
      tellsUsage = true;
      return await consume(known, answer, draft);
    } catch (error) {
      if (!mayMindUsage(wire)) throw error;
      wire.refusal = null;
      draft.requests += 1;
      const answer = await send(false);
      tellsUsage = false;
      return consume(known, answer, draft);
    }
  });
}

/** The wire of a call stands among the options that the client hands on to `fetch`. */
const itsWire = Symbol('wire');
type WithWire = { readonly [itsWire]?: Wire };

async function overItsWire(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { [itsWire]: wire, ...options } = (init ?? {}) as RequestInit & WithWire;
  if (wire === undefined) throw new Error('a request without its wire');
  return wire.fetch(input, options);
}

/** Some servers refuse what they do not know, and each says so in its own words: it is tried once without. */
function mayMindUsage({ refusal }: Wire): boolean {
  return refusal !== null && (refusal.status === 400 || refusal.status === 422) && kindOf(refusal) === 'bad-request';
}

async function consume(client: OpenAI, answer: Response, draft: Draft): Promise<void> {
  const reader = new ChatReader(draft);
  if (isWhole(answer)) {
    const chunk = chunkOf(await answer.text());
    if (chunk !== null) reader.read(chunk);
    return;
  }
  const { Stream } = await import('openai/streaming');
  for await (const chunk of Stream.fromSSEResponse(answer, new AbortController(), client)) reader.read(chunk);
}
