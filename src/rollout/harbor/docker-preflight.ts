import { randomBytes } from 'node:crypto';
import { statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Finding } from '../../ports/preflight.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { runProcess } from '../../process/run-process.ts';
import { harborEnvironment } from './harbor-env.ts';
import { harborMark } from './harbor-process.ts';
import { SESSION_LABEL } from './job-config.ts';
import type { HarborOptions } from './options.ts';
import type { TaskNeeds } from './task-needs.ts';

const where = 'backend docker';
const error = (what: string, fix: string): Finding => ({ level: 'error', what, where, fix });
const warning = (what: string, fix: string): Finding => ({ level: 'warning', what, where, fix });
const ok = (what: string): Finding => ({ level: 'ok', what, where, fix: '' });

const questionMs = 60_000;
const gigabyte = 1_000_000_000;
const [warnBelow, errorBelow] = [5 * gigabyte, gigabyte];

/** Asks Docker something, in the environment that Harbor has. */
export function askDocker(
  o: HarborOptions,
  args: readonly string[],
  timeoutMs: number = questionMs,
): Promise<ProcessEnd> {
  return runProcess({
    command: ['docker', ...args],
    cwd: '/',
    env: harborEnvironment(o),
    timeoutMs,
    mark: harborMark(o.sessionId, 'question'),
  });
}

const succeeded = (end: ProcessEnd) => end.cause === 'exited' && end.exitCode === 0;
const lastLine = (end: ProcessEnd) => end.stderr.trim().split('\n').at(-1) || end.detail || `exit code ${end.exitCode}`;

/** What is known of an engine that answers. */
export type Engine = { readonly version: string; readonly root: string };
export type DockerFound = { readonly findings: readonly Finding[]; readonly engine: Engine | null };

const infoShape = z.object({
  ServerVersion: z.string().min(1),
  DockerRootDir: z.string().catch(''),
});

/** Whether the engine answers, and compose with it. */
export async function dockerFindings(o: HarborOptions): Promise<DockerFound> {
  const [info, compose] = await Promise.all([
    askDocker(o, ['info', '--format', '{{json .}}']),
    askDocker(o, ['compose', 'version', '--short']),
  ]);
  if (info.cause === 'not-started')
    return {
      findings: [error(`Docker is not installed: ${info.detail}`, 'install Docker, or name another "backend"')],
      engine: null,
    };
  const engine = engineOf(info);
  if (engine === null)
    return {
      findings: [
        info.cause === 'timeout'
          ? error(`Docker does not answer within ${questionMs / 1_000} s`, 'start it anew: `docker info` has to answer')
          : error(
              `Docker does not answer: ${lastLine(info)}`,
              'start Docker, and see that you may use it: `docker info` has to answer',
            ),
      ],
      engine: null,
    };
  const [, major] = /^v?(\d+)\./.exec(compose.stdout.trim()) ?? [];
  if (!succeeded(compose) || Number(major ?? 0) < 2)
    return {
      findings: [
        error(
          'Docker has no `docker compose` (version 2), with which Harbor starts every trial',
          'install the plugin docker-compose-v2 (or docker-compose-plugin)',
        ),
      ],
      engine: null,
    };
  return { findings: [ok(`Docker ${engine.version}, compose ${compose.stdout.trim()}`)], engine };
}

function engineOf(info: ProcessEnd): Engine | null {
  if (!succeeded(info)) return null;
  try {
    const { ServerVersion: version, DockerRootDir: root } = infoShape.parse(JSON.parse(info.stdout));
    return { version, root };
  } catch {
    return null;
  }
}

/** The images that tasks start from, parted by whether they are here; each is looked for once. */
export async function imagesHere(
  o: HarborOptions,
  needs: readonly TaskNeeds[],
): Promise<{ readonly here: readonly string[]; readonly missing: readonly string[] }> {
  const names = [...new Set(needs.flatMap(({ images }) => images))].sort();
  const found = new Set<string>();
  const left = [...names];
  const look = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift())
      if (succeeded(await askDocker(o, ['image', 'inspect', '--format', '{{.Id}}', name]))) found.add(name);
  };
  await Promise.all(Array.from({ length: 4 }, look));
  return { here: names.filter((name) => found.has(name)), missing: names.filter((name) => !found.has(name)) };
}

