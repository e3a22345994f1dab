import type { Command } from 'commander';
import type { ConfigShowOptions } from '../config-show.ts';
import type { CommandContext } from '../context.ts';
import { cfgOption, keyOptions, setOption } from '../override-options.ts';

export function configCommand(program: Command, context: CommandContext): void {
  const config = program
    .command('config')
    .summary('what a session is configured with, and where each value comes from')
    .description('Shows the config that a run would have, or the JSON Schema of a config.');
  const show = config
    .command('show')
    .summary('every key with its value and where that comes from')
    .description(
      'Shows the config that `skillopt run DIR` with the same flags would have: defaults, under the file, under variables such as SKILLOPT_BUDGET_ROLLOUTS, under flags. What a flag of an earlier run has set stands in the session log. With --json each key has its variable and its meaning, too. Changes nothing.',
    )
    .argument('[dir]', 'directory of the session', '.')
    .option('--changed', 'only what is not a default')
    .addOption(setOption())
    .addOption(cfgOption());
  for (const option of keyOptions()) show.addOption(option);
  show.action(async (dir: string, options: ConfigShowOptions) => {
    const { configShow } = await import('../config-show.ts');
    configShow(dir, options, context);
  });
  config
    .command('schema')
    .summary('the JSON Schema of skillopt.config.json')
    .description(
      'Prints the JSON Schema of skillopt.config.json. With --write it is written beside the config of DIR as skillopt.config.schema.json, as a session that begins does; a file of yours of that name is never overwritten. An editor checks a config that names it: "$schema": "./skillopt.config.schema.json".',
    )
    .argument('[dir]', 'directory of the session', '.')
    .option('--write', 'write it beside the config')
    .action(async (dir: string, options: { readonly write?: boolean }) => {
      const { printSchema } = await import('../config-schema.ts');
      printSchema(dir, options, context);
    });
}
