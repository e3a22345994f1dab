import { apiNames, type Protocol, type Upstream, type UpstreamTrouble } from '../ports/gateway.ts';
import { errorAnswer, modelsAnswer } from './api-answers.ts';
import { type Asked, Forwarding, type Way } from './forward.ts';
import type { LeaseState } from './lease-state.ts';
import { readRequestBody } from './request-body.ts';
import { routeOf } from './routes.ts';
import { stopAnswer } from './stop-answer.ts';

/** A lease, and the requests in it that have no answer yet. */
export type OpenLease = { readonly state: LeaseState; readonly running: Set<Promise<unknown>> };

/** Cuts what is under way. Settles when the exchange file is whole. */
export async function closeLease({ state, running }: OpenLease): Promise<void> {
  state.end();
  await Promise.allSettled([...running]);
  await state.exchange.whole();
}

/** The answer to a request, whoever sent it: without a token that is known there is none. */
export async function answerTo(request: Request, way: Way, leases: ReadonlyMap<string, OpenLease>): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const [, token = '', rest = ''] = /^\/t\/([^/]+)(.*)$/.exec(pathname) ?? [];
  const lease = leases.get(token);
  if (lease === undefined) return new Response('There is no such rollout here.\n', { status: 404 });
  if (request.headers.has('upgrade')) return new Response('There are no websockets here.\n', { status: 426 });
  const { upstream } = way;
  const route = routeOf(request.method, { pathname: rest, search }, request.headers, upstream.model);
  switch (route.kind) {
    case 'models':
      return modelsAnswer(route.protocol, upstream.model, route.isList);
    case 'none':
      return errorAnswer(route.protocol, 404, `skillopt: there is no ${request.method} ${rest || '/'} here`);
    case 'ask':
    case 'count': {
      const answer = asked(request, route, way, lease.state);
      lease.running.add(answer);
      try {
        return await answer;
      } finally {
        lease.running.delete(answer);
      }
    }
    default:
      return route satisfies never;
  }
}

async function asked(request: Request, route: Asked['route'], way: Way, state: LeaseState): Promise<Response> {
  const { protocol } = route;
  if (state.stop !== null) return stopAnswer(protocol, state.stop, state.options.limits);
  if (!way.upstream.protocols.includes(protocol)) {
    const trouble = notSpoken(protocol, way.upstream);
    state.refusedWith(trouble, ++state.arrived, true);
    return errorAnswer(protocol, 404, `skillopt: ${trouble.refusal.failure.what}`);
  }
  const signal = AbortSignal.any([request.signal, state.ended]);
  try {
    const body = await readRequestBody(request);
    if (body.kind === 'refused') return errorAnswer(protocol, body.status, `skillopt: ${body.why}`);
    const { text, value } = body;
    return await new Forwarding(way, state, { route, headers: request.headers, text, value, signal }).answer();
  } catch (error) {
    // who has left reads no answer
    if (signal.aborted) return errorAnswer(protocol, 400, 'skillopt: the rollout has ended');
    const trouble = faultOf(error, way.upstream.where);
    state.refusedWith(trouble, ++state.arrived, true);
    return errorAnswer(protocol, 500, `skillopt: ${trouble.refusal.failure.what}`);
  }
}

/** A fault of this program. */
function faultOf(error: unknown, where: string): UpstreamTrouble {
  const what = `the gateway failed: ${error instanceof Error ? error.message : String(error)}`;
  const failure = { code: 'internal', what, where, fix: 'report it', retryable: false } as const;
  return { refusal: { kind: 'server', failure, retryAfterMs: null }, again: null, spent: 'unknown' };
}

/** What stands between an agent and a model that have no API in common. */
function notSpoken(protocol: Protocol, { id, where, protocols }: Upstream): UpstreamTrouble {
  const known = protocols.map((p) => apiNames[p]).join(' and ');
  return {
    refusal: {
      kind: 'bad-request',
      failure: {
        code: 'config',
        what: `the agent asks for ${apiNames[protocol]}, which ${id} does not speak: it speaks ${known}`,
        where,
        fix: 'choose an agent that speaks it, or name what the server speaks in "protocols" of the model',
        retryable: false,
      },
      retryAfterMs: null,
    },
    again: null,
    spent: 'nothing',
  };
}
