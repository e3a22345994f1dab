import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { cfgOption, setOption } from '../override-options.ts';
import { DELAY, milliseconds, PLAIN, WAIT_FOR_RESET, YES } from '../show.ts';
import type { TryOptions } from '../try.ts';

export function tryCommand(program: Command, context: CommandContext): void {
  program
    .command('try')
    .summary('put your own edit of the skill into the draft, and through the same gate')
    .description(
      'Takes FILE, your edited copy of the skill (of best_skill.md, of the draft or of the seed, whichever is nearest), hands in what differs as edits of yours, and goes on with the session of DIR until the gate has decided about them. They go into the draft as any others do; with --cites an edit is first tried on that train task, if it fails. They stand in the log as an input. Only what the session optimizes may differ: the body, or the description.',
    )
    .argument('<file>', 'the edited SKILL.md')
    .argument('[dir]', 'directory of the session', '.')
    .option('--cites <task>', 'the train task that the edit should fix')
    .option('--reason <text>', 'why it should help, for the record and for the optimizer')
    .option('--go-on', 'go on with the search after the gate')
    .addOption(setOption())
    .addOption(cfgOption())
    .option('--allow-unsandboxed', 'consent to run rollouts in plain folders on this machine')
    .option('--yes', YES)
    .option('--plain', PLAIN)
    .option('--wait-for-reset', WAIT_FOR_RESET)
    .option('--delay <ms>', DELAY, milliseconds)
    .action(async (file: string, dir: string, options: TryOptions) => {
      await context.stage.during(async () => {
        const { tryEdit } = await import('../try.ts');
        await tryEdit(file, dir, options, context);
      });
    });
}
