import { join } from 'node:path';

/**
 * Where things lie in an eval's directory: log and report, and a hidden folder for the copies and the
 * trajectories: another one than a session's, so that both may lie in one directory.
 */
export function evalPaths(dir: string) {
  const hidden = join(dir, '.skillopt-eval');
  return {
    dir,
    log: join(dir, 'skillopt-eval.jsonl'),
    document: join(dir, 'skillopt-eval.md'),
    hidden,
    pack: join(hidden, 'pack'),
    skills: join(hidden, 'skills'),
    skill: (arm: string, name: string) => join(hidden, 'skills', arm, name),
    texts: join(hidden, 'texts'),
    workspaces: join(hidden, 'workspaces'),
    preloads: join(hidden, 'preloads'),
    harbor: join(hidden, 'harbor'),
    /** What is read of the sources grows here, until it is known to be new. */
    next: join(hidden, 'next'),
  };
}
export type EvalPaths = ReturnType<typeof evalPaths>;