/** Images that the first trials would have to pull. */
export function missingImageFindings(missing: readonly string[]): readonly Finding[] {
  if (missing.length === 0) return [];
  const are = missing.length === 1 ? 'image of the tasks is' : 'images of the tasks are';
  return [
    warning(
      `${missing.length} ${are} not here, and pulled by the first trials: ${bounded(missing)}`,
      bounded(missing.map((name) => `\`docker pull ${name}\``)),
    ),
  ];
}

const most = 5;
const bounded = (names: readonly string[]) =>
  names.length <= most ? names.join(', ') : `${names.slice(0, most).join(', ')} and ${names.length - most} more`;

/**
 * Whether a container sees a folder of the session, and how much room Docker has, by one container of an image that is
 * here: only that is true for Docker in a machine of its own, too. `folder` lies where trials will.
 */
export async function placeFindings(
  o: HarborOptions,
  engine: Engine,
  folder: string,
  here: readonly string[],
): Promise<readonly Finding[]> {
  const word = randomBytes(8).toString('hex');
  await writeFile(join(folder, 'seen'), word);
  for (const image of [...here, ...(await someImages(o))].slice(0, 3)) {
    const end = await runOnce(o, [
      '--pull',
      'never',
      '--network',
      'none',
      '--mount',
      `type=bind,source=${folder},target=/skillopt-seen,readonly`,
      '--entrypoint',
      'sh',
      image,
      '-c',
      'cat /skillopt-seen/seen; echo; df -Pk / 2>/dev/null',
    ]);
    if (/executable file not found|no such file or directory: unknown/i.test(end.stderr)) continue; // no sh in it
    if (succeeded(end) && end.stdout.startsWith(word))
      return [ok('a container sees the session’s folder'), ...roomFindings(freeIn(end.stdout), engine.root)];
    return [
      succeeded(end) || /bind source path does not exist|mounts denied|not shared|invalid mount/i.test(end.stderr)
        ? error(
            `a container does not see the session’s folder ${folder}, where Harbor keeps what trials write`,
            'Docker runs elsewhere or shares other folders: share this one (Docker Desktop: Settings, Resources, File sharing), or put the session where Docker sees it',
          )
        : error(`Docker can’t start a container of ${image}: ${lastLine(end)}`, 'mend what it says'),
    ];
  }
  return [
    ok('whether a container sees the session’s folder is seen at the first trial: no image is here to try it with'),
    ...(await roomOf(engine)),
  ];
}

/** Some image that is here, the newest first. */
async function someImages(o: HarborOptions): Promise<readonly string[]> {
  const end = await askDocker(o, ['image', 'ls', '--quiet', '--no-trunc']);
  return succeeded(end) ? end.stdout.split('\n').filter((line) => line !== '') : [];
}

/** Runs a container that is gone afterwards, whatever becomes of it. `args` stand behind `docker run`. */
export async function runOnce(o: HarborOptions, args: readonly string[], timeoutMs = questionMs): Promise<ProcessEnd> {
  const name = `skillopt-preflight-${randomBytes(4).toString('hex')}`;
  const label = `${SESSION_LABEL}=${o.sessionId}`;
  const end = await askDocker(o, ['container', 'run', '--rm', '--name', name, '--label', label, ...args], timeoutMs);
  if (end.cause !== 'exited') await askDocker(o, ['rm', '--force', name]);
  return end;
}

/** Free bytes of the last row that `df -Pk` prints; null = it printed none. */
export function freeIn(stdout: string): number | null {
  const [, kilobytes] = /^\S+\s+\d+\s+\d+\s+(\d+)\s+\S+\s+\/\s*$/m.exec(stdout) ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
}

/** Free room of an engine on this machine; nothing where its folder is not one of ours. */
export async function roomOf({ root }: Engine): Promise<readonly Finding[]> {
  return roomFindings(await freeAt(root), root);
}

async function freeAt(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Free room of Docker; null = not known. */
export function roomFindings(freeBytes: number | null, root: string): readonly Finding[] {
  if (freeBytes === null || freeBytes >= warnBelow) return [];
  const what = `only ${(freeBytes / gigabyte).toFixed(1)} GB are free for Docker’s images and containers (${root})`;
  const fix = 'free some space: `docker system prune` takes away what nothing uses';
  return [freeBytes < errorBelow ? error(what, fix) : warning(what, fix)];
}
