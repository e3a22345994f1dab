import { allOps } from '../ports/edit.ts';
import { unscoredReasons } from '../ports/outcome.ts';
import { metricName, rejectionReason } from './shapes.ts';

/**
 * True only for what `eventShape` takes: the events of which a log has many, checked without building anything. False
 * says nothing: `eventShape` decides then.
 */
export function isPlainlyEvent(event: { readonly type: string }): boolean {
  return checks.get(event.type)?.(event) ?? false;
}

type Fields = { readonly [field: string]: unknown };
type Check = (value: unknown) => boolean;

const checks: ReadonlyMap<unknown, (event: Fields) => boolean> = new Map([
  ['rollout.started', isRolloutStarted],
  ['rollout.finished', isRolloutFinished],
  ['evaluation.started', (e) => isString(e.what) && isString(e.skill) && isInteger(e.rollouts)],
  ['reflection.started', (e) => isString(e.key) && isKind(e.kind) && isPositive(e.round) && isInteger(e.failing)],
  ['reflection.finished', isReflectionFinished],
  ['evaluation.finished', isEvaluationFinished],
  ['edit.rejected', isEditRejected],
  ['screening.decided', isScreeningDecided],
  ['gate.decided', isGateDecided],
]);

const lines: ReadonlySet<unknown> = new Set(['loop', 'confirmation', 'finalize', 'eval']);
const exits: ReadonlySet<unknown> = new Set(['finished', 'nonzero', 'timeout', 'crashed', 'not-started']);
const reasons: ReadonlySet<unknown> = new Set(unscoredReasons);
const rejections: ReadonlySet<unknown> = new Set(rejectionReason.options);
const ops: ReadonlySet<unknown> = new Set(allOps);
const splits: ReadonlySet<unknown> = new Set(['train', 'selection', 'open']);
const metrics: ReadonlySet<unknown> = new Set(metricName.options);
const actions: ReadonlySet<unknown> = new Set(['accept', 'reject', 'indecisive']);

function isRolloutStarted(e: Fields): boolean {
  return isString(e.key) && isString(e.task) && lines.has(e.line) && typeof e.ahead === 'boolean';
}

function isRolloutFinished(e: Fields): boolean {
  return (
    isString(e.key) &&
    isString(e.task) &&
    isRecord(e.outcome) &&
    isOutcome(e.outcome) &&
    isStringOrNull(e.trajectory) &&
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

function isReflectionFinished(e: Fields): boolean {
  return (
    isString(e.key) &&
    isKind(e.kind) &&
    isPositive(e.round) &&
    isPositive(e.atMost) &&
    isListOf(e.shown, isString) &&
    isRecord(e.answer) &&
    isAnswer(e.answer) &&
    isRecord(e.usage) &&
    isUsage(e.usage) &&
    isNumber(e.durationMs) &&
    e.durationMs >= 0
  );
}

function isAnswer({ kind, detail, proposal }: Fields): boolean {
  if (kind === 'unusable') return isString(detail);
  return kind === 'proposal' && isRecord(proposal) && isListOf(proposal.edits, isEdit) && isString(proposal.summary);
}

const isKind: Check = (kind) => kind === undefined || kind === 'slow-update';

const isEdit: Check = (e) =>
  isRecord(e) &&
  ops.has(e.op) &&
  isString(e.target) &&
  isString(e.content) &&
  isListOf(e.cites, isString) &&
  isString(e.reason) &&
  (e.leak === undefined || isString(e.leak));

function isDrawn(e: Fields): boolean {
  return isListOf(e.consumed, isString) && isString(e.seen) && isString(e.digest);
}

function isEvaluationFinished(e: Fields): boolean {
  return (
    splits.has(e.split) &&
    isString(e.why) &&
    isString(e.skill) &&
    isScore(e.score) &&
    isListOf(e.tasks, isTaskScore) &&
    isDrawn(e)
  );
}

const isTaskScore: Check = (t) => Array.isArray(t) && t.length === 2 && isString(t[0]) && isNumberOrNull(t[1]);

function isEditRejected(e: Fields): boolean {
  return (
    isPositive(e.round) &&
    (e.index === null || isInteger(e.index)) &&
    isStringOrNull(e.edit) &&
    rejections.has(e.reason) &&
    isString(e.detail) &&
    isDrawn(e)
  );
}

function isScreeningDecided(e: Fields): boolean {
  return (
    isPositive(e.round) &&
    isInteger(e.index) &&
    isString(e.edit) &&
    isStringOrNull(e.task) &&
    (e.passed === null || typeof e.passed === 'boolean') &&
    typeof e.kept === 'boolean' &&
    isInteger(e.points) &&
    isString(e.draft) &&
    isInteger(e.draftSize) &&
    isDrawn(e)
  );
}

function isGateDecided(e: Fields): boolean {
  return (
    isPositive(e.step) &&
    isKind(e.kind) &&
    isInteger(e.rounds) &&
    isString(e.rule) &&
    metrics.has(e.metric) &&
    isListOf(e.edits, isString) &&
    isInteger(e.tried) &&
    isString(e.incumbent) &&
    isString(e.candidate) &&
    actions.has(e.gateAction) &&
    isString(e.why) &&
    isInteger(e.wins) &&
    isInteger(e.losses) &&
    isInteger(e.pairs) &&
    isInteger(e.of) &&
    isNumber(e.confidence) &&
    isRecord(e.selection) &&
    isScore(e.selection.incumbent) &&
    isScore(e.selection.candidate) &&
    isListOf(e.tasks, isPair) &&
    typeof e.draftDropped === 'boolean' &&
    isDrawn(e)
  );
}

const isScore: Check = (s) =>
  isRecord(s) && isInteger(s.passed) && isInteger(s.scored) && isInteger(s.of) && isNumberOrNull(s.mean);

const isPair: Check = (p) =>
  isRecord(p) && isString(p.task) && isInteger(p.block) && isNumberOrNull(p.before) && isNumberOrNull(p.after);

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

function isStringOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function isNumberOrNull(value: unknown): boolean {
  return value === null || isNumber(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isPositive(value: unknown): boolean {
  return isInteger(value) && value > 0;
}

function isCount(value: unknown): boolean {
  return value === null || (isInteger(value) && value >= 0);
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, holds: Check): boolean {
  if (!Array.isArray(value)) return false;
  for (const held of value) if (!holds(held)) return false;
  return true;
}

function all(record: Fields, holds: Check): boolean {
  for (const name in record) if (!holds(record[name])) return false;
  return true;
}
