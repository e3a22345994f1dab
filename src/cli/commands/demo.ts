import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { DELAY, milliseconds, PLAIN, type Show, YES } from '../show.ts';

export function demoCommand(program: Command, context: CommandContext): void {
  program
    .command('demo')
    .summary('the whole job in seconds, without a model: a rehearsal of the bundled example')
    .description(
      'Runs a rehearsal of examples/hello-harbor: real tasks, real workspaces, real verifiers, the real gate and the real files; only agent and optimizer are small deterministic programs. Needs no key, no Docker and no network. A finished demo shows its report again.',
    )
    .argument('[dir]', 'where the session lies', 'skillopt-demo')
    .option('--fresh', 'start anew: removes the session files of an earlier demo in that directory')
    .option('--yes', YES)
    .option('--plain', PLAIN)
    .option('--delay <ms>', DELAY, milliseconds)
    .action(async (dir: string, options: Show & { readonly fresh?: boolean }) => {
      await context.stage.during(async () => {
        const { demo } = await import('../demo.ts');
        await demo(dir, options, context);
      });
    });
}
