import type { GatewayLimits, Upstream } from '../ports/gateway.ts';
import type { Finding } from '../ports/preflight.ts';

/** What of a rollout's limits can't be held at this model. */
export function limitFindings(upstream: Pick<Upstream, 'id' | 'hasPrice'>, limits: GatewayLimits): readonly Finding[] {
  if (limits.usd === null || upstream.hasPrice) return [];
  return [
    {
      level: 'error',
      what: `agentLimits.usd can’t be held: the price of ${upstream.id} is not known`,
      where: 'agentLimits.usd',
      fix: 'give the model a "price" (US dollars for a million tokens in and out), or limit requests or tokens instead',
    },
  ];
}
