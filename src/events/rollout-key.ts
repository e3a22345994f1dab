/** What a rollout's key says: whose text, under which environment, the how-manieth draw, and the try within it. */
export type RolloutName = {
  /** Short hash of the skill's text; `none` without a skill. */
  readonly skill: string;
  readonly attempt: number;
  readonly try: number;
};

/** Characters of a task's hash that stand in keys. */
export const TASK_REF_LENGTH = 12;

/** The task's part of a rollout's key: the first characters of its hash. */
export function taskRefOf(key: string): string {
  return key.split('/')[1] ?? '';
}

/** The skill's part of a rollout's key. */
export function skillOf(key: string): string {
  const end = key.indexOf('/');
  return end < 0 ? key : key.slice(0, end);
}

/** Reads `skill/task/environment/attempt.try`. */
export function rolloutName(key: string): RolloutName {
  // read for every rollout of a log: by places, without lists
  const last = key.lastIndexOf('/');
  const dot = key.indexOf('.', last);
  return {
    skill: skillOf(key),
    attempt: Number.parseInt(key.slice(last + 1), 10),
    try: dot < 0 ? 0 : Number.parseInt(key.slice(dot + 1), 10),
  };
}
