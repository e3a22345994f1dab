import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ForkOptions } from '../fork.ts';
import { cfgOption, setOption } from '../override-options.ts';

function stepNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('give the number of a step, or 0 for the baseline');
  return Number(text);
}

export function forkCommand(program: Command, context: CommandContext): void {
  program
    .command('fork')
    .summary('start a new session from a step of another one')
    .description(
      'Makes a new session that leaves DIR after a step. It keeps the splits and every paid outcome down to that step, so that they are not paid again; nothing of the sealed test. Its config is DIR/skillopt.config.json as it is now: change the gate, the optimizer or other keys there (not the splits), then fork. The seed is the one of DIR; tasks are read again from the pack: a changed one keeps its split and is rolled anew, a new one goes to train. DIR itself is only read.',
    )
    .argument('[dir]', 'directory of the session to fork', '.')
    .option('--at <step>', 'step after which to leave it, 0 for the baseline (default: the last step)', stepNumber)
    .option('--to <dir>', 'directory of the new session (default: DIR-stepN)')
    .addOption(setOption())
    .addOption(cfgOption())
    .action(async (dir: string, options: ForkOptions) => {
      const { fork } = await import('../fork.ts');
      await fork(dir, options, context);
    });
}
