import { fail } from '../../ports/failure.ts';
import type { InsidePlaces } from './sandbox.ts';

/** All that a child takes over from our own environment: no key of the user's can be among it. */
export const takenFromHost = ['PATH', 'LANG', 'LC_ALL', 'TZ'] as const;

/** The variable by which the processes of a rollout are known: `<session>/<rollout key>`. */
export const markName = 'SKILLOPT_ROLLOUT';

/**
 * The environment of a rollout's processes: a few things of the host, the task's own variables, and the rollout's
 * folders, which no task can point elsewhere. A skill's folder is not named by a variable: a skill must not come to
 * depend on one that exists only here.
 */
export function cleanEnvironment(
  hostEnv: Readonly<Record<string, string | undefined>>,
  taskEnv: Readonly<Record<string, string>>,
  places: Pick<InsidePlaces, 'home' | 'temp' | 'workspace' | 'logs'>,
): Readonly<Record<string, string>> {
  const taken = takenFromHost.flatMap((name) => (hostEnv[name] ? [[name, hostEnv[name]] as const] : []));
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    ...Object.fromEntries(taken),
    ...taskEnv,
    HOME: places.home,
    TMPDIR: places.temp,
    APP_DIR: places.workspace,
    LOGS_DIR: places.logs,
  };
}

/**
 * A task's variables with `${NAME}` and `${NAME:-default}` resolved, where they are a whole value (as in Harbor).
 * Throws a `config` failure that names what is not set.
 */
export function resolveVariables(
  env: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string | undefined>>,
  where: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).map(([key, value]) => {
      const reference = /^\$\{([^}:]+)(?::-(.*))?\}$/s.exec(value);
      if (reference === null) return [key, value];
      const name = reference[1]!;
      const resolved = variables[name] ?? reference[2];
      if (resolved === undefined) {
        throw fail('config', `the task needs the variable ${name} for ${key}`, where, `set ${name} in the environment`);
      }
      return [key, resolved];
    }),
  );
}
