import { z } from 'zod';
import { editBudgetShape, gateRuleName, metricName } from '../events/shapes.ts';
import { optimizedParts } from '../ports/edit.ts';
import { agentConfig, agentLimits } from './agent.ts';
import { backendConfig } from './backend.ts';
import { harborConfig, noHarbor } from './harbor.ts';
import { modelConfig } from './model.ts';
import { preloadsConfig } from './preloads.ts';
import { sandboxConfig } from './sandbox.ts';

/** Most model calls of one reader, unless a config says otherwise. */
export const MAX_CALLS = 24;
/** Seconds for one run of an agent as optimizer. */
const AGENT_SEC = 900;

const ids = z.array(z.string().min(1)).readonly();
const share = z.number();

/** `{"ratio": {...}}` or explicit lists of task ids. */
export const splitsConfig = z.union([
  z.strictObject({
    ratio: z
      .strictObject({
        train: share.describe('share of train'),
        selection: share.describe('share of selection'),
        test: share.describe('share of the sealed test'),
      })
      .describe('how the tasks are shared out'),
  }),
  z.strictObject({
    train: ids.describe('ids of the tasks that failures are read from'),
    selection: ids.describe('ids of the tasks that the gate decides on'),
    test: ids.describe('ids of the tasks of the sealed test'),
  }),
]);

/**
 * `skillopt.config.json`: every key with its default and what it means. The descriptions are those of the JSON Schema and
 * of `config show`. Paths are relative to the file; `example:NAME` is bundled.
 */
