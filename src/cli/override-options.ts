import { Option } from 'commander';

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
