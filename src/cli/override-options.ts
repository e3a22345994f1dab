import { InvalidArgumentError, Option } from 'commander';

/** What sets keys of a config on the command line, as typed. */
export type OverrideOptions = {
  readonly set?: readonly string[];
  readonly cfgOptions?: readonly string[];
};

const collect = (text: string, before: readonly string[] | undefined) => [...(before ?? []), text];

/** `--set`, for a command that reads a config: `.addOption(setOption())`. */
export function setOption(): Option {
  return new Option(
    '--set <key=value>',
    'set a key of the config, such as gate.rule=careful; may be given again',
  ).argParser(collect);
}

/** `--cfg-options`, for the same commands. */
export function cfgOption(): Option {
  return new Option(
    '--cfg-options <name=value...>',
    'set keys by SkillOpt’s names, such as train.num_epochs=2 env.limit=20',
  ).argParser(collect);
}

/** The flags of `run` that stand for one key each, as `KeyFlags` of `layered-config.ts` has them. */
export function keyOptions(): readonly Option[] {
  const option = (flags: string, description: string, read: (text: string) => number) =>
    new Option(flags, description).argParser(read);
  return [
    option('--budget <rollouts>', 'rollouts that decisions may consume', count),
    option('--limit-rollouts <n>', 'hard limit on rollouts started, run-ahead included', count),
    option('--limit-minutes <n>', 'hard limit on the search’s running time', minutes),
    option('--limit-usd <amount>', 'hard limit in US dollars over all roles', amount),
    option('--limit-tokens <n>', 'hard limit on tokens over all roles', count),
    option('--workers <n>', 'rollouts at a time', count),
  ];
}

function count(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('give a whole number of at least 1');
  return n;
}

function amount(text: string): number {
  const n = Number(text.replace(/^\$/, ''));
  if (!(n > 0)) throw new InvalidArgumentError('give an amount in US dollars, more than 0');
  return n;
}

function minutes(text: string): number {
  const n = Number(text);
  if (!(n >= 0.1)) throw new InvalidArgumentError('give a number of minutes, at least 0.1');
  return n;
}
