import type { OptimizedPart } from '../../ports/edit.ts';
import type { Model } from '../../ports/model.ts';
import type { Task } from '../../ports/task.ts';

/** What the chat backend is made of. */
export type ChatOptions = {
  readonly model: Model;
  /** What is measured: what a model does with the skill's text (unless given), or whether it would open it for its description. */
  readonly measures?: OptimizedPart;
  /** Share of the checks from which a rollout is a pass, 0…1. */
  readonly passThreshold: number;
  readonly sessionId: string;
  /** Tasks that will be asked for: `preflight` looks at each. */
  readonly tasks: readonly Task[];
  /** Name of the skill, which its pack should not list as another one. */
  readonly skillName?: string;
  /** Files that the skill brings beside its SKILL.md: a model in a chat can't read them. Default: none. */
  readonly bundledFiles?: readonly string[];
  /** Consent to run the commands of checks as this user, with nothing but plain folders around them. */
  readonly unsandboxedAllowed: boolean;
  /** For tasks that give the model no limit, in seconds. */
  readonly defaultTimeoutSec: number;
  /** Our own environment: only what `cleanEnvironment` names is given to commands. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** Existing folder under which commands of checks get theirs: the system's temporary folder. */
  readonly tempRoot: string;
  /** Time between TERM and KILL of a command; default 2 s. */
  readonly graceMs?: number;
};
