import type { GatewayLimits, GatewayStop, Protocol } from '../ports/gateway.ts';
import { errorAnswer } from './api-answers.ts';

/** What an agent is answered whose rollout gets no further: an error that no client asks again after. */
export function stopAnswer(protocol: Protocol, stop: GatewayStop, limits: GatewayLimits): Response {
  return errorAnswer(protocol, 400, `skillopt: ${wordsOf(stop, limits)}`);
}

function wordsOf(stop: GatewayStop, limits: GatewayLimits): string {
  if (stop.kind === 'provider') return `the provider refused before: ${stop.refusal.failure.what}`;
  const unit = { requests: 'requests', tokens: 'tokens', usd: 'US dollars' }[stop.limit];
  if (stop.of === 'session') return `the session has spent the ${unit} that "limits.${stop.limit}" allows`;
  const most = limits[stop.limit];
  return `this rollout has spent the ${most === null ? '' : `${most} `}${unit} that "agentLimits.${stop.limit}" allows`;
}
