import { createServer, type Server, type Socket } from 'node:net';
import type { ModelSettings } from '../config/model.ts';
import { ModelError, type ModelRequest } from '../ports/model.ts';
import { createModel } from './index.ts';

/** A request as a server saw it. */
export type Seen = {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
};

/** A server of a test; `requests` grows with each request, `closed` with each answer that the client left early. */
export type TestServer = {
  readonly url: string;
  readonly requests: Seen[];
  readonly left: { count: number };
  readonly stop: () => void;
};

type Answer = (seen: Seen, left: { count: number }) => Response | Promise<Response>;

export function serve(answer: Answer): TestServer {
  const requests: Seen[] = [];
  const left = { count: 0 };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const text = await request.text();
      const seen = {
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: text ? JSON.parse(text) : {},
      };
      requests.push(seen);
      return answer(seen, left);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, requests, left, stop: () => void server.stop(true) };
}

/** A server of bare sockets: what it writes is what the client gets. */
export async function serveRaw(answer: (socket: Socket) => void): Promise<{ readonly url: string; stop(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

export const rawHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
export const rawChunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** A port on which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await serveRaw(() => undefined);
  server.stop();
  return server.url;
}

const eventStream = { 'content-type': 'text/event-stream' };

/** Pieces as they are, then the end. */
export function stream(pieces: readonly string[]): Response {
  return new Response(pieces.join(''), { headers: eventStream });
}

/** Pieces, and then nothing more until the client leaves. */
export function openStream(pieces: readonly string[], left: { count: number }): Response {
  const body = new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
    },
    cancel: () => {
      left.count += 1;
    },
  });
  return new Response(body, { headers: eventStream });
}

export const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
export const done = 'data: [DONE]\n\n';

/** One chunk of Chat Completions. */
export const chunk = (delta: object, finish: string | null = null) =>
  data({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
export const chatUsage = (usage: object) => data({ id: 'c', object: 'chat.completion.chunk', choices: [], usage });

/** A whole short answer of Chat Completions. */
export const chatAnswer = (text = 'hello', usage: object | null = { prompt_tokens: 10, completion_tokens: 2 }) =>
  stream([chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), ...(usage ? [chatUsage(usage)] : []), done]);

/** One event of Messages. */
export const event = (type: string, rest: object = {}) => `event: ${type}\n${data({ type, ...rest })}`;
export const messageStart = (usage: object = { input_tokens: 10, output_tokens: 1 }) =>
  event('message_start', { message: { id: 'm', type: 'message', role: 'assistant', content: [], usage } });
export const textBlock = (text: string, index = 0) =>
  event('content_block_start', { index, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index, delta: { type: 'text_delta', text } }) +
  event('content_block_stop', { index });
export const messageEnd = (reason = 'end_turn', usage: object = { output_tokens: 2 }) =>
  event('message_delta', { delta: { stop_reason: reason }, usage }) + event('message_stop');

/** A whole short answer of Messages. */
export const messagesAnswer = (text = 'hello') => stream([messageStart(), textBlock(text), messageEnd()]);

export const key = 'sk-test-0123456789abcdef';
export const variables = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  ANTHROPIC_API_KEY: key,
  OPENAI_API_KEY: key,
  OPENROUTER_API_KEY: key,
};

/** A model with the variables above. */
export function modelOf(settings: ModelSettings, more: Readonly<Record<string, string>> = {}) {
  return createModel(settings, { variables: { ...variables, ...more }, folder: '/' });
}

export const ask: ModelRequest = {
  system: 'Be short.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello?' }] }],
  tools: [],
  mustCall: null,
  maxOutputTokens: null,
  draw: null,
};

export const never = new AbortController().signal;

/** The error that a call ends with. Throws when it ends well or with another. */
export async function errorOf(call: Promise<unknown>): Promise<ModelError> {
  const error = await call.then(
    () => null,
    (e: unknown) => e,
  );
  if (error instanceof ModelError) return error;
  throw new Error('the call ended with no ModelError', { cause: error });
}
