/** What a rollout's key says: whose text, under which environment, the how-manieth draw, and the try within it. */
export type RolloutName = {
  /** Short hash of the skill's text; `none` without a skill. */
  readonly skill: string;
  readonly attempt: number;
  readonly try: number;
};

/** Reads `skill/task/environment/attempt.try`. */
export function rolloutName(key: string): RolloutName {
  const [attempt = '0', tryNumber = '0'] = (key.split('/').at(-1) ?? '').split('.');
  return {
    skill: key.split('/')[0] ?? '',
    attempt: Number.parseInt(attempt, 10),
    try: Number.parseInt(tryNumber, 10),
  };
}
