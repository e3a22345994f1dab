import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ImportCommandOptions } from '../import.ts';

/** As in `taskpack/imports`, which is loaded when the command is called. */
const formats = ['auto', 'skill-creator', 'promptfoo', 'skillopt', 'harbor'];

export function importCommand(program: Command, context: CommandContext): void {
  program
    .command('import')
    .summary('make a task pack of tasks that you have in another format')
    .description(
      'Makes a pack of SOURCE: the evals.json of a skill or a list of prompts with should_trigger (skill-creator), a promptfooconfig.yaml or a file of its tests, a folder with train/, val/ and test/ (SkillOpt), or a dataset of Harbor task folders. SOURCE is only read, and nothing is written over. What can’t be carried over is told, and stands whole in IMPORT.md of the pack.',
    )
    .argument('<source>', 'file or folder')
    .option('--to <dir>', 'where the pack is made (default: SOURCE’s name with -pack, in the working directory)')
    .addOption(
      new Option('--format <format>', 'what SOURCE is; auto: by what it holds').choices(formats).default('auto'),
    )
    .option(
      '--glob <pattern>',
      'which folders of a Harbor dataset are tasks, such as "org/*/task-*" (default: all that hold a task.toml)',
    )
    .option('--strict', 'fail, and make nothing, when anything can’t be carried over as it is')
    .action(async (source: string, options: ImportCommandOptions) => {
      const { importTasks } = await import('../import.ts');
      await importTasks(source, options, context);
    });
}
