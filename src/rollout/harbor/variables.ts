import type { Finding } from '../../ports/preflight.ts';
import type { HarborOptions } from './options.ts';
import type { TaskNeeds } from './task-needs.ts';

/** The name in a value that is `${NAME}`; null = it is something else, or has a default. */
export function nameWithoutDefault(value: string): string | null {
  return /^\$\{([^}:]+)\}$/.exec(value)?.[1] ?? null;
}

/** Variables that config and tasks name and that are not set here: Harbor would refuse the whole job for one of them. */
export function variableFindings(o: HarborOptions, needs: readonly TaskNeeds[]): readonly Finding[] {
  const missing = new Map<string, Set<string>>();
  const want = (name: string, where: string) => {
    if (o.hostEnv[name] === undefined) missing.set(name, (missing.get(name) ?? new Set()).add(where));
  };
  for (const name of o.env) want(name, 'harbor.env');
  for (const name of o.agentEnv) want(name, 'harbor.agentEnv');
  for (const { task, envs } of needs)
    for (const { table, env } of envs)
      for (const [key, value] of Object.entries(env)) {
        const isGiven = table === '[environment.env]' && Object.hasOwn(o.environmentEnv, key);
        const name = isGiven ? null : nameWithoutDefault(value);
        if (name !== null) want(name, `task ${task.id}, ${table}`);
      }
  const findings = [...missing].map(([name, places]): Finding => {
    const [first = '', ...more] = places;
    return {
      level: 'error',
      what: `the variable ${name} is not set`,
      where: more.length === 0 ? first : `${first} (and ${more.length} more)`,
      fix: `set ${name} in the environment`,
    };
  });
  const key = o.model?.keyName ?? null;
  if (key === null || o.hostEnv[key]) return findings;
  return [
    ...findings.filter(({ what }) => what !== `the variable ${key} is not set`),
    {
      level: 'error',
      what: `the key of ${o.model?.name} is not set: ${key}`,
      where: 'model',
      fix: `set ${key} in the environment`,
    },
  ];
}
