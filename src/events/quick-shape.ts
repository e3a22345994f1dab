import { unscoredReasons } from '../ports/outcome.ts';

/**
 * True only for what `eventShape` takes: the two events that fill most of a log, checked without building anything.
 * False says nothing: `eventShape` decides then.
 */
export function isPlainlyEvent(event: { readonly type: string }): boolean {
  switch (event.type) {
    case 'rollout.started':
      return isRolloutStarted(event);
    case 'rollout.finished':
      return isRolloutFinished(event);
    default:
      return false;
  }
}

type Fields = { readonly [field: string]: unknown };

const lines: ReadonlySet<unknown> = new Set(['loop', 'confirmation', 'finalize']);
const exits: ReadonlySet<unknown> = new Set(['finished', 'nonzero', 'timeout', 'crashed', 'not-started']);
const reasons: ReadonlySet<unknown> = new Set(unscoredReasons);

function isRolloutStarted(e: Fields): boolean {
  return typeof e.key === 'string' && typeof e.task === 'string' && lines.has(e.line) && typeof e.ahead === 'boolean';
}

function isRolloutFinished(e: Fields): boolean {
  return (
    typeof e.key === 'string' &&
    typeof e.task === 'string' &&
    isRecord(e.outcome) &&
    isOutcome(e.outcome) &&
    (e.trajectory === null || typeof e.trajectory === 'string') &&
    isRecord(e.usage) &&
    isUsage(e.usage) &&
    exits.has(e.exit) &&
    isNumber(e.durationMs) &&
    e.durationMs >= 0 &&
    isRecord(e.versions) &&
    all(e.versions, isString)
  );
}

function isOutcome(o: Fields): boolean {
  if (o.status === 'unscored') return reasons.has(o.reason) && typeof o.detail === 'string';
  return (
    o.status === 'scored' &&
    (o.hard === 0 || o.hard === 1) &&
    isNumber(o.soft) &&
    o.soft >= 0 &&
    o.soft <= 1 &&
    isRecord(o.rewards) &&
    all(o.rewards, isNumber) &&
    (o.read === null || typeof o.read === 'boolean') &&
    (o.agentTimedOut === undefined || o.agentTimedOut === true)
  );
}

function isUsage(u: Fields): boolean {
  return (
    isCount(u.inputTokens) &&
    isCount(u.outputTokens) &&
    isCount(u.requests) &&
    (u.costUsd === null || (isNumber(u.costUsd) && u.costUsd >= 0))
  );
}

const isString = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isCount = (value: unknown): boolean => value === null || (Number.isSafeInteger(value) && (value as number) >= 0);

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function all(record: Fields, holds: (value: unknown) => boolean): boolean {
  for (const name in record) if (!holds(record[name])) return false;
  return true;
}
