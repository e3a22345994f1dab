import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { type Failure, fail } from '../../ports/failure.ts';
import type { Finding } from '../../ports/preflight.ts';
import { type Check, folderTasks, type PromptTask, promptTasks } from '../../ports/task.ts';
import { placeFindings } from '../local/preflight.ts';
import { sameName } from '../trigger/trigger-request.ts';
import type { CommandCheck } from './command-check.ts';
import type { ChatOptions } from './options.ts';

/** Does this check start a program? */
export function runsCode(check: Check): check is CommandCheck {
  return check.kind === 'command';
}

/** Why a task folder can't be asked of a model. */
export function notAPrompt(task: string): Failure {
  const what = 'this task is a folder, and the backend chat asks for the prompts of a pack';
  return fail('config', what, `task ${task}`, 'set "backend": "local"').failure;
}

/** What must hold before a model is asked: the model itself, prompts, and for checks that are commands consent, a place and the programs. */
export async function chatPreflight(options: ChatOptions): Promise<readonly Finding[]> {
  const prompts = promptTasks(options.tasks);
  if (options.measures === 'description')
    return [...folderFindings(options), ...collisionFindings(options, prompts), ...(await options.model.preflight())];
  const withCommands = prompts.filter((task) => task.checks.some(runsCode));
  return [
    ...folderFindings(options),
    ...uncheckedFindings(prompts),
    ...bundleFindings(options.bundledFiles ?? []),
    ...(await options.model.preflight()),
    ...(withCommands.length === 0
      ? []
      : [
          consentFinding(options.unsandboxedAllowed, withCommands),
          ...(await placeFindings(options.tempRoot)),
          ...programFindings(withCommands, options.hostEnv.PATH ?? ''),
        ]),
  ];
}

function folderFindings({ tasks }: ChatOptions): readonly Finding[] {
  const [first, ...rest] = folderTasks(tasks);
  if (first === undefined) return [];
  const { what, fix } = notAPrompt(first.id);
  const where = rest.length === 0 ? `task ${first.id}` : `task ${first.id} and ${rest.length} more`;
  return [{ level: 'error', what, where, fix }];
}

/** Tasks that only say whether the skill is meant for them: nothing would score an answer. */
function uncheckedFindings(prompts: readonly PromptTask[]): readonly Finding[] {
  const [first, ...rest] = prompts.filter((task) => task.checks.length === 0);
  if (first === undefined) return [];
  const where = rest.length === 0 ? `task ${first.id}` : `task ${first.id} and ${rest.length} more`;
  const what = 'a task that only says should_trigger: nothing would score an answer';
  return [{ level: 'error', what, where, fix: 'add "answer": "…" or "checks": […], or set "optimize": "description"' }];
}

/** Another skill of the same name in the list: nobody could tell which of the two was opened. */
function collisionFindings({ skillName }: ChatOptions, prompts: readonly PromptTask[]): readonly Finding[] {
  const others = prompts.find((task) => task.otherSkills !== undefined)?.otherSkills ?? [];
  const twin = others.find(({ name }) => skillName !== undefined && sameName(name, skillName));
  if (twin === undefined) return [];
  const what = `otherSkills names ${twin.name}, which is the skill itself: it is listed once, with the description under test`;
  return [{ level: 'warning', what, where: 'the pack', fix: `take ${twin.name} out of otherSkills` }];
}

function bundleFindings(files: readonly string[]): readonly Finding[] {
  const [first] = files;
  if (first === undefined) return [];
  const what = `a model in a chat sees SKILL.md alone: ${files.length === 1 ? `not ${first}` : `none of the ${files.length} files beside it, such as ${first}`}`;
  return [
    { level: 'warning', what, where: 'skill', fix: 'let SKILL.md say what is needed, or use a backend with an agent' },
  ];
}

function consentFinding(allowed: boolean, tasks: readonly PromptTask[]): Finding {
  const [first] = tasks;
  const where = tasks.length === 1 ? `task ${first?.id}` : `task ${first?.id} and ${tasks.length - 1} more`;
  return allowed
    ? { level: 'ok', what: 'commands of checks run without a sandbox, as allowed', where, fix: '' }
    : {
        level: 'error',
        what: 'commands of checks would run without a sandbox, as you',
        where,
        fix: 'allow it with --allow-unsandboxed, or with "allowUnsandboxed": true in the config',
      };
}

/** A program with a path is looked for when it runs: it may be a file of the check. */
function programFindings(tasks: readonly PromptTask[], path: string): readonly Finding[] {
  const missing = new Map<string, string>();
  for (const task of tasks)
    for (const check of task.checks.filter(runsCode)) {
      const [program = ''] = check.command;
      if (!missing.has(program) && !program.includes('/') && !isOnPath(program, path)) missing.set(program, task.id);
    }
  return [...missing].map(([program, task]) => ({
    level: 'error',
    what: `a check needs the command ${program}, which is not on PATH`,
    where: `task ${task}`,
    fix: `install ${program}`,
  }));
}

function isOnPath(program: string, path: string): boolean {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .some((folder) => {
      try {
        accessSync(join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
