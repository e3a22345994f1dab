import { z } from 'zod';
import { environmentShape, limitsShape, taskRefShape } from './shapes.ts';

/** What an eval measures side by side: the skill, another one, and none. */
export const evalArmName = z.enum(['skill', 'no-skill', 'other']);
export type EvalArmName = z.infer<typeof evalArmName>;

/** One arm, with its whole SKILL.md: the log alone replays. */
const evalArmShape = z.object({
  arm: evalArmName,
  name: z.string(),
  /** What stands for it in keys: the short hash of its text and of the files beside it; `none` without a skill. */
  skill: z.string(),
  text: z.string().nullable(),
  /** Hash of the files beside SKILL.md, and their relative paths. */
  bundle: z.string(),
  files: z.array(z.string()),
  /** Where it came from, as the user wrote it. */
  from: z.string(),
});
export type EvalArm = z.infer<typeof evalArmShape>;

const evalTaskShape = taskRefShape.extend({ shouldTrigger: z.boolean().nullable() });
export type EvalTask = z.infer<typeof evalTaskShape>;

/** An eval begins: an input, the first line of its log. */
export const evalCreated = z.object({
  type: z.literal('eval.created'),
  eval: z.string(),
  engine: z.number().int(),
  rules: z.array(z.string()),
  program: z.string(),
  /** As it was typed, without secrets. */
  command: z.string().optional(),
  /** The agent is a small program. */
  rehearsal: z.boolean(),
  arms: z.array(evalArmShape).min(1),
  /** `of` = tasks that there are; `tasks` = those that are measured. */
  pack: z.object({
    name: z.string(),
    hash: z.string(),
    from: z.string(),
    of: z.number().int().positive(),
    tasks: z.array(evalTaskShape).min(1),
  }),
  /** Attempts a task and arm. */
  attempts: z.number().int().positive(),
  environment: environmentShape.extend({
    /** The agent opens the skill by itself, or does not; false: it is laid before the model in any case. */
    opens: z.boolean(),
  }),
  config: z.record(z.string(), z.unknown()),
  limits: limitsShape,
  /** In a session: its id (null = it has not begun), the split, and which look at the sealed test it is (null = it is none). */
  session: z
    .object({
      id: z.string().nullable(),
      split: z.enum(['train', 'selection', 'test']),
      look: z.number().int().positive().nullable(),
    })
    .nullable(),
});

/** One attempt as it counts. `passed` null = unscored; `soft` 0…1; `read` null = the agent can't tell. */
const evalAttemptShape = z.object({
  passed: z.boolean().nullable(),
  soft: z.number().nullable(),
  read: z.boolean().nullable(),
});
export type EvalAttempt = z.infer<typeof evalAttemptShape>;

const evalRowShape = z.object({
  task: z.string(),
  arms: z.array(z.object({ arm: evalArmName, attempts: z.array(evalAttemptShape) })),
});
/** A task of an eval with the attempts of each arm, in the order in which they were planned. */
export type EvalRow = z.infer<typeof evalRowShape>;

/** All attempts of an eval have come to their end: its one decision. */
export const evalFinished = z.object({
  type: z.literal('eval.finished'),
  /** The environment moved on the way: what moved. */
  environmentChanged: z.string().nullable(),
  tasks: z.array(evalRowShape),
  consumed: z.array(z.string()),
  seen: z.string(),
  digest: z.string(),
});
