import { Command } from 'commander';
import { VERSION } from '../version.ts';
import { cleanCommand } from './commands/clean.ts';
import { configCommand } from './commands/config.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { evalCommand } from './commands/eval.ts';
import { finalizeCommand } from './commands/finalize.ts';
import { forkCommand } from './commands/fork.ts';
import { importCommand } from './commands/import.ts';
import { lintCommand } from './commands/lint.ts';
import { runCommand } from './commands/run.ts';
import { statusCommand } from './commands/status.ts';
import { tryCommand } from './commands/try.ts';
import { verifyCommand } from './commands/verify.ts';
import type { CommandContext } from './context.ts';
import { directory, given } from './values.ts';

/** The command line: every command with its options; what each does is loaded when it is called. */
export function makeProgram(context: CommandContext): Command {
  const program = new Command('skillopt');
  program
    .description(
      'Makes an agent’s SKILL.md measurably better: rolls it out on scored tasks, lets an optimizer read the failures and propose small edits, and keeps them only when a held-out selection split strictly improves. The test split is opened once, at the end.',
    )
    .version(`skillopt ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help, or that of a command')
    .option('--json', 'print one JSON value on stdout; lines for people go to stderr')
    .option('--debug', 'print stack traces')
    .exitOverride()
    .configureOutput({ writeErr() {}, outputError() {} })
    .showSuggestionAfterError(true)
    .addHelpText('after', AFTER);
  for (const add of [
    demoCommand,
    evalCommand,
    runCommand,
    finalizeCommand,
    statusCommand,
    verifyCommand,
    forkCommand,
    tryCommand,
    configCommand,
    cleanCommand,
    doctorCommand,
    lintCommand,
    importCommand,
  ])
    add(program, context);
  for (const command of program.commands.flatMap((c) => [c, ...c.commands])) {
    command
      .copyInheritedSettings(program)
      .option('--json', 'print one JSON value on stdout; lines for people go to stderr')
      .option('--debug', 'print stack traces');
    refuseEmpty(command);
  }
  return program;
}

/** No text that a command takes may be empty, be it an argument or the value of an option; a directory is no file. */
function refuseEmpty(command: Command): void {
  for (const argument of command.registeredArguments)
    if (argument.variadic)
      argument.argParser((text: string, before: readonly string[] | undefined) => [...(before ?? []), given(text)]);
    else argument.argParser(argument.name() === 'dir' ? directory : given);
  for (const option of command.options) if (option.required && option.parseArg === undefined) option.argParser(given);
}

const AFTER = `
How it goes:
  1. baseline      the seed skill once on selection and on train
  2. rounds        an optimizer reads failing train runs and proposes edits; each is tried once on the task it cites
  3. gate          the draft meets the selection tasks; it replaces the best skill only if it wins more than it loses
  4. confirmation  the result once more against the seed, on fresh runs
  5. finalize      the sealed test, once: seed, result and no skill

A session lies in a directory: skillopt.config.json (what was wanted), skillopt.jsonl (all that happened, append-only),
skillopt.md (for reading), best_skill.md, skillopt.snapshots/. Stop it any time; the same command goes on.

Examples:
  skillopt demo                     the whole job in seconds, without a model
  skillopt eval --skill my-skill --pack my-tasks --no-skill   a first number: with it and without it
  skillopt run my-session           start or resume the session in my-session/
  skillopt run my-session --finalize --json
  skillopt verify my-session        recompute every verdict from the log
  skillopt fork my-session --at 2   a new session from step 2 on, with what was paid until then
`;
