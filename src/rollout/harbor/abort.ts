import { type Failure, fail } from '../../ports/failure.ts';
import type { ProcessEnd } from '../../process/process-end.ts';

/** Where Harbor's words of a whole job's end lead: what it says, and the fix. */
const known: readonly {
  readonly says: RegExp;
  readonly failure: (found: RegExpExecArray, where: string) => Failure;
}[] = [
  {
    says: /Docker daemon is not running|Cannot connect to the Docker daemon|Docker is not installed/,
    failure: () =>
      fail(
        'environment-down',
        'Docker does not answer',
        'backend docker',
        'start Docker: `docker info` has to answer',
        {
          retryable: true,
        },
      ).failure,
  },
  {
    says: /Environment variable '([^']+)' not found/,
    failure: ([, name = ''], where) =>
      fail('config', `the variable ${name} is not set`, where, `set ${name} in the environment`).failure,
  },
  {
    says: /(network_mode='[^']+') is not supported by (\S+)/,
    failure: ([, mode = '', by = ''], where) =>
      fail(
        'config',
        `a task asks for ${mode}, which ${by.replace('EnvironmentType.', '').toLowerCase()} can’t enforce here`,
        where,
        'run these tasks in an environment that can, or take network_mode out of their task.toml',
      ).failure,
  },
  {
    says: /Unknown agent|is not a valid AgentName/,
    failure: (_, where) =>
      fail('config', 'Harbor knows no such agent', where, 'name one that `harbor agent list` has').failure,
  },
];

/** Why a job ended without its trials: Harbor refused it as a whole, or was killed. */
export function abortFailure(end: ProcessEnd, job: string, folder: string): Failure {
  const where = `Harbor job ${job}`;
  if (end.cause === 'not-started')
    return fail(
      'preflight',
      `Harbor could not be started: ${end.detail}`,
      where,
      'install it: `uv tool install harbor`',
    ).failure;
  if (end.cause === 'signal' || end.exitCode === 130)
    return fail('environment-down', 'Harbor was ended by something else', where, 'start it again', { retryable: true })
      .failure;
  const said = `${end.stdout}\n${end.stderr}`;
  for (const { says, failure } of known) {
    const found = says.exec(said);
    if (found !== null) return failure(found, where);
  }
  return fail(
    'environment-down',
    end.exitCode === 0
      ? 'Harbor ended and left rollouts without a result'
      : `Harbor refused the job: ${lastWords(said)}`,
    where,
    `mend what it names; its own words stand in ${folder}`,
  ).failure;
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
