import { z } from 'zod';
import { evalCreated, evalFinished } from './eval-shapes.ts';
import { markers } from './markers.ts';
import {
  armShape,
  boundsShape,
  causes,
  editShape,
  environmentShape,
  forkShape,
  inputShape,
  metricName,
  outcomeShape,
  packTaskShape,
  pairShape,
  planShape,
  rejectionReason,
  results,
  scoreShape,
  standingKey,
  taskRefShape,
  turnPoint,
  usageShape,
} from './shapes.ts';

/**
 * Every event of a session's log and of an eval's, each of one kind:
 * an *effect* is the answer of a port with the request it answers; a *decision* is a conclusion of the engine with the
 * keys of what it consumed; an *input* changes the plan from outside; a *marker* is for people and never read by the engine.
 */
export type EventKind = 'input' | 'effect' | 'decision' | 'marker';

// -- inputs --------------------------------------------------------------------------------------------------------

export type PlanFixed = z.infer<typeof planShape>;

const sessionCreated = z.object({
  type: z.literal('session.created'),
  session: z.string(),
  /** Number of the engine that draws the decisions, and the versions of its rules. */
  engine: z.number().int(),
  rules: z.array(z.string()),
  program: z.string(),
  /** As it was typed. */
  command: z.string().optional(),
  /** Seed of all randomness. */
  seed: z.string(),
  rehearsal: z.boolean(),
  skill: z.object({
    name: z.string(),
    hash: z.string(),
    text: z.string(),
    bundle: z.string(),
    files: z.array(z.string()),
    from: z.string(),
  }),
  pack: z.object({ name: z.string(), hash: z.string(), from: z.string(), tasks: z.array(packTaskShape) }),
  environment: environmentShape,
  config: z.record(z.string(), z.unknown()),
  /** Budget and limits as the config file had them, before flags; and as they are wanted, flags and all. */
  file: boundsShape,
  wanted: boundsShape,
  /** What else flags have set; absent: nothing. */
  set: z.array(standingKey).optional(),
  /** Where a fork comes from; absent in a session that began by itself. */
  fork: forkShape.optional(),
});

const splitsFixed = z.object({
  type: z.literal('splits.fixed'),
  train: z.array(taskRefShape),
  selection: z.array(taskRefShape),
  test: z.array(taskRefShape),
});

const planFixed = planShape.extend({ type: z.literal('plan.fixed') });

const engineChanged = z.object({ type: z.literal('engine.changed'), engine: z.number().int(), program: z.string() });

const inputReceived = z.object({
  type: z.literal('input.received'),
  turn: z.number().int().positive(),
  point: turnPoint,
  input: inputShape,
});

// -- effects -------------------------------------------------------------------------------------------------------

const rolloutFinished = z.object({
  type: z.literal('rollout.finished'),
  key: z.string(),
  task: z.string(),
  outcome: outcomeShape,
  /** Hash of the trajectory beside the log; null when nothing ran. */
  trajectory: z.string().nullable(),
  usage: usageShape,
  exit: z.enum(['finished', 'nonzero', 'timeout', 'crashed', 'not-started']),
  durationMs: z.number().nonnegative(),
  versions: z.record(z.string(), z.string()),
});

const reflectionFinished = z.object({
  type: z.literal('reflection.finished'),
  key: z.string(),
  /** Absent = edits to the draft were asked for. */
  kind: z.literal('slow-update').optional(),
  round: z.number().int().positive(),
  atMost: z.number().int().positive(),
  shown: z.array(z.string()),
  answer: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('proposal'),
      proposal: z.object({ edits: z.array(editShape).readonly(), summary: z.string() }),
    }),
    z.object({ kind: z.literal('unusable'), detail: z.string() }),
  ]),
  usage: usageShape,
  durationMs: z.number().nonnegative(),
});

// -- decisions -----------------------------------------------------------------------------------------------------

/** What every decision carries: the keys it consumed in order, a letter for each, and a digest of all it saw. */
const drawn = {
  consumed: z.array(z.string()),
  seen: z.string(),
  digest: z.string(),
};

const skillAdded = z.object({
  type: z.literal('skill.added'),
  version: z.number().int().positive(),
  step: z.number().int().positive(),
  skill: z.string(),
  parent: z.string(),
  edits: z.array(z.string()),
  text: z.string(),
  ...drawn,
});

const evaluationFinished = z.object({
  type: z.literal('evaluation.finished'),
  split: z.enum(['train', 'selection', 'open']),
  why: z.string(),
  skill: z.string(),
  score: scoreShape,
  /** Score of each task, 0…1; null = unscored. */
  tasks: z.array(z.tuple([z.string(), z.number().nullable()])),
  ...drawn,
});

const editRejected = z.object({
  type: z.literal('edit.rejected'),
  round: z.number().int().positive(),
  /** Place in the proposal; null when there is no edit to speak of. */
  index: z.number().int().nullable(),
  edit: z.string().nullable(),
  reason: rejectionReason,
  detail: z.string(),
  ...drawn,
});

const screeningDecided = z.object({
  type: z.literal('screening.decided'),
  round: z.number().int().positive(),
  index: z.number().int(),
  edit: z.string(),
  /** Train task it was tried on; null when it was kept without a try. */
  task: z.string().nullable(),
  passed: z.boolean().nullable(),
  kept: z.boolean(),
  points: z.number().int(),
  draft: z.string(),
  draftSize: z.number().int(),
  ...drawn,
});

