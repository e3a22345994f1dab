import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

export function verifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .summary('recompute every number and every verdict of a session or an eval from its log, offline')
    .description(
      'Replays the log without performing anything: every decision must follow again from the outcomes that stand there, every line from the one before, every text from its hash. A changed byte of the log, of a text that it names or of a derived file is found. Writes nothing.',
    )
    .argument('[dir]', 'directory of the session or the eval', '.')
    .action(async (dir: string) => {
      const { verify } = await import('../verify.ts');
      await verify(dir, context);
    });
}
