import { ownBackends } from '../../config/backend.ts';
import { nearest } from '../../config/nearest.ts';
import type { Finding } from '../../ports/preflight.ts';
import { environmentNeeds, isLetIn, knownEnvironments } from './environments.ts';
import type { Installed } from './installed.ts';
import { environmentName, type HarborOptions } from './options.ts';

/** Whether the installed Harbor has the environment, with all that it needs. A class of the user's is Harbor's to check. */
export function environmentFindings(o: HarborOptions, installed: Installed): readonly Finding[] {
  const name = environmentName(o.environment);
  const where = `backend ${name}`;
  const error = (what: string, fix: string): Finding => ({ level: 'error', what, where, fix });
  if ('importPath' in o.environment) {
    const { refusal } = installed;
    return refusal === null ? [] : [error(`Harbor can’t use this environment: ${refusal}`, 'mend what it says')];
  }
  const all = installed.environments.length > 0 ? installed.environments : knownEnvironments;
  if (!all.includes(name)) return [unknown('environment', name, all, where)];
  return [...extraFindings(name, installed), ...doorFindings(o, name, installed)].map(([what, fix]) =>
    error(what, fix),
  );
}

type Problem = readonly [what: string, fix: string];

/** Packages of its own that an environment needs. */
function extraFindings(name: string, { extra }: Installed): readonly Problem[] {
  if (extra === null || extra.missing.length === 0) return [];
  return [
    [
      `Harbor’s environment ${name} needs packages that are not installed: ${extra.missing.join(', ')}`,
      `\`uv tool install 'harbor[${extra.name}]'\`; where Harbor came by pip: \`pip install 'harbor[${extra.name}]'\``,
    ],
  ];
}

/** Whether Harbor is let in: by variables, by a login, or as it says itself. */
function doorFindings(o: HarborOptions, name: string, { extra, refusal }: Installed): readonly Problem[] {
  const needs = environmentNeeds(name);
  const set = needs === null || needs.keys.length === 0 || isLetIn(needs, o.hostEnv);
  // without its packages it can't tell
  const said = extra !== null && extra.missing.length > 0 ? null : refusal;
  if (said === null && (set || needs.login !== null)) return [];
  if (set)
    return [[`Harbor can’t use ${name}: ${said}`, needs?.login ? `let it in by ${needs.login}` : 'mend what it says']];
  const sets = needs.keys.map((names) => names.join(' and ')).join(', or ');
  return [
    [
      `Harbor is not let into ${name}: ${said ?? `nothing gives it ${sets}`}`,
      `set ${sets}${needs.login === null ? '' : `, or let it in by ${needs.login}`}`,
    ],
  ];
}

/** There is no such thing: the nearest one, and all. */
export function unknown(what: 'environment' | 'agent', name: string, all: readonly string[], where: string): Finding {
  const near = nearest(name, what === 'environment' ? [...ownBackends, ...all] : all);
  const list = `Harbor has: ${all.join(', ')}`;
  return {
    level: 'error',
    what: `Harbor has no ${what} ${name}`,
    where,
    fix: near === null ? list : `did you mean ${near}? ${list}`,
  };
}
