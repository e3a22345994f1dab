import type { Command } from 'commander';
import type { CleanOptions } from '../clean.ts';
import type { CommandContext } from '../context.ts';

export function cleanCommand(program: Command, context: CommandContext): void {
  program
    .command('clean')
    .summary('end and remove what rollouts left on this machine')
    .description(
      'Ends processes and removes folders that rollouts of the session or eval left (after a kill; a start does so, too), and the kept workspaces of failed rollouts. Log, skills, report and trajectories stay.',
    )
    .argument('[dir]', 'directory of the session or the eval', '.')
    .option('--preloads', 'remove what was installed for rollouts, too; the next start installs it again')
    .option('--temp', 'instead: folders of any session in the temporary folder that nobody has touched for a day')
    .action(async (dir: string, options: CleanOptions) => {
      const { clean } = await import('../clean.ts');
      await clean(dir, options, context);
    });
}
