import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../ports/hash.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { lastWords } from './abort.ts';
import { askHarbor } from './harbor-process.ts';
import { jobConfig, overlayText } from './job-config.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { laySkill } from './skills.ts';

const placeholder = '---\nname: preflight\ndescription: Stands where the skill under test will.\n---\nNothing.\n';

/**
 * Harbor itself looks at every task and at the job as it will be written, and runs nothing. `folder` is for the files of
 * this and taken away by the caller. `withSkill`: the agent can be given one.
 */
export async function dryRunFindings(
  o: HarborOptions,
  folder: string,
  withSkill: boolean,
): Promise<readonly Finding[]> {
  if (o.tasks.length === 0) return [];
  const skill = { name: 'preflight', hash: sha256(placeholder), text: placeholder, bundleDir: null };
  const { dir } = await laySkill(skill, join(folder, 'skills'));
  const overlay = isDocker(o.environment) ? join(folder, 'overlay.yaml') : null;
  if (overlay !== null) await writeFile(overlay, overlayText(o.sessionId, 'preflight'));
  const job = {
    entries: [{ id: 'preflight', skill: withSkill ? skill : null }],
    tasks: o.tasks,
    untimed: o.tasks.some(({ agentTimeoutSec }) => agentTimeoutSec === null),
    requests: new Map(),
  };
  const config = jobConfig(job, o, {
    name: 'preflight',
    jobsDir: join(folder, 'jobs'),
    concurrency: 1,
    overlay,
    skillDir: () => (withSkill ? dir : null),
  });
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify(config));
  const end = await askHarbor(o, ['run', '-c', file, '-y', '--dry-run'], folder);
  if (end.cause === 'exited' && end.exitCode === 0) return [];
  const broken = await brokenTasks(o);
  if (broken.length > 0) return broken;
  return [refusal(end, o.tasks)];
}

/** Why Harbor refused, in its own words, and which task it names. */
export function refusal(end: ProcessEnd, tasks: readonly Pick<FolderTask, 'id' | 'dir'>[]): Finding {
  const said =
    end.cause === 'timeout'
      ? 'it did not answer in time'
      : end.cause === 'not-started'
        ? end.detail
        : (reasonIn(end.stdout) ?? lastWords(`${end.stdout}\n${end.stderr}`));
  const task = tasks.find(
    ({ dir }) => said.includes(`${dir}/`) || new RegExp(`${RegExp.escape(dir)}(?![\\w.-])`).test(said),
  );
  return {
    level: 'error',
    what: `Harbor would refuse the job: ${said}`,
    where: task === undefined ? '`harbor run --dry-run`' : `task ${task.id} (${task.dir})`,
    fix: task === undefined ? 'mend what it names' : 'mend what it names, or take the task out of the pack',
  };
}

/** What stands behind `Dry run failed:`, as one line; null = there is none. */
export function reasonIn(stdout: string): string | null {
  const [, reason] = /Dry run failed:\s*([\s\S]*)$/.exec(stdout) ?? [];
  if (reason === undefined) return null;
  const lines = reason
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('For further information'));
  return lines.length === 0 ? null : lines.join(' ').slice(0, 600);
}

const lintShape = z.array(
  z.object({ rule: z.string(), path: z.string(), message: z.string(), line: z.number().nullable().catch(null) }),
);

/** Each broken task by name: the dry run stops at the first, and does not always say which it is. */
async function brokenTasks(o: HarborOptions): Promise<readonly Finding[]> {
  const end = await askHarbor(o, ['lint', '--json', ...o.tasks.map(({ dir }) => dir)], '/');
  return lintFindings(end.stdout, o.tasks);
}

/** What of the findings of `harbor lint --json` makes a task invalid. */
export function lintFindings(stdout: string, tasks: readonly Pick<FolderTask, 'id' | 'dir'>[]): readonly Finding[] {
  let found: z.output<typeof lintShape>;
  try {
    found = lintShape.parse(JSON.parse(stdout));
  } catch {
    return [];
  }
  const all = new Map<string, string[]>();
  for (const { rule, path, message } of found) {
    if (!rule.startsWith('invalid-')) continue;
    const task = tasks.find(({ dir }) => path === dir || path.startsWith(`${dir}/`));
    const key = `${task === undefined ? '' : `task ${task.id}: `}${path}`;
    all.set(key, [...(all.get(key) ?? []), message.replace(/[;,.]\s*$/, '')]);
  }
  return [...all].map(([where, messages]) => ({
    level: 'error',
    what: `Harbor takes this task for invalid: ${messages.join('; ')}`,
    where,
    fix: 'mend it, or take the task out of the pack',
  }));
}
