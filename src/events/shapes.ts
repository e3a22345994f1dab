import { z } from 'zod';
import { allOps, editRejections } from '../ports/edit.ts';
import { inputPoints, limitKinds } from '../ports/inputs.ts';
import { unscoredReasons } from '../ports/outcome.ts';

/** The values that events are made of. zod stands here because the log is a border: its lines come from a file. */
export const editShape = z.object({
  op: z.enum(allOps),
  target: z.string(),
  content: z.string(),
  cites: z.array(z.string()).readonly(),
  reason: z.string(),
  leak: z.string().optional(),
});

export const outcomeShape = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('scored'),
    hard: z.union([z.literal(0), z.literal(1)]),
    soft: z.number().min(0).max(1),
    rewards: z.record(z.string(), z.number()),
    read: z.boolean().nullable(),
    agentTimedOut: z.literal(true).optional(),
  }),
  z.object({ status: z.literal('unscored'), reason: z.enum(unscoredReasons), detail: z.string() }),
]);

const count = z.number().int().nonnegative().nullable();
export const usageShape = z.object({
  inputTokens: count,
  outputTokens: count,
  costUsd: z.number().nonnegative().nullable(),
  requests: count,
});

export const limitsShape = z.object({
  rollouts: z.number().int().positive().nullable(),
  minutes: z.number().positive().nullable(),
  usd: z.number().positive().nullish(),
  tokens: z.number().int().positive().nullish(),
});

/** What may change while a session goes on. */
export const boundsShape = z.object({ budget: z.number().int().positive(), limits: limitsShape });
export type Bounds = z.infer<typeof boundsShape>;

/** A key of the config that a flag has set: it stands until another flag, or until the file no longer says `base`. */
export const standingKey = z.object({ key: z.string(), value: z.unknown(), base: z.unknown().optional() });
export type StandingKey = z.infer<typeof standingKey>;

export const inputShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('note'), text: z.string() }),
  z.object({ kind: z.literal('ban'), text: z.string().min(1) }),
  z.object({ kind: z.literal('edit'), edit: editShape }),
  z.object({ kind: z.literal('budget.changed'), rollouts: z.number().int().positive() }),
  z.object({ kind: z.literal('limits.changed'), limits: limitsShape }),
  z.object({ kind: z.literal('limit.reached'), limit: z.enum(limitKinds) }),
  z.object({
    kind: z.literal('environment.changed'),
    what: z.string(),
    versions: z.record(z.string(), z.string()),
  }),
  z.object({ kind: z.literal('finish') }),
]);

/** Where an input was taken: at a named point, or as the answer to the rollout or reflection that the engine waited for. */
export const turnPoint = z.enum([...inputPoints, 'take', 'propose']);

export const taskRefShape = z.object({ id: z.string(), hash: z.string(), instructionHash: z.string() });

/** A task of the pack as a session began with it. */
export const packTaskShape = taskRefShape.extend({
  /** Is the skill meant for it? Stands there where the description is optimized and the task says so. */
  shouldTrigger: z.boolean().optional(),
});

/** What a fork takes over from its parent. */
export const forkShape = z.object({
  /** The parent's id, the step after which the fork leaves it, and the parent's log at that line. */
  session: z.string(),
  step: z.number().int().nonnegative(),
  head: z.object({ lines: z.number().int().positive(), hash: z.string() }),
  /** Ids of the parent's splits, under their names of now. A task that is still there keeps its split; a new one goes to train. */
  splits: z.object({ train: z.array(z.string()), selection: z.array(z.string()), test: z.array(z.string()) }),
  /** Ids of the parent's tasks that stand in no split: they stay there. */
  unused: z.array(z.string()),
  /** How often the sealed test was opened before, by the parent and by those it comes from. */
  looks: z.number().int().nonnegative(),
  /** The first so many effects of the log are the parent's. */
  effects: z.number().int().nonnegative(),
});
export type Fork = z.infer<typeof forkShape>;

export const gateRuleName = z.enum(['balanced', 'bold', 'careful', 'skillopt']);
export const metricName = z.enum(['hard', 'soft', 'mixed']);

export const rejectionReason = z.enum([
  ...editRejections,
  'none-offered',
  'unusable',
  'nothing-left-to-fix',
  'waits-for-another',
  'in-draft',
  'conflict',
  'banned',
  'too-many',
]);

/** A share as counts: `passed` of `scored` scored rollouts; `mean` is the mean score, 0…1 (null when nothing was scored). */
export const scoreShape = z.object({
  passed: z.number().int(),
  scored: z.number().int(),
  of: z.number().int(),
  mean: z.number().nullable(),
});
export type Score = z.infer<typeof scoreShape>;

/** One task at one time: scores are 0…1, null = unscored. */
export const pairShape = z.object({
  task: z.string(),
  block: z.number().int(),
  before: z.number().nullable(),
  after: z.number().nullable(),
});

export const causes = [
  'completed',
  'budget',
  'limit',
  'ceiling',
  'plateau',
  'stopped',
  'optimizer-failed',
  'measurement-broken',
] as const;
export type Cause = (typeof causes)[number];

/** Where rollouts run, by what and with what. `fingerprint` stands in every key. */
export const environmentShape = z.object({
  backend: z.string(),
  agent: z.string(),
  model: z.string().nullable(),
  passThreshold: z.number(),
  fingerprint: z.string(),
  versions: z.record(z.string(), z.string()),
});

export const results = ['improved', 'no-measurable-difference', 'underpowered', 'not-confirmed'] as const;
export type SearchResult = (typeof results)[number];

/** Most edits of a reflection: a number, null = a third of train, or how it goes from `max` to `min`. */
export const editBudgetShape = z.union([
  z.number().int().positive().nullable(),
  z.strictObject({
    schedule: z.enum(['constant', 'linear', 'cosine', 'autonomous']).describe('how it goes from max to min'),
    max: z.number().int().positive().describe('most edits at the beginning'),
    min: z.number().int().positive().describe('most edits at the end'),
  }),
]);
export type EditBudget = z.infer<typeof editBudgetShape>;

/** What `plan.fixed` holds. */
export const planShape = z.object({
  gate: z.object({ rule: gateRuleName, metric: metricName }),
  editBudget: editBudgetShape,
  search: z.object({
    draftSize: z.number().int().positive(),
    dryRounds: z.number().int().positive(),
    memory: z.boolean(),
    /** Ends of the search and a bound of its rounds; absent = none. */
    steps: z.number().int().positive().optional(),
    epochs: z.number().int().positive().optional(),
    batchSize: z.number().int().positive().optional(),
  }),
  /** At the end of an epoch guidance is distilled, as a candidate of its own; absent = never. */
  slowUpdate: z.literal(true).optional(),
  /** Rollouts of the planned ledger, confirmation included. */
  budget: z.number().int().positive(),
  limits: limitsShape,
  /** `given`: calibration has paid the seed's attempt that the confirmation compares with. */
  seedAttempt: z.enum(['fresh', 'given']),
  optimizer: z.string(),
  /** Stands there where it is not the body that is optimized. */
  optimize: z.literal('description').optional(),
});

/** One arm of the sealed test. */
export const armShape = z.object({
  arm: z.enum(['seed', 'result', 'no-skill']),
  skill: z.string(),
  score: scoreShape,
  /** 95 % Clopper-Pearson interval of the pass rate; null when nothing was scored. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
  /** Rollouts in which the skill was read, of those that can tell. */
  read: z.tuple([z.number().int(), z.number().int()]),
});
