import { type Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import type { EvalOptions } from '../eval-options.ts';
import { NO_IMPROVEMENT } from '../exit-codes.ts';
import { cfgOption, setOption } from '../override-options.ts';
import { WAIT_FOR_RESET } from '../show.ts';
import { amount, count, minutes } from '../values.ts';

/** Adds an arm, and is not the opposite of `--skill`, as its name would have it. */
class WithoutSkill extends Option {
  constructor(flags: string, description: string) {
    super(flags, description);
    this.negate = false;
  }

  override attributeName(): string {
    return 'withoutSkill';
  }
}

export function evalCommand(program: Command, context: CommandContext): void {
  program
    .command('eval')
    .summary('a first number about a skill: what passes with it, without it, or with another one')
    .description(
      'Rolls a skill out on the tasks of a pack and counts what passes, with a 95 % interval; beside it, interleaved task by task, without a skill (--no-skill) or with another one (--vs). Changes nothing: skill and pack are copied. Given again, the same command goes on where it stopped, and shows the report of an eval that has finished. In a session’s directory (DIR, or here) skill, pack and model are the session’s, and --split says which tasks; its test split stays sealed until finalize.',
    )
    .argument('[dir]', 'directory of a session; without one, skill and pack are named by flags')
    .option('--skill <path>', 'the SKILL.md or its folder, or example:NAME; in a session: its best one so far')
    .option('--pack <path>', 'task folders, or a prompt pack (tasks.json), or example:NAME')
    .addOption(
      new Option('--split <name>', 'in a session: which tasks (default: selection)').choices([
        'train',
        'selection',
        'test',
      ]),
    )
    .option('--limit <tasks>', 'at most so many tasks, the same ones for every skill', count)
    .option('--repeat <k>', 'attempts a task (default: 1); more than one adds pass@k and pass^k', count)
    .addOption(new WithoutSkill('--no-skill', 'also without any skill: the number to compare with'))
    .option('--vs <path>', 'also with this skill')
    .option(
      '--model <name>',
      'on chat: provider/model, such as anthropic/claude-opus-4-8 or openai-compatible/qwen3-8b',
    )
    .option('--base-url <url>', 'where the model answers, such as http://localhost:8000/v1')
    .option('--key-env <name>', 'environment variable that holds its key; none: it wants no key')
    .option(
      '--backend <name>',
      'where rollouts run: local, chat, or an environment of Harbor such as docker (default: by the kind of the pack)',
    )
    .option('--agent <name>', 'what does the tasks, such as rehearsal or claude-code; on chat it is left out')
    .addOption(setOption())
    .addOption(cfgOption())
    .option('--workers <n>', 'rollouts at a time', count)
    .option('--limit-rollouts <n>', 'hard limit on rollouts started', count)
    .option('--limit-minutes <n>', 'hard limit on the running time', minutes)
    .option('--limit-usd <amount>', 'hard limit in US dollars', amount)
    .option('--limit-tokens <n>', 'hard limit on tokens', count)
    .option('--out <dir>', 'where log, report and copies go (default: skillopt-eval-NAME, in a session below it)')
    .option('--allow-unsandboxed', 'consent to run rollouts in plain folders on this machine')
    .option('--yes', 'no questions: begin, also without a limit on what it spends')
    .option('--plain', 'no question and no line that is written over')
    .option('--wait-for-reset', WAIT_FOR_RESET)
    .option(
      '--exit-code',
      `exit with ${NO_IMPROVEMENT} unless the skill wins more tasks than it loses against each other arm`,
    )
    .action(async (dir: string | undefined, options: EvalOptions) => {
      await context.stage.during(async () => {
        const { evaluateSkill } = await import('../eval.ts');
        await evaluateSkill(dir, options, context);
      });
    });
}
