/** What a rollout's key says: whose text, under which environment, the how-manieth draw, and the try within it. */
export type RolloutName = {
  /** Short hash of the skill's text; `none` without a skill. */
  readonly skill: string;
  readonly attempt: number;
  readonly try: number;
};

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
