import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ROUND_TRIP_SYSTEM } from '../../models/round-trip.ts';
import type { Protocol } from '../../ports/gateway.ts';
import { type ScriptedAnswer, type ScriptedPlay, scriptedAnswer } from './scripted-script-fixture.ts';
import { type Fields, fields, type ScriptedTurn, scriptedTurn } from './scripted-turn-fixture.ts';
import { wireOf } from './scripted-wire-fixture.ts';

/**
 * What is wrong with the server: a status that it always answers, or a connection that ends or says nothing. `gone`: it
 * listens no more from the first such request on.
 */
export type ScriptedFault = 400 | 401 | 404 | 429 | 500 | 'cut' | 'malformed' | 'hang' | 'gone';

/** A request for an answer, and what came of it. */
export type ScriptedRequest = {
  readonly protocol: Protocol;
  readonly path: string;
  /** The key that it was asked with. */
  readonly key: string;
  readonly body: string;
  readonly turn: ScriptedTurn;
  /** Null = none was given. */
  readonly answer: ScriptedAnswer | null;
  readonly usage: { readonly input: number; readonly output: number };
};

/**
 * A model without a model, behind a local endpoint that speaks all four APIs: real agents run against it with no key and
 * no cost. Requests with tools are the agents' own; faults stand in the way of these alone.
 */
export class ScriptedModel {
  play: ScriptedPlay | ((turn: ScriptedTurn) => ScriptedAnswer) = 'obey';
  fault: ScriptedFault | null | ((turn: ScriptedTurn) => ScriptedFault | null) = null;
  /** So long it thinks before each answer to an agent, in milliseconds. */
  thinkingMs = 0;
  /** Requests of agents, in the order of their arrival: all but the short call before a session. */
  readonly asked: ScriptedRequest[] = [];
  #server: Server | null = null;
  #port = 0;

  /** `host`: an address of this machine, where it listens. */
  constructor(private readonly host = '127.0.0.1') {}

  /** Starts to listen, on the same port as before. */
  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.host, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Listens no more: connections are refused. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://${this.host}:${this.#port}`;
  }

  /** Tokens of all that agents asked and were answered, as the server counts them. */
  get tokens(): number {
    return this.asked.reduce((sum, { answer, usage }) => sum + (answer === null ? 0 : usage.input + usage.output), 0);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const body = await bodyOf(request);
    const protocol = protocolOf(path.split('?')[0] ?? '');
    if (protocol === null) {
      const known = request.method === 'GET' && /\/models$/.test(path);
      send(response, known ? 200 : 404, known ? { object: 'list', data: [] } : { error: { message: 'no such path' } });
      return;
    }
    const turn = scriptedTurn(protocol, fields(JSON.parse(body || '{}')), path);
    const fault = turn.tools.length === 0 ? null : typeof this.fault === 'function' ? this.fault(turn) : this.fault;
    const isCheck = turn.system.includes(ROUND_TRIP_SYSTEM);
    const answer = scriptedAnswer(this.play, turn);
    const usage = { input: tokensOf(body), output: tokensOf(`${answer.text}${JSON.stringify(answer.call?.input)}`) };
    const answered = fault === null ? answer : null;
    const key = keyOf(request);
    if (!isCheck) this.asked.push({ protocol, path, key, body, turn, answer: answered, usage });
    if (typeof fault === 'number') {
      send(response, fault, refusal(protocol, fault), fault === 429 ? { 'retry-after': '1' } : {});
      return;
    }
    if (fault === 'gone') return this.stop();
    if (fault === 'hang') return;
    if (!isCheck && this.thinkingMs > 0) await new Promise((done) => setTimeout(done, this.thinkingMs));
    const { whole, events } = wireOf(protocol, turn, answer, usage);
    if (!turn.stream && fault === null) {
      send(response, 200, whole);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    const sent = fault === 'cut' ? events.slice(0, Math.max(1, Math.floor(events.length / 2))) : events;
    for (const event of sent) response.write(fault === 'malformed' ? 'data: {"type":"oops", not json\n\n' : event);
    if (fault === 'cut') await new Promise((flushed) => response.write('', flushed));
    if (fault === 'cut') response.destroy();
    else response.end();
  }
}

const tokensOf = (text: string): number => Math.ceil(text.length / 4);

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

function keyOf({ headers }: IncomingMessage): string {
  const given = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? '';
  return String(given).replace(/^Bearer /, '');
}

function protocolOf(path: string): Protocol | null {
  if (path.endsWith('/messages')) return 'messages';
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  return /:(streamG|g)enerateContent$/.test(path) ? 'gemini' : null;
}

function send(response: ServerResponse, status: number, value: Fields, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function refusal(protocol: Protocol, status: number): Fields {
  const type = types[status] ?? 'api_error';
  const message = `scripted ${status} error`;
  if (protocol === 'messages') return { type: 'error', error: { type, message } };
  if (protocol === 'gemini') return { error: { code: status, message, status: type.toUpperCase() } };
  return { error: { message, type, code: null, param: null } };
}
