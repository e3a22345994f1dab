import { runProcess } from '../../process/run-process.ts';
import { JOB_LABEL, SESSION_LABEL } from './job-config.ts';

/** How long one command of Docker may take. */
const dockerMs = 60_000;

type Docker = { readonly env: Readonly<Record<string, string>>; readonly cwd: string };

/**
 * Takes away containers, networks, volumes and images that trials left: those of containers that carry our label, and
 * those of `trials` by their folders' names, as a trial that died early has no container. Returns a line for each, for
 * people; what cannot be taken away is told, too. Without Docker there is nothing.
 */
export async function sweepDocker(
  of: { readonly session: string } | { readonly job: string },
  trials: readonly string[],
  docker: Docker,
): Promise<readonly string[]> {
  const label = 'job' in of ? `${JOB_LABEL}=${of.job}` : `${SESSION_LABEL}=${of.session}`;
  const list = async (...args: [string, ...string[]]) => {
    const end = await runProcess({ command: ['docker', ...args], ...docker, timeoutMs: dockerMs });
    return end.cause === 'exited' && end.exitCode === 0 ? end.stdout.split('\n').filter((line) => line !== '') : [];
  };
  const project = '{{.Label "com.docker.compose.project"}}';
  const ours = await list('ps', '--all', '--filter', `label=${label}`, '--format', project);
  const names = new Set(trials.map((name) => `${name.toLowerCase()}__`));
  const found = new Set(ours.filter((name) => name !== ''));
  if (names.size > 0) {
    const all = [
      ...(await list('ps', '--all', '--filter', 'label=com.docker.compose.project', '--format', project)),
      ...(await list('network', 'ls', '--filter', 'label=com.docker.compose.project', '--format', project)),
      ...(await list('image', 'ls', '--format', '{{.Repository}}')).map((name) => name.replace(/-main$/, '')),
    ];
    for (const name of all) if ([...names].some((begin) => name.startsWith(begin))) found.add(name);
  }
  const lines: string[] = [];
  for (const name of found) {
    const end = await runProcess({
      command: ['docker', 'compose', '-p', name, 'down', '--rmi', 'local', '-v', '--remove-orphans', '-t', '1'],
      ...docker,
      timeoutMs: dockerMs,
    });
    const went = end.cause === 'exited' && end.exitCode === 0;
    await list('image', 'rm', '--force', `${name}-main`);
    lines.push(
      went
        ? `containers of the trial ${name}`
        : `containers of the trial ${name} could not be taken away; \`docker compose -p ${name} down\` does`,
    );
  }
  return lines;
}
