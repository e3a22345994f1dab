import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Failure, fail } from '../../ports/failure.ts';
import type { FolderTask } from '../../ports/task.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { systemRefusal } from '../local/errors.ts';

/** A job that ended without some of its trials. */
export type EndedJob = {
  readonly name: string;
  /** Where Harbor's own words stand. */
  readonly folder: string;
  readonly tasks: readonly Pick<FolderTask, 'id' | 'dir'>[];
};

type Refusal = {
  readonly says: RegExp;
  readonly failure: (found: RegExpExecArray, job: EndedJob, said: string) => Failure | Promise<Failure>;
};

const taskAt = ({ tasks }: EndedJob, dir: string) => tasks.find((task) => task.dir === dir)?.id ?? basename(dir);
const jobOf = ({ name }: EndedJob) => `Harbor job ${name}`;

/** What Harbor says where it refuses a whole job, and what mends it. */
const refusals: readonly Refusal[] = [
  {
    says: /Docker daemon is not running|Cannot connect to the Docker daemon|Docker is not installed/,
    failure: () =>
      fail(
        'environment-down',
        'Docker does not answer',
        'backend docker',
        'start Docker: `docker info` has to answer',
        { retryable: true },
      ).failure,
  },
  {
    says: /Environment variable '([^']+)' not found/,
    failure: ([, name = '']) =>
      fail('config', `the variable ${name} is not set`, 'the environment', `set it: \`export ${name}=…\``).failure,
  },
  {
    says: /Missing Environment Variables[\s\S]*?\n((?: {2}\S+ +│ .*\n)+)/,
    failure: ([, rows = '']) => {
      const found = [...rows.matchAll(/^ {2}(\S+) +│ +(.*?) *$/gm)].map(([, name = '', phase = '']) => ({
        name,
        phase,
      }));
      const names = [...new Set(found.map(({ name }) => name))];
      const phases = [...new Set(found.map(({ phase }) => phase))];
      return fail(
        'config',
        `${names.length === 1 ? 'a variable is' : 'variables are'} not set: ${names.join(', ')}`,
        `task.toml, ${phases.join(', ')}`,
        `set ${names.length === 1 ? 'it' : 'them'}: \`export ${names.map((name) => `${name}=…`).join(' ')}\``,
      ).failure;
    },
  },
  {
    says: /Error: Local task (.+) not found/,
    failure: ([, dir = ''], job) =>
      fail('pack', `the folder of task ${taskAt(job, dir)} is not there`, dir, 'put the folder back').failure,
  },
  {
    says: /Error: Task directory (.+) declares .+ but does not contain (tests\/\S+?)\.?$/m,
    failure: ([, dir = '', script = ''], job) =>
      fail('pack', `task ${taskAt(job, dir)} has no ${script}`, join(dir, script), 'add the script').failure,
  },
  {
    says: /tomllib\.TOMLDecodeError: (.+)/,
    failure: ([, why = ''], job) =>
      inTask(job, (toml) => toml === null, `task.toml is no TOML: ${why}`, 'mend the file'),
  },
  {
    says: /validation errors? for TaskConfig\W+([\w.]+)\W+(.+?) \[type=.*?input_value=(.+?), input_type=/,
    failure: ([, key = '', why = '', value = ''], job) =>
      inTask(
        job,
        (toml) => toml !== null && pythonic(valueAt(toml, key)) === value,
        `task.toml, ${key}: ${why} (it is ${value})`,
        'change the value',
      ),
  },
  {
    says: /validation errors? for JobConfig\s+(\S+)\s+(.+?) \[type=/,
    failure: ([, key = '', why = ''], job) =>
      fail('config', `Harbor does not take ${key}: ${why}`, jobOf(job), `change what the config says for it`).failure,
  },
  {
    says: /Error: (network_mode='[^']+') is not supported by (\S+)/,
    failure: ([, mode = '', by = ''], job) =>
      inTask(
        job,
        (toml) => asksFor(toml, /'(.+)'/.exec(mode)?.[1] ?? ''),
        `${mode} can’t be enforced by ${by.replace('EnvironmentType.', '').toLowerCase()} here`,
        'run it in an environment that can, or take network_mode out of its task.toml',
      ),
  },
  {
    says: /Error: Skill path does not exist: (.+)/,
    failure: ([, path = '']) =>
      fail('skill', 'the folder of a skill is not there', path, 'put the folder back, or take it out of the config')
        .failure,
  },
  {
    says: /Error: Skill path (.+) must be a skill directory containing SKILL\.md/,
    failure: ([, path = '']) =>
      fail('skill', 'the folder of a skill has no SKILL.md', path, 'add the file, or take the folder out of the config')
        .failure,
  },
  {
    says: /Agent name (\S+) is not valid|Unknown agent:? (\S+)/,
    failure: ([, one, other = '']) =>
      fail(
        'config',
        `Harbor knows no agent ${one ?? other}`,
        'agent',
        'name one that `harbor agent list` has, or a class as module:Class',
      ).failure,
  },
  {
    says: /Failed to import module '(.+?)': (.+)|Module '(.+?)' has no class '(.+?)'/,
    failure: ([, module, why = '', other = '', name = '']) =>
      fail(
        'config',
        module === undefined ? `${other} has no class ${name}` : `${module} can’t be imported: ${why}`,
        'agent or environment, module:Class',
        'check the name, and that the folder it lies in is one that Harbor is given for Python',
      ).failure,
  },
  {
    says: /FileExistsError: Job directory (.+?) already exists/,
    failure: ([, path = '']) =>
      fail(
        'config',
        'a job of this name is there already, with another config',
        path,
        'start again: it gets a new name',
      ).failure,
  },
];

/** Why a job ended without its trials: Harbor refused it as a whole, or was killed. */
export async function abortFailure(end: ProcessEnd, job: EndedJob): Promise<Failure> {
  const where = jobOf(job);
  if (end.cause === 'not-started' && !end.systemRefused)
    return fail(
      'preflight',
      `Harbor could not be started: ${end.detail}`,
      where,
      'install it: `uv tool install harbor`',
    ).failure;
  if (end.systemRefused) return systemRefusal(end.detail, where).failure;
  if (end.cause === 'signal' || end.exitCode === 130)
    return fail('environment-down', 'Harbor was ended by something else', where, 'start it again', { retryable: true })
      .failure;
  const said = `${end.stdout}\n${end.stderr}`;
  for (const { says, failure } of refusals) {
    const found = says.exec(said);
    if (found !== null) return failure(found, job, said);
  }
  return fail(
    'environment-down',
    end.exitCode === 0
      ? 'Harbor ended and left rollouts without a result'
      : `Harbor refused the job: ${lastWords(said)}`,
    where,
    `mend what it names; its own words stand in ${job.folder}`,
  ).failure;
}

/** A failure that lies in one task, which Harbor does not name: the one whose task.toml is so, or none if several are. */
async function inTask(job: EndedJob, isSo: (toml: unknown) => boolean, what: string, fix: string): Promise<Failure> {
  const all = await Promise.all(
    job.tasks.map(async (task) => {
      const text = await readFile(join(task.dir, 'task.toml'), 'utf8').catch(() => null);
      return text !== null && isSo(tomlOf(text)) ? [task] : [];
    }),
  );
  const [task, second] = all.flat();
  if (task === undefined || second !== undefined)
    return fail('pack', what, `a task of ${jobOf(job)}`, `${fix}; \`harbor lint\` names the task`).failure;
  return fail('pack', `task ${task.id}: ${what}`, join(task.dir, 'task.toml'), fix).failure;
}

function tomlOf(text: string): unknown {
  try {
    return Bun.TOML.parse(text);
  } catch {
    return null;
  }
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | null)?.[key], value);
}

/** A value as Python shows it, as far as TOML's plain ones go. */
function pythonic(value: unknown): string {
  if (typeof value === 'string') return value.includes("'") ? `"${value}"` : `'${value}'`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return String(value);
}

/** Does any part of a task ask for this mode of network? */
function asksFor(toml: unknown, mode: string): boolean {
  if (typeof toml !== 'object' || toml === null) return false;
  return Object.entries(toml).some(
    ([key, value]) =>
      (key === 'network_mode' && value === mode) ||
      (key === 'allow_internet' && value === false && mode === 'no-network') ||
      asksFor(value, mode),
  );
}

/** The last line that says something: of a traceback, the error. */
export function lastWords(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^[\s|+-]+/, '').trim())
    .filter((line) => /[A-Za-z]{3}/.test(line) && !/^[⠀-⣿]/.test(line) && !/^\S+ \d+\/\d+ /.test(line));
  const error = lines.findLast((line) => /^[\w.]*(Error|Exception)\b/.test(line));
  return (error ?? lines.at(-1) ?? 'without a word').slice(0, 400);
}
