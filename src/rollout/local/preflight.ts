import { access, constants, statfs } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { SkilloptError } from '../../ports/failure.ts';
import type { Finding } from '../../ports/preflight.ts';
import { resolveVariables } from './environment.ts';
import type { LocalOptions } from './options.ts';

const leastFreeBytes = 100_000_000;

/** What must hold before a rollout is started here: consent, a place, the commands and variables of the tasks. */
export async function localPreflight(options: LocalOptions): Promise<readonly Finding[]> {
  const [agent, place, problems] = await Promise.all([
    options.agent.preflight(),
    placeFindings(options.tempRoot),
    options.problems(options.tasks),
  ]);
  return [
    ...platformFindings(),
    consentFinding(options.unsandboxedAllowed),
    ...place,
    ...(await bashFindings(options.hostEnv.PATH ?? '')),
    ...variableFindings(options),
    ...problems,
    ...agent,
  ];
}

function platformFindings(): readonly Finding[] {
  if (process.platform !== 'win32') return [];
  return [
    { level: 'error', what: 'the local backend does not run on Windows', where: 'backend local', fix: 'run it in WSL' },
  ];
}

function consentFinding(allowed: boolean): Finding {
  return allowed
    ? { level: 'ok', what: 'agents and verifiers run without a sandbox, as allowed', where: 'backend local', fix: '' }
    : {
        level: 'error',
        what: 'agents and verifiers would run without a sandbox, as you',
        where: 'backend local',
        fix: 'allow it with --allow-unsandboxed, or with "allowUnsandboxed": true in the config',
      };
}

/** Whether rollouts can have their folders there. */
export async function placeFindings(tempRoot: string): Promise<readonly Finding[]> {
  const error = (what: string, fix: string): readonly Finding[] => [{ level: 'error', what, where: tempRoot, fix }];
  try {
    await access(tempRoot, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(tempRoot);
    const freeBytes = bavail * bsize;
    if (freeBytes >= leastFreeBytes) return [];
    return error(`only ${Math.floor(freeBytes / 1e6)} MB are free for rollouts`, 'free some space, or set TMPDIR');
  } catch (cause) {
    return error(
      `rollouts cannot be written there: ${(cause as Error).message}`,
      'set TMPDIR to a folder you can write',
    );
  }
}

/** Verifiers are scripts of bash unless they say otherwise. */
async function bashFindings(path: string): Promise<readonly Finding[]> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    try {
      await access(join(folder, 'bash'), constants.X_OK);
      return [];
    } catch {}
  }
  return [{ level: 'error', what: 'bash is not on PATH', where: 'every task', fix: 'install bash' }];
}

function variableFindings(options: LocalOptions): readonly Finding[] {
  return options.tasks.flatMap((task) =>
    [task.env.environment, task.env.verifier].flatMap((env): readonly Finding[] => {
      try {
        resolveVariables(env, options.variables, task.id);
        return [];
      } catch (error) {
        if (!(error instanceof SkilloptError)) throw error;
        const { what, where, fix } = error.failure;
        return [{ level: 'error', what, where, fix }];
      }
    }),
  );
}
