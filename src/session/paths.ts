import { join } from 'node:path';

/** Where things lie in a session's directory: the five session files, and `.skillopt/` for the rest. */
export function sessionPaths(dir: string) {
  const hidden = join(dir, '.skillopt');
  return {
    dir,
    config: join(dir, 'skillopt.config.json'),
    schema: join(dir, 'skillopt.config.schema.json'),
    log: join(dir, 'skillopt.jsonl'),
    document: join(dir, 'skillopt.md'),
    best: join(dir, 'best_skill.md'),
    snapshots: join(dir, 'skillopt.snapshots'),
    snapshot: (version: number) => join(dir, 'skillopt.snapshots', `skill_v${String(version).padStart(4, '0')}.md`),
    hidden,
    skill: (name: string) => join(hidden, 'skill', name),
    skillRoot: join(hidden, 'skill'),
    pack: join(hidden, 'pack'),
    texts: join(hidden, 'texts'),
    /** What failed rollouts left, to be looked at. */
    workspaces: join(hidden, 'workspaces'),
    /** What was built once for all rollouts. */
    preloads: join(hidden, 'preloads'),
    harbor: join(hidden, 'harbor'),
  };
}
export type SessionPaths = ReturnType<typeof sessionPaths>;
