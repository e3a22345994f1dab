import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { DoctorOptions } from '../doctor.ts';
import { cfgOption, keyOptions, setOption } from '../override-options.ts';

export function doctorCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('doctor')
    .summary('what this machine has for rollouts, and what a session would find here; no model')
    .description(
      'Looks at what this machine has: the sandbox, coding agents, Docker, Harbor with its environments. Where DIR has a skillopt.config.json, also at all that `skillopt run DIR` would look at before it spends anything. Calls no model and changes nothing. Exits with 4 when there is an error.',
    )
    .argument('[dir]', 'directory of the session', '.');
  for (const option of keyOptions()) command.addOption(option);
  command
    .addOption(setOption())
    .addOption(cfgOption())
    .option('--allow-unsandboxed', 'look as `run` with this flag would')
    .action(async (dir: string, options: DoctorOptions) => {
      const { doctor } = await import('../doctor.ts');
      await doctor(dir, options, context);
    });
}
