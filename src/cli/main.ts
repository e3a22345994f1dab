import { Command, CommanderError } from 'commander';
import { type Failure, fail, SkilloptError } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { endAllNow } from '../process/live.ts';
import { VERSION } from '../version.ts';
import { isOfClosedTerminal, restoreAll, terminalGone } from './crash.ts';
import { demoCommand } from './demo.ts';
import { exitCodes } from './exit-codes.ts';
import { finalizeCommand } from './finalize.ts';
import { forkCommand } from './fork.ts';
import { type Io, makeIo } from './io.ts';
import { runCommand } from './run.ts';
import { statusCommand } from './status.ts';
import { verifyCommand } from './verify.ts';

/** Runs one command. Sets the exit code and never exits after a write, so that a pipe gets everything. */
export async function main(args: readonly string[]): Promise<void> {
  const debug = args.includes('--debug');
  const io = makeIo(args.includes('--json'));
  if (args.length === 0) args = ['--help'];
  outliveClosedPipes();
  endOnFaults(io, debug);
  try {
    await program(io, args).parseAsync([...args], { from: 'user' });
  } catch (e) {
    if (e instanceof CommanderError && e.exitCode === 0) return;
    const failure = toFailure(e);
    io.failure(failure);
    if (debug) process.stderr.write(`${stack(e)}\n`);
    process.exitCode = exitCodes[failure.code];
  }
}

/**
 * A fault that nobody catches ends the program at once, with the terminal given back and every child ended: the runtime
 * by itself would print it and go on.
 */
function endOnFaults(io: Io, debug: boolean): void {
  const die = (e: unknown) => {
    if (isOfClosedTerminal(e)) return terminalGone();
    restoreAll();
    endAllNow();
    const failure = toFailure(e);
    io.failure(failure);
    if (debug) process.stderr.write(`${stack(e)}\n`);
    process.exit(exitCodes[failure.code]);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

/** A reader that goes away (`| head`) ends the output, not the work; a full device behind it is said once. */
function outliveClosedPipes(): void {
  let said = false;
  const hear = (e: { code?: string }) => {
    if (isOfClosedTerminal(e)) return terminalGone();
    if (e.code === 'EPIPE' || said) return;
    said = true;
    process.exitCode = exitCodes.disk;
    process.stderr.write(`failed the output can’t be written (${e.code ?? 'unknown'})\n`);
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', hear);
}

function toFailure(e: unknown): Failure {
  if (e instanceof SkilloptError) return e.failure;
  if (e instanceof CommanderError && e.code === 'commander.help')
    return fail('usage', 'no command was given', 'the command line', 'see skillopt --help').failure;
  if (e instanceof CommanderError)
    return fail(
      'usage',
      e.message.replace(/^error: /, '').replace(/\n/g, ' '),
      'the command line',
      'see skillopt --help',
    ).failure;
  const what = e instanceof Error ? e.message : String(e);
  return fail(
    'internal',
    `a fault of this program: ${what}`,
    'skillopt',
    'run it again with --debug and report what it prints; the session is kept',
  ).failure;
}

function stack(e: unknown): string {
  if (!(e instanceof Error)) return String(e);
  return `${e.stack ?? e.message}${e.cause ? `\ncaused by ${stack(e.cause)}` : ''}`;
}

function program(io: Io, args: readonly string[]): Command {
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
  const context = { io, command: [...PROGRAM, ...args.map(shellWord)].join(' ') };
  for (const add of [demoCommand, runCommand, finalizeCommand, statusCommand, verifyCommand, forkCommand])
    add(program, context);
  for (const command of program.commands)
    command
      .copyInheritedSettings(program)
      .option('--json', 'print one JSON value on stdout; lines for people go to stderr')
      .option('--debug', 'print stack traces');
  return program;
}

/** How this program was called: the binary, or the checkout. */
const PROGRAM = Bun.isStandaloneExecutable ? ['skillopt'] : ['npx', 'bun', 'src/main.tsx'];

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
  skillopt run my-session           start or resume the session in my-session/
  skillopt run my-session --finalize --json
  skillopt verify my-session        recompute every verdict from the log
  skillopt fork my-session --at 2   a new session from step 2 on, with what was paid until then
`;
