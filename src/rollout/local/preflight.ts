import { access, constants, statfs } from 'node:fs/promises';
import { SkilloptError } from '../../ports/failure.ts';
import type { Finding } from '../../ports/preflight.ts';
import { resolveVariables } from './environment.ts';
import type { LocalOptions } from './options.ts';
import { megabyte } from './sandbox/bounded-start.ts';
import type { Sandbox } from './sandbox.ts';
import { sightFindings } from './sight.ts';

const leastFreeBytes = 100_000_000;

/** What must hold before a rollout is started here: walls or consent, a place, the commands and variables of the tasks. */
export async function localPreflight(options: LocalOptions): Promise<readonly Finding[]> {
  const [agent, place, sight] = await Promise.all([
    options.agent.preflight(),
    placeFindings(options.tempRoot, options.limits === null ? 0 : options.limits.diskMb * megabyte),
    sightFindings(options),
  ]);
  return [
    ...platformFindings(),
    ...wallFindings(options),
    ...place,
    ...(await networkFindings(options)),
    ...variableFindings(options),
    ...sight,
    ...agent,
  ];
}

function platformFindings(): readonly Finding[] {
  if (process.platform !== 'win32') return [];
  return [
    { level: 'error', what: 'the local backend does not run on Windows', where: 'backend local', fix: 'run it in WSL' },
  ];
}

/** Why rollouts of these walls need the user's consent, and what else would do; null = they don't. */
export function noConsent(sandbox: Sandbox): { readonly what: string; readonly fix: string } | null {
  if (sandbox.kind !== 'none') return null;
  const what = 'agents and verifiers would run without a sandbox, as you';
  const { instead } = sandbox;
  return instead === null
    ? { what, fix: 'allow it with --allow-unsandboxed, or with "allowUnsandboxed": true in the config' }
    : { what: `${what}: ${instead.what}`, fix: instead.fix };
}

/** Which walls there are, and what they can't hold. */
function wallFindings({ sandbox, network, unsandboxedAllowed }: LocalOptions): readonly Finding[] {
  const where = 'backend local';
  const missing = noConsent(sandbox);
  if (missing !== null && !unsandboxedAllowed) return [{ level: 'error', ...missing, where }];
  const because = sandbox.instead === null ? '' : ` (${sandbox.instead.what})`;
  const what =
    missing === null
      ? `agents and verifiers run within ${sandbox.version}: they see their own folders and the system, ${network === 'off' ? 'and no network' : 'and the network'}`
      : `agents and verifiers run without a sandbox, as allowed${because}`;
  return [
    { level: 'ok', what, where, fix: '' },
    ...sandbox.gaps.map(
      (gap): Finding => ({ level: 'warning', what: gap, where, fix: 'docs/sandbox.md says what each sandbox holds' }),
    ),
  ];
}

/** Whether rollouts can have their folders there, of which one may grow to so many bytes. */
export async function placeFindings(tempRoot: string, mostBytes = 0): Promise<readonly Finding[]> {
  const finding = (level: 'error' | 'warning', what: string, fix: string): readonly Finding[] => [
    { level, what, where: tempRoot, fix },
  ];
  try {
    await access(tempRoot, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(tempRoot);
    const freeBytes = bavail * bsize;
    const free = `only ${Math.floor(freeBytes / megabyte)} MB are free for rollouts`;
    if (freeBytes < leastFreeBytes) return finding('error', free, 'free some space, or set TMPDIR');
    if (freeBytes >= mostBytes) return [];
    return finding(
      'warning',
      `${free}, less than one of them may write (${mostBytes / megabyte} MB)`,
      'free some space, or set a lower "sandbox": {"diskMb": …}',
    );
  } catch (cause) {
    return finding(
      'error',
      `rollouts cannot be written there: ${(cause as Error).message}`,
      'set TMPDIR to a folder you can write',
    );
  }
}

/** An agent that goes to its vendor by itself, where nothing else has a network. */
async function networkFindings({ agent, network, sandbox }: LocalOptions): Promise<readonly Finding[]> {
  if (network === 'on' || sandbox.kind === 'none' || agent.needs === undefined) return [];
  try {
    if (!(await agent.needs()).network) return [];
  } catch (error) {
    if (!(error instanceof SkilloptError)) throw error;
    const { what, where, fix } = error.failure;
    return [{ level: 'error', what, where, fix }];
  }
  return [
    {
      level: 'warning',
      what: `the sandbox is open to every network for ${agent.name}, which talks to its vendor by itself, and for what it starts; verifiers have none`,
      where: 'sandbox.network',
      fix: 'let it in by a key ("login": "key"): that goes through the gateway, and no network is open',
    },
  ];
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
