import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { FinalizeOptions } from '../finalize.ts';
import { cfgOption, setOption } from '../override-options.ts';
import { PLAIN, WAIT_FOR_RESET, YES } from '../show.ts';

export function finalizeCommand(program: Command, context: CommandContext): void {
  program
    .command('finalize')
    .summary('open the sealed test, once, and hand over the result')
    .description(
      'Measures the test split: seed, result and no skill together (of a description seed and result), once. A session that was finalized shows its numbers again; nothing is measured twice. With --apply the result is written over the source skill, if that still is what the session began with.',
    )
    .argument('[dir]', 'directory of the session', '.')
    .option('--apply', 'write the result over the source SKILL.md')
    .addOption(setOption())
    .addOption(cfgOption())
    .option('--allow-unsandboxed', 'consent to run rollouts in plain folders on this machine')
    .option('--yes', YES)
    .option('--plain', PLAIN)
    .option('--wait-for-reset', WAIT_FOR_RESET)
    .action((dir: string, options: FinalizeOptions) =>
      context.stage.during(async () => {
        const { finalize } = await import('../finalize.ts');
        await finalize(dir, options, context);
      }),
    );
}
