import { type Failure, fail } from '../../ports/failure.ts';
import type { GatewayLease, GatewayReport } from '../../ports/gateway.ts';
import type { MountedSkill } from '../../ports/rollouts.ts';
import type { TrajectoryStep } from '../../ports/trajectory.ts';
import { tryReadSkill } from '../../skill/document.ts';
import type { AgentEnd, AgentModel } from '../agents/agent.ts';
import { troubleOf } from '../model-trouble.ts';
import { exchangeFile, type Folders } from './folders.ts';
import type { LocalOptions } from './options.ts';

/** Where an agent finds its model in one rollout, and what the gateway sees of it. */
export type ModelSeat = { readonly lease: GatewayLease; readonly model: AgentModel };

/** A silence at the end of a rollout that took a quarter of its time, and not less than this, is the provider's doing. */
const leastSilenceMs = 5_000;

/** A place at the gateway for one rollout; null = this agent reaches its model without one. */
export function modelSeat(
  { gateway, agent, agentLimits, modelTokens }: Pick<LocalOptions, 'gateway' | 'agent' | 'agentLimits' | 'modelTokens'>,
  o: {
    readonly rollout: string;
    readonly skill: MountedSkill | null;
    readonly folders: Folders;
    readonly signal: AbortSignal;
    /** What the agent has in all. */
    readonly timeoutMs: number;
    /** Under which the agent's processes reach the gateway; null = as this program does. */
    readonly origin: string | null;
  },
): ModelSeat | null {
  if (gateway === null || agent.speaks === undefined) return null;
  const { upstream } = gateway;
  const lease = gateway.lease({
    rollout: o.rollout,
    limits: agentLimits,
    skill: sought(o.skill),
    exchangeFile: exchangeFile(o.folders),
    silentMs: Math.max(leastSilenceMs, o.timeoutMs / 4),
    signal: o.signal,
  });
  const model: AgentModel = {
    id: upstream.id,
    name: upstream.model,
    baseUrl: `${o.origin ?? gateway.origin}${lease.path}`,
    key: lease.key,
    protocols: upstream.protocols,
    contextTokens: modelTokens.context,
    maxOutputTokens: modelTokens.output,
  };
  return { lease, model };
}

/** The skill as the gateway looks for it; one that can't be read is not looked for. */
function sought(skill: MountedSkill | null): { readonly description: string; readonly body: string } | null {
  if (skill === null) return null;
  const read = tryReadSkill(skill.text);
  if (!read.ok) return null;
  const { text, body, description } = read.document;
  return { description, body: text.slice(body.start, body.end) };
}

/** An agent's end with what the gateway saw: first-hand counts, proof of reading, and why it got no further. */
export type Witnessed =
  | { readonly kind: 'end'; readonly end: AgentEnd }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage: GatewayReport['usage'] };

/**
 * What the gateway counted stands in place of the agent's own sums, and its proof of reading in place of the agent's
 * word, where it can tell. A provider that refused is told by its own status: agents hide it. What stopped an agent in
 * its work counts only if it did stop it: a refused side request at the end of good work is a note.
 * `offers` = the agent has to offer the skill by its description; one that is told its folder does not.
 */
export function witnessed(end: AgentEnd, seat: ModelSeat, hasSkill: boolean, offers = true): Witnessed {
  const report = seat.lease.report();
  const { usage } = report;
  const read = hasSkill ? (report.read ?? end.read) : null;
  const offered = report.visible === false && !offers ? null : report.visible;
  const visible = hasSkill ? (offered ?? end.visible ?? null) : null;
  const didWork = usage.outputTokens === null ? end.didWork : usage.outputTokens > 0;
  const seen: AgentEnd = { ...end, usage, read, visible, didWork };
  const { stop } = report;
  const isStopped = seat.lease.stopped.aborted;
  const broke = isStopped || end.trouble !== null || end.failure !== undefined || end.exit === 'crashed';
  if (stop !== null && stop.kind === 'provider') {
    const { kind, failure } = stop.refusal;
    const isAsked = kind === 'bad-request' || kind === 'context-too-long';
    const words = `${failure.what} (${failure.where})`;
    // time that ran out while the provider owed an answer says nothing of the work
    const waited = end.exit === 'timeout' && !isAsked;
    if (!broke && !waited)
      return { kind: 'end', end: noted(seen, `A request was refused and not made again: ${words}.`) };
    const trouble = troubleOf(stop.refusal);
    switch (trouble.kind) {
      case 'stop':
        // what the agent asked for may be at fault for one request; a key, a quota or a model is not
        if (kind === 'bad-request') return withTrouble(seen, 'provider-error', words);
        return { kind: 'failed', failure, usage };
      case 'unscored':
        return withTrouble(seen, trouble.reason, words);
      case 'too-long':
        return told(noted(itsOwn(seen), `The request was longer than the model takes: ${words}.`));
      default:
        return trouble satisfies never;
    }
  }
  if (stop !== null) {
    const unit = { requests: 'requests', tokens: 'tokens', usd: 'dollars' }[stop.limit];
    if (stop.of === 'session') {
      const what = `the session’s limit on ${unit} was reached while a rollout ran`;
      return { kind: 'failed', failure: overLimit(what, `limits.${stop.limit}`), usage };
    }
    return told(noted(itsOwn(seen), `The rollout’s limit on ${unit} was reached (agentLimits).`));
  }
  if (usage.requests === 0 && !broke && (end.exit === 'finished' || end.exit === 'nonzero'))
    return withTrouble(seen, 'agent-did-no-work', askedNothing);
  return told(seen);
}

const askedNothing = 'the agent came to its end without a request to its model that could be answered';

/** An agent's end by its own account alone. */
export function told(end: AgentEnd): Witnessed {
  const { failure, usage } = end;
  if (failure !== undefined) return { kind: 'failed', failure, usage };
  if (end.visible !== false || end.trouble !== null) return { kind: 'end', end };
  const detail =
    'the agent did not offer the skill to the model; `skillopt lint` says which agents read its frontmatter';
  return withTrouble(end, 'skill-not-visible', detail);
}

/** What the agent was stopped for is no failure of the machinery: the verifier looks at what it did. */
function itsOwn(end: AgentEnd): AgentEnd {
  const { failure: _, ...rest } = end;
  return { ...rest, trouble: null, exit: end.exit === 'not-started' ? end.exit : 'nonzero' };
}

function withTrouble(end: AgentEnd, reason: NonNullable<AgentEnd['trouble']>['reason'], detail: string): Witnessed {
  const { failure: _, ...rest } = end;
  return { kind: 'end', end: { ...rest, trouble: { reason, detail } } };
}

function noted(end: AgentEnd, text: string): AgentEnd {
  const step: TrajectoryStep = { kind: 'note', text };
  return { ...end, steps: [...end.steps, step] };
}

const overLimit = (what: string, where: string): Failure =>
  fail('quota', what, where, 'raise the limit, then start it again: it goes on where it stopped', { retryable: true })
    .failure;
