import { z } from 'zod';
import { boundsShape, standingKey, usageShape } from './shapes.ts';

const evaluationStarted = z.object({
  type: z.literal('evaluation.started'),
  what: z.string(),
  skill: z.string(),
  rollouts: z.number().int(),
});
const rolloutStarted = z.object({
  type: z.literal('rollout.started'),
  key: z.string(),
  task: z.string(),
  line: z.enum(['loop', 'confirmation', 'finalize', 'eval']),
  ahead: z.boolean(),
});
/**
 * `usage` = what it had spent until then, where that is known; `failed`: it is what the machinery failed at; `begun`
 * false: it still waited for its turn, and counts as if it had never been started.
 */
const rolloutCancelled = z.object({
  type: z.literal('rollout.cancelled'),
  key: z.string(),
  why: z.string(),
  usage: usageShape.optional(),
  failed: z.literal(true).optional(),
  begun: z.literal(false).optional(),
});
const rolloutLost = z.object({ type: z.literal('rollout.lost'), key: z.string() });
/** The optimizer is asked, and shown so many failing rollouts. */
const reflectionStarted = z.object({
  type: z.literal('reflection.started'),
  key: z.string(),
  kind: z.literal('slow-update').optional(),
  round: z.number().int().positive(),
  failing: z.number().int(),
});
const warningRaised = z.object({
  type: z.literal('warning.raised'),
  what: z.string(),
  where: z.string(),
  fix: z.string(),
});
const concurrencyChanged = z.object({ type: z.literal('concurrency.changed'), workers: z.number().int().positive() });
/**
 * One call of a model outside a rollout, or one run of an agent that has a `key`; `problem` null = it answered.
 * `preflight`: a short one before the work began.
 */
const modelCalled = z.object({
  type: z.literal('model.called'),
  key: z.string().optional(),
  role: z.enum(['optimizer', 'target']),
  model: z.string(),
  problem: z.string().nullable(),
  usage: usageShape,
  durationMs: z.number().nonnegative(),
  preflight: z.literal(true).optional(),
});
/**
 * `where` = what failed, and `role` whose work it was; absent: a user has paused it. `within`: the process goes on, and
 * with it what runs.
 */
const sessionPaused = z.object({
  type: z.literal('session.paused'),
  why: z.string(),
  fix: z.string(),
  where: z.string().optional(),
  role: z.enum(['rollouts', 'optimizer']).optional(),
  within: z.literal(true).optional(),
});
/** `command` as it was typed. `file` = budget and limits as the config file had them: a later change of the file is told from a flag. */
const sessionResumed = z.object({
  type: z.literal('session.resumed'),
  program: z.string(),
  command: z.string().optional(),
  file: boundsShape,
  wanted: boundsShape,
  set: z.array(standingKey).optional(),
  /** A pause within one process is over; absent: another process goes on. */
  within: z.literal(true).optional(),
});

/**
 * An eval looked at the test split again after it was opened: its id, and the how-manieth look it is, those of a fork's
 * parents included. Written before its first rollout.
 */
const testLooked = z.object({ type: z.literal('test.looked'), eval: z.string(), look: z.number().int().positive() });

/** What is written for people and never read by the engine. */
export const markers = [
  evaluationStarted,
  rolloutStarted,
  rolloutCancelled,
  rolloutLost,
  reflectionStarted,
  warningRaised,
  concurrencyChanged,
  modelCalled,
  sessionPaused,
  sessionResumed,
  testLooked,
] as const;
