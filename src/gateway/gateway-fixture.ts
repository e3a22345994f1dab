import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelSettings } from '../config/model.ts';
import { Lane, upstreamOf } from '../models/index.ts';
import { key, type Seen, serve, type TestServer } from '../models/server-fixture.ts';
import type { Gateway, GatewayLease, GatewayLeaseOptions, Protocol } from '../ports/gateway.ts';
import { protocols } from '../ports/gateway.ts';
import type { ModelWait } from '../ports/model.ts';
import { ask, events, pathOf, whole } from './answers-fixture.ts';
import { createGateway, type GatewayOptions } from './gateway.ts';

export { key } from '../models/server-fixture.ts';

/** Which API a provider of a test was asked for. */
export function apiOf(path: string): Protocol {
  if (path.endsWith('/messages')) return 'messages';
  if (path.endsWith('/chat/completions')) return 'chat';
  return path.endsWith('/responses') ? 'responses' : 'gemini';
}

/** A provider that answers every API well, as a stream where it is asked for one. */
export function wellAnswer({ path, body }: Seen, text?: string): Response {
  const api = apiOf(path);
  const isStream = api === 'gemini' ? path.includes('stream') : body.stream === true;
  return isStream
    ? new Response(events(api, text).join(''), { headers: { 'content-type': 'text/event-stream' } })
    : Response.json(whole(api, text));
}

/** A gateway of a test before a provider, and what it left; `stop` ends all of it. */
export type Bench = {
  readonly gateway: Gateway;
  readonly provider: TestServer;
  readonly waits: ModelWait[];
  readonly folder: string;
  lease(options?: Partial<GatewayLeaseOptions>): GatewayLease;
  /** What stands in the exchange file of the leases that were given none of their own. */
  exchange(): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
};

export type BenchOptions = Partial<Omit<GatewayOptions, 'upstream' | 'folder'>> & {
  readonly settings?: Partial<ModelSettings>;
  /** In place of the provider's own URL. */
  readonly baseUrl?: string;
};

export function bench(
  answer: (seen: Seen, left: { count: number }) => Response | Promise<Response> = (seen) => wellAnswer(seen),
  { settings = {}, baseUrl, ...options }: BenchOptions = {},
): Bench {
  const provider = serve(answer);
  const folder = mkdtempSync(join(tmpdir(), 'gw-'));
  const waits: ModelWait[] = [];
  const upstream = upstreamOf(
    {
      model: 'openai-compatible/real',
      baseUrl: baseUrl ?? provider.url,
      keyEnv: 'REAL_KEY',
      protocols: [...protocols],
      price: { input: 1, output: 10 },
      ...settings,
    },
    { variables: { REAL_KEY: key }, folder: '/' },
  );
  const gateway = createGateway({
    upstream,
    folder,
    lane: new Lane(),
    room: null,
    random: () => 0,
    telling: (wait) => waits.push(wait),
    ...options,
    patience: { firstWaitMs: 1, ...options.patience },
  });
  const file = join(folder, 'exchange.jsonl');
  return {
    gateway,
    provider,
    waits,
    folder,
    lease: (more) =>
      gateway.lease({
        rollout: 'r',
        limits: { requests: null, tokens: null, usd: null },
        skill: null,
        exchangeFile: file,
        signal: new AbortController().signal,
        ...more,
      }),
    exchange: () =>
      readdirSync(folder).includes('exchange.jsonl')
        ? readFileSync(file, 'utf8')
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [],
    stop: async () => {
      await gateway.close();
      provider.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An agent's request for an answer. */
export function post(
  gateway: Gateway,
  lease: GatewayLease,
  protocol: Protocol,
  {
    stream = false,
    texts = ['do it'],
    tools = true,
    body = ask(protocol, texts, { stream, tools }),
    path = pathOf(protocol, stream),
    ...init
  }: Omit<RequestInit, 'body'> & {
    readonly stream?: boolean;
    readonly texts?: readonly string[];
    readonly tools?: boolean;
    readonly body?: object | Uint8Array;
    readonly path?: string;
  } = {},
): Promise<Response> {
  return fetch(`${gateway.origin}${lease.path}${path}`, {
    method: 'POST',
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
    ...init,
    headers: { authorization: `Bearer ${lease.key}`, 'content-type': 'application/json', ...init.headers },
  });
}

/** The message of an error in any API's shape. */
export async function messageOf(response: Response): Promise<string> {
  const body = (await response.json()) as { readonly error?: { readonly message?: unknown } };
  return String(body.error?.message);
}
