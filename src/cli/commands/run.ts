import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { NO_IMPROVEMENT } from '../exit-codes.ts';
import { cfgOption, keyOptions, setOption } from '../override-options.ts';
import type { RunOptions } from '../run.ts';
import { DELAY, milliseconds, PLAIN, WAIT_FOR_RESET, YES } from '../show.ts';

export function runCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('run')
    .summary('start or resume the session that skillopt.config.json in a directory describes')
    .description(
      'Starts the session that DIR/skillopt.config.json describes, or goes on where it stopped: baseline, rounds of proposals, gates, confirmation. Stops before the sealed test unless --finalize is given. Nothing that finished is performed or paid twice. Budget, limits and workers may change between two runs; any other change of the config is another session.',
    )
    .argument('[dir]', 'directory of the session', '.')
    .option('--finalize', 'go on to the sealed test when there is something to deliver')
    .option(
      '--smoke',
      'a smoke test first: 2 tasks a split, 1 step, in DIR/skillopt.smoke; then what the job would cost',
    );
  for (const option of keyOptions()) command.addOption(option);
  command
    .addOption(setOption())
    .addOption(cfgOption())
    .option('--allow-unsandboxed', 'consent to run rollouts in plain folders on this machine')
    .option('--yes', YES)
    .option('--plain', PLAIN)
    .option('--wait-for-reset', WAIT_FOR_RESET)
    .option('--delay <ms>', DELAY, milliseconds)
    .option('--exit-code', `exit with ${NO_IMPROVEMENT} when the run ends without an improvement`)
    .addHelpText('after', CONFIG_HELP)
    .action(async (dir: string, options: RunOptions) => {
      await context.stage.during(async () => {
        if (options.smoke) await (await import('../smoke.ts')).smoke(dir, options, context);
        else await (await import('../run.ts')).run(dir, options, context);
      });
    });
}

const CONFIG_HELP = `
The config, with the defaults of what may be left out (paths are relative to the file; example:hello-harbor is bundled):
  {
    "skill": "../my-skill",            a SKILL.md or its folder; read and copied, never changed
    "pack": "../my-tasks",             a folder of tasks in Harbor's format, or a prompt pack (tasks.json)
    "backend": "local",                local runs task folders, chat asks a model for the prompts of a pack; docker and
                                       other environments of Harbor run task folders there
    "agent": "rehearsal",              what does the tasks; on chat it is left out
    "model": null,                     on chat: "anthropic/claude-opus-4-8", or {"model": "openai-compatible/qwen3-8b",
                                       "baseUrl": "http://localhost:8000/v1"}; docs/config.md has all keys
    "optimizer": "rehearsal",          what proposes edits: a model as above, or "rehearsal" (reads rehearsal.json)
    "reflection": {"form": "auto", "maxCalls": 24, "readers": 1, "minibatchSize": null},
    "taskLimit": null,                 most tasks of each split
    "splits": {"ratio": {"train": 1, "selection": 1, "test": 1}},     or three lists of task ids
    "gate": {"rule": "balanced", "metric": "hard", "passThreshold": 1},
    "budget": {"rollouts": 400},
    "limits": {"rollouts": null, "minutes": null, "usd": null, "tokens": null},
    "workers": null, "editBudget": null, "allowUnsandboxed": false, "seed": "1",
    "slowUpdate": false,               guidance from all that was tried, at a gate of its own, after each epoch
    "search": {"draftSize": 8, "dryRounds": 12, "memory": true, "steps": null, "epochs": null, "batchSize": null},
    "timeouts": {"agentSec": null}, "finalize": {"attempts": 1}
  }
Each key may be set by a flag (--set search.draftSize=4) or by a variable (SKILLOPT_SEARCH_DRAFT_SIZE=4), too;
skillopt config show tells every value and where it comes from.
`;
