import { Option } from 'commander';
import { amount, count, minutes } from './values.ts';

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
