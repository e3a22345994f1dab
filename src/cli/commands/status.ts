import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

export function statusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .summary('where a session stands, read from its log; changes nothing')
    .description(
      'Shows baseline, steps, draft and result as the log has them. Changes nothing, takes no lock: a running session can be looked at.',
    )
    .argument('[dir]', 'directory of the session', '.')
    .action(async (dir: string) => {
      const { status } = await import('../status.ts');
      status(dir, context);
    });
}
