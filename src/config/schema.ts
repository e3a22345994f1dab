import { z } from 'zod';
import { editBudgetShape, gateRuleName, metricName } from '../events/shapes.ts';
import { modelConfig } from './model.ts';

const ids = z.array(z.string().min(1)).readonly();
const share = z.number();

/** `{"ratio": {...}}` or explicit lists of task ids. */
export const splitsConfig = z.union([
  z.strictObject({ ratio: z.strictObject({ train: share, selection: share, test: share }) }),
  z.strictObject({ train: ids, selection: ids, test: ids }),
]);

/** `skillopt.config.json`: every key with its default. Paths are relative to the file; `example:NAME` is bundled. */
export const configShape = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1).default(1),
  /** SKILL.md or its folder. */
  skill: z.string().min(1),
  /** Folder of tasks in Harbor's format, or a prompt pack: a tasks.json or its folder. */
  pack: z.string().min(1),
  /** Where rollouts run: `local` runs task folders, `chat` asks a model for the prompts of a pack. */
  backend: z.enum(['local', 'chat']).default('local'),
  /** What does the task; on `chat` the model itself. */
  agent: z.string().min(1).default('chat'),
  /** The model that does the task. */
  model: modelConfig.nullable().default(null),
  /** What reads failures and proposes edits: `rehearsal`, or a model. */
  optimizer: modelConfig,
  reflection: z
    .strictObject({
      /** `tools`: the model reads trajectories by tools; `one-shot`: it gets a digest; `auto`: by what the model takes. */
      form: z.enum(['auto', 'tools', 'one-shot']).default('auto'),
      /** Most model calls of one reflection, its repair turn not counted. */
      maxCalls: z.number().int().min(1).max(200).default(24),
    })
    .default({ form: 'auto', maxCalls: 24 }),
  /** Runs rollouts in plain folders on this machine, without a sandbox. */
  allowUnsandboxed: z.boolean().default(false),
  /** Seed of the splits and of all other randomness. */
  seed: z.union([z.string(), z.number().int()]).default('1').transform(String),
  splits: splitsConfig.default({ ratio: { train: 1, selection: 1, test: 1 } }),
  gate: z
    .strictObject({
      rule: gateRuleName.default('balanced'),
      metric: metricName.default('hard'),
      /** A reward of at least this is a pass. */
      passThreshold: z.number().gt(0).max(1).default(1),
    })
    .default({ rule: 'balanced', metric: 'hard', passThreshold: 1 }),
  /** Most edits a reflection may hand in; null = a third of train, 2 to 8; or a schedule from `max` to `min`. */
  editBudget: editBudgetShape
    .refine((b) => b === null || typeof b === 'number' || b.min <= b.max, {
      error: '"min" is more than "max"',
      path: ['min'],
    })
    .default(null),
  search: z
    .strictObject({
      /** New edits in the draft that call for a gate. */
      draftSize: z.number().int().positive().default(8),
      /** Rounds without a kept edit after which train is swept again. */
      dryRounds: z.number().int().positive().default(12),
      /** A text proposed again goes on from its points. */
      memory: z.boolean().default(true),
    })
    .default({ draftSize: 8, dryRounds: 12, memory: true }),
  /** Rollouts that decisions may consume, confirmation included. */
  budget: z.strictObject({ rollouts: z.number().int().positive().default(400) }).default({ rollouts: 400 }),
  /** What may really be started, run-ahead and lost work included; null = no such limit. */
  limits: z
    .strictObject({
      rollouts: z.number().int().positive().nullable().default(null),
      minutes: z.number().min(0.1).nullable().default(null),
      /** US dollars and tokens, over all roles. */
      usd: z.number().positive().nullish(),
      tokens: z.number().int().positive().nullish(),
    })
    .default({ rollouts: null, minutes: null }),
  /** Rollouts at a time; null = twice the cores, at most 8. */
  workers: z.number().int().min(1).max(256).nullable().default(null),
  timeouts: z
    .strictObject({
      /** Seconds for the agent, in place of the task's own limit; null = the task's. */
      agentSec: z.number().positive().nullable().default(null),
    })
    .default({ agentSec: null }),
  finalize: z.strictObject({ attempts: z.number().int().min(1).max(20).default(1) }).default({ attempts: 1 }),
});

export type Config = z.output<typeof configShape>;