const gateDecided = z.object({
  type: z.literal('gate.decided'),
  step: z.number().int().positive(),
  /** Absent = the draft met the incumbent; else the incumbent with new guidance did. */
  kind: z.literal('slow-update').optional(),
  rounds: z.number().int(),
  rule: z.string(),
  metric: metricName,
  edits: z.array(z.string()),
  /** Edits handed in since the gate before. */
  tried: z.number().int(),
  incumbent: z.string(),
  candidate: z.string(),
  gateAction: z.enum(['accept', 'reject', 'indecisive']),
  why: z.string(),
  wins: z.number().int(),
  losses: z.number().int(),
  pairs: z.number().int(),
  of: z.number().int(),
  /** 1 − p, rounded to four places; shown as "evidence". */
  confidence: z.number(),
  selection: z.object({ incumbent: scoreShape, candidate: scoreShape }),
  tasks: z.array(pairShape),
  draftDropped: z.boolean(),
  ...drawn,
});

const incumbentChanged = z.object({
  type: z.literal('incumbent.changed'),
  from: z.string(),
  to: z.string(),
  why: z.enum(['accepted', 'not-confirmed']),
  /** The draft on top of new guidance; absent where there is none. */
  draft: z.string().optional(),
  ...drawn,
});

const confirmationFinished = z.object({
  type: z.literal('confirmation.finished'),
  wins: z.number().int(),
  losses: z.number().int(),
  pairs: z.number().int(),
  of: z.number().int(),
  confidence: z.number(),
  result: z.enum(results),
  shipped: z.string(),
  seed: scoreShape,
  final: scoreShape,
  tasks: z.array(pairShape),
  ...drawn,
});

const sessionEnded = z.object({
  type: z.literal('session.ended'),
  cause: z.enum(causes),
  result: z.enum(results),
  shipped: z.string(),
  planned: z.number().int(),
  calls: z.number().int(),
  steps: z.number().int(),
  accepted: z.number().int(),
  ...drawn,
});

const finalizeStarted = z.object({
  type: z.literal('finalize.started'),
  look: z.number().int().positive(),
  attempts: z.number().int().positive(),
  arms: z.array(z.object({ arm: z.enum(['seed', 'result', 'no-skill']), skill: z.string() })),
  ...drawn,
});

const finalizeFinished = z.object({
  type: z.literal('finalize.finished'),
  look: z.number().int().positive(),
  complete: z.boolean(),
  /** The environment moved on the way: what moved. */
  environmentChanged: z.string().nullable(),
  arms: z.array(armShape),
  /** Result against seed, task by task (first attempt each), in the order of the split. */
  wins: z.number().int(),
  losses: z.number().int(),
  pairs: z.number().int(),
  tasks: z.array(
    z.object({
      task: z.string(),
      arms: z.array(z.tuple([z.enum(['seed', 'result', 'no-skill']), z.number().nullable()])),
    }),
  ),
  ...drawn,
});

const inputs = [sessionCreated, splitsFixed, planFixed, engineChanged, inputReceived, evalCreated] as const;
const effects = [rolloutFinished, reflectionFinished] as const;
const decisions = [
  skillAdded,
  evaluationFinished,
  editRejected,
  screeningDecided,
  gateDecided,
  incumbentChanged,
  confirmationFinished,
  sessionEnded,
  finalizeStarted,
  finalizeFinished,
  evalFinished,
] as const;

/** The body of a log line: an event without `v`, `seq`, `at`, `prev`. */
export const eventShape = z.discriminatedUnion('type', [...inputs, ...effects, ...decisions, ...markers]);
const decisionShape = z.discriminatedUnion('type', [...decisions]);

export type Event = z.infer<typeof eventShape>;
export type Decision = z.infer<typeof decisionShape>;
export type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

/** What the engine says; the conversation adds `consumed`, `seen` and `digest`. */
export type DecisionBody = {
  [T in Decision['type']]: Omit<EventOf<T>, 'consumed' | 'seen' | 'digest'>;
}[Decision['type']];

/** The envelope of every line. `at` is ISO 8601 in UTC; `prev` is the hash of the line before. */
export type Envelope = { readonly v: 1; readonly seq: number; readonly at: string; readonly prev: string };
export type LoggedEvent = Envelope & Event;

const kinds = new Map<string, EventKind>([
  ...inputs.map((s) => [s.shape.type.value, 'input'] as const),
  ...effects.map((s) => [s.shape.type.value, 'effect'] as const),
  ...decisions.map((s) => [s.shape.type.value, 'decision'] as const),
  ...markers.map((s) => [s.shape.type.value, 'marker'] as const),
]);

/** The kind of an event type; undefined for a type that this program does not know. */
export function kindOf(type: string): EventKind | undefined {
  return kinds.get(type);
}

/**
 * When an event has to be on the disk. `now`: before its append is over, with all that stands above it. `soon`: within
 * some milliseconds, together with others. `any`: it may wait.
 */
export type SyncBy = 'now' | 'soon' | 'any';

/**
 * What is paid, and what is concluded from it alone. A power cut within these milliseconds loses it, as it loses what
 * runs; drawn again it is the same. Files are written after all other decisions, and name their line.
 */
const inBulk: ReadonlySet<Event['type']> = new Set([
  'rollout.finished',
  'reflection.finished',
  'model.called',
  'screening.decided',
  'edit.rejected',
]);

export function syncBy(type: Event['type']): SyncBy {
  if (inBulk.has(type)) return 'soon';
  return kindOf(type) !== 'marker' || type === 'session.paused' || type === 'test.looked' ? 'now' : 'any';
}
