import { runProcess } from '../../process/run-process.ts';
import { JOB_LABEL, SESSION_LABEL } from './job-config.ts';

/** How long one command of Docker may take. */
const dockerMs = 60_000;

type Docker = { readonly env: Readonly<Record<string, string>>; readonly cwd: string };

/**
 * Whose containers: all of a session or of one job, by the label that each carries. `trials` = names of trial folders of
 * which anything may be left that carries no label, as when a trial was ended at its beginning or in its removal.
 */
export type LeftBy = ({ readonly session: string } | { readonly job: string }) & { readonly trials: readonly string[] };

/**
 * Takes away containers, networks, volumes and images that trials left. Returns a line for each trial, for people; what
 * cannot be taken away is told, too. Where Docker does not answer there is nothing.
 */
export async function sweepDocker(of: LeftBy, docker: Docker): Promise<readonly string[]> {
  const run = (...args: readonly string[]) =>
    runProcess({ command: ['docker', ...args], ...docker, timeoutMs: dockerMs });
  /** Pairs of a name and a compose project. */
  const list = async (...args: readonly string[]) => {
    const end = await run(...args);
    const lines = end.cause === 'exited' && end.exitCode === 0 ? end.stdout.split('\n') : [];
    return lines.flatMap((line) => {
      const [name = '', project = ''] = line.split(' ');
      return name === '' ? [] : [{ name, project }];
    });
  };
  const ofProject = '{{.Label "com.docker.compose.project"}}';
  const label = 'job' in of ? `${JOB_LABEL}=${of.job}` : `${SESSION_LABEL}=${of.session}`;
  const begins = of.trials.map((trial) => `${projectName(trial)}__`);
  const labelled = await list(
    'ps',
    '--all',
    '--no-trunc',
    '--filter',
    `label=${label}`,
    '--format',
    `{{.ID}} ${ofProject}`,
  );
  if (labelled.length === 0 && begins.length === 0) return [];

  const projects = new Set(labelled.map(({ project }) => project).filter((project) => project !== ''));
  const isOurs = (project: string) => projects.has(project) || begins.some((begin) => project.startsWith(begin));
  const composed = ['--filter', 'label=com.docker.compose.project', '--format'] as const;
  const containers = (await list('ps', '--all', '--no-trunc', ...composed, `{{.ID}} ${ofProject}`)).filter(
    ({ name, project }) => isOurs(project) || labelled.some((one) => one.name === name),
  );
  const networks = (await list('network', 'ls', '--no-trunc', ...composed, `{{.ID}} ${ofProject}`)).filter((one) =>
    isOurs(one.project),
  );
  const volumes = (await list('volume', 'ls', ...composed, `{{.Name}} ${ofProject}`)).filter((one) =>
    isOurs(one.project),
  );
  // an image that compose built is named after project and service
  const images = (await list('image', 'ls', '--format', '{{.Repository}}'))
    .map(({ name }) => ({ name, project: name.replace(/-[^-]+$/, '') }))
    .filter((one) => isOurs(one.project));

  const failed: string[] = [];
  for (const { found, command } of [
    { found: containers, command: ['rm', '--force', '--volumes'] },
    { found: networks, command: ['network', 'rm'] },
    { found: volumes, command: ['volume', 'rm', '--force'] },
    { found: images, command: ['image', 'rm', '--force'] },
  ] as const) {
    if (found.length === 0) continue;
    const end = await run(...command, ...new Set(found.map(({ name }) => name)));
    if (end.cause !== 'exited' || end.exitCode !== 0) failed.push(`docker ${command.join(' ')}`);
  }
  const swept = new Set([...containers, ...networks, ...volumes, ...images].map(({ project }) => project));
  return [
    ...[...swept].sort().map((project) => `containers of the trial ${project.replace(/__(env|verifier.*)$/, '')}`),
    ...failed.map((command) => `not all of it could be taken away: \`${command}\` failed`),
  ];
}

/** The beginning of a trial's compose projects, as Harbor forms it of the trial's name. */
export function projectName(trial: string): string {
  const name = trial.toLowerCase();
  return (/^[a-z0-9]/.test(name) ? name : `0${name}`).replace(/[^a-z0-9_-]/g, '-');
}