export const configShape = z.strictObject({
  $schema: z.string().optional().describe('where an editor finds the schema of this file'),
  version: z.literal(1).default(1).describe('form of this file'),
  skill: z.string().min(1).describe('a SKILL.md or its folder; example:NAME is bundled'),
  pack: z
    .string()
    .min(1)
    .describe(
      'a folder of tasks in Harbor’s format, or a prompt pack: a tasks.json or its folder; example:NAME is bundled',
    ),
  backend: backendConfig
    .default('local')
    .describe(
      'where rollouts run: local runs task folders, chat asks a model for the prompts of a pack; every other name is an environment of Harbor, such as docker or daytona',
    ),
  agent: agentConfig
    .default('chat')
    .describe('what does the tasks: an agent by name, or one described here; on chat it is the model itself'),
  model: modelConfig
    .nullable()
    .default(null)
    .describe('the model that does the tasks: "provider/model", or an object that says how it is reached'),
  login: z
    .enum(['key', 'subscription'])
    .default('key')
    .describe(
      'how the agent is let in: key: by the model’s key, through the gateway; subscription: by its own login, straight to its vendor',
    ),
  agentLimits: agentLimits
    .default({ requests: null, tokens: null, usd: null })
    .describe('what one rollout of an agent may spend at its model'),
  sandbox: sandboxConfig.default(sandboxConfig.parse({})).describe('the walls around agents and verifiers on local'),
  harbor: harborConfig.default(noHarbor).describe('what Harbor is told, where it runs the rollouts'),
  preloads: preloadsConfig
    .default(preloadsConfig.parse({}))
    .describe('what stands in a rollout beside the skill and the task'),
  optimizer: modelConfig.describe(
    'what reads failures and proposes edits: a model, agent (the agent itself), or rehearsal; left out: the agent where it has a login of its own, else the model',
  ),
  optimize: z
    .enum(optimizedParts)
    .default('body')
    .describe('what of the skill is optimized: its body, or the description that lets an agent open it'),
  reflection: z
    .strictObject({
      form: z
        .enum(['auto', 'tools', 'one-shot'])
        .default('auto')
        .describe('tools: the model reads by tools; one-shot: it gets a digest; auto: by what the model takes'),
      maxCalls: z
        .number()
        .int()
        .min(1)
        .max(200)
        .default(MAX_CALLS)
        .describe('most model calls of one reader, its repair turn not counted'),
      minibatchSize: z
        .number()
        .int()
        .positive()
        .nullable()
        .default(null)
        .describe('most failing trajectories that one reader is shown; null: all, split evenly over the readers'),
      readers: z
        .number()
        .int()
        .min(1)
        .max(16)
        .default(1)
        .describe('conversations side by side in one reflection, each with failing trajectories of its own'),
      agentSec: z.number().positive().default(AGENT_SEC).describe('seconds for one run of an agent as optimizer'),
    })
    .default({ form: 'auto', maxCalls: MAX_CALLS, minibatchSize: null, readers: 1, agentSec: AGENT_SEC })
    .describe('how failures are read'),
  allowUnsandboxed: z
    .boolean()
    .default(false)
    .describe('consent to run rollouts in plain folders on this machine, without a sandbox'),
  seed: z
    .union([z.string(), z.number().int()])
    .default('1')
    .transform(String)
    .describe('seed of the splits and of all other randomness'),
  taskLimit: z
    .number()
    .int()
    .min(2)
    .nullable()
    .default(null)
    .describe('most tasks of each split, drawn by the seed from what it would hold; null: all'),
  splits: splitsConfig
    .default({ ratio: { train: 1, selection: 1, test: 1 } })
    .describe('a ratio, or three lists of task ids; at least 2 tasks each'),
  gate: z
    .strictObject({
      rule: gateRuleName.default('balanced').describe('how sure a gate has to be before it keeps a draft'),
      metric: metricName.default('hard').describe('what is compared: passes, scores, or both'),
      passThreshold: z.number().gt(0).max(1).default(1).describe('a reward of at least this is a pass'),
    })
    .default({ rule: 'balanced', metric: 'hard', passThreshold: 1 })
    .describe('when a draft is kept'),
  editBudget: editBudgetShape
    .refine((b) => b === null || typeof b === 'number' || b.min <= b.max, {
      error: '"min" is more than "max"',
      path: ['min'],
    })
    .default(null)
    .describe('most edits of a reflection; null: a third of train, 2 to 8; or a schedule from max to min'),
  search: z
    .strictObject({
      draftSize: z.number().int().positive().default(8).describe('new edits in the draft that call for a gate'),
      dryRounds: z
        .number()
        .int()
        .positive()
        .default(12)
        .describe('rounds without a kept edit after which train is swept again'),
      memory: z.boolean().default(true).describe('a text proposed again goes on from its points'),
      steps: z
        .number()
        .int()
        .positive()
        .nullable()
        .default(null)
        .describe('most steps (gates): the search ends after so many; null: no such end'),
      epochs: z
        .number()
        .int()
        .positive()
        .nullable()
        .default(null)
        .describe('most epochs, each from one full sweep of train to the next; null: no such end'),
      batchSize: z
        .number()
        .int()
        .positive()
        .nullable()
        .default(null)
        .describe('most failing train tasks that one round works on; null: all that fail'),
    })
    .default({ draftSize: 8, dryRounds: 12, memory: true, steps: null, epochs: null, batchSize: null })
    .describe('how the search goes'),
  slowUpdate: z
    .boolean()
    .default(false)
    .describe(
      'at the end of each epoch guidance is distilled from what was kept and refused, and meets a gate of its own',
    ),
  budget: z
    .strictObject({
      rollouts: z
        .number()
        .int()
        .positive()
        .default(400)
        .describe('rollouts that decisions may consume, confirmation included, the sealed test not'),
    })
    .default({ rollouts: 400 })
    .describe('what decisions may consume'),
  limits: z
    .strictObject({
      rollouts: z.number().int().positive().nullable().default(null).describe('rollouts really started'),
      minutes: z.number().min(0.1).nullable().default(null).describe('running time of the search'),
      usd: z.number().positive().nullish().describe('US dollars over all roles'),
      tokens: z.number().int().positive().nullish().describe('tokens over all roles'),
    })
    .default({ rollouts: null, minutes: null })
    .describe('what may really be spent, run-ahead and lost work included; null: no such limit'),
  workers: z
    .number()
    .int()
    .min(1)
    .max(256)
    .nullable()
    .default(null)
    .describe('rollouts at a time; null: twice the cores, at most 8'),
  timeouts: z
    .strictObject({
      agentSec: z
        .number()
        .positive()
        .nullable()
        .default(null)
        .describe('seconds for the agent in place of the task’s own limit; null: the task’s'),
    })
    .default({ agentSec: null })
    .describe('patience with a rollout'),
  finalize: z
    .strictObject({
      attempts: z.number().int().min(1).max(20).default(1).describe('attempts a task and arm in the sealed test'),
    })
    .default({ attempts: 1 })
    .describe('the sealed test'),
});

export type Config = z.output<typeof configShape>;
