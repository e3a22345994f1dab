import type { Finding } from '../../ports/preflight.ts';
import { dockerFindings, roomOf } from './docker-preflight.ts';
import { environmentsLetIn } from './environments.ts';
import { askInstalled } from './installed.ts';
import { type HarborOptions, nothingMore } from './options.ts';
import { versionFindings } from './version.ts';

/** What a machine has for rollouts in Harbor, whatever a session would make of it. */
export type HarborMachine = { readonly docker: readonly Finding[]; readonly harbor: readonly Finding[] };

/** Looks at Docker and at the installed Harbor, side by side; starts no container and no job. */
export async function harborOnMachine(of: Pick<HarborOptions, 'program' | 'hostEnv'>): Promise<HarborMachine> {
  const o: HarborOptions = {
    ...nothingMore,
    ...of,
    sessionId: 'doctor',
    passThreshold: 1,
    dir: '/',
    environment: { type: 'docker' },
    agent: { name: 'oracle' },
    defaultAgentSec: 1,
    concurrency: 1,
  };
  const [docker, harbor] = await Promise.all([dockerOf(o), harborOf(o)]);
  return { docker, harbor };
}

async function dockerOf(o: HarborOptions): Promise<readonly Finding[]> {
  const { findings, engine } = await dockerFindings(o);
  return engine === null ? findings : [...findings, ...(await roomOf(engine))];
}

async function harborOf(o: HarborOptions): Promise<readonly Finding[]> {
  const [version] = await versionFindings(o);
  if (version === undefined || version.level === 'error') return version === undefined ? [] : [version];
  const { environments, agents } = await askInstalled(o);
  const letIn = environmentsLetIn(environments, o.hostEnv);
  const ok = (what: string): Finding => ({ level: 'ok', what, where: o.program, fix: '' });
  return [
    version,
    ok(`${counted(environments.length, 'environment')} and ${counted(agents.length, 'agent')}`),
    ok(
      letIn.length === 0
        ? 'no variable lets it into an environment in the cloud'
        : `let in by variables: ${letIn.join(', ')}`,
    ),
  ];
}

const counted = (n: number, what: string) => `${n} ${n === 1 ? what : `${what}s`}`;
