import { type Failure, fail, SkilloptError } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { endAllNow } from '../process/live.ts';
import { isOfClosedTerminal, restoreAll, terminalGone } from './crash.ts';
import { exitCodes } from './exit-codes.ts';
import { type Io, makeIo, ReportedFailure } from './io.ts';
import { beginsWithScreen, Stage } from './stage.ts';

/** Runs one command. Sets the exit code and never exits after a write, so that a pipe gets everything. */
export async function main(args: readonly string[]): Promise<void> {
  const debug = args.includes('--debug');
  const io = makeIo(args.includes('--json'));
  if (args.length === 0) args = ['--help'];
  outliveClosedPipes();
  endOnFaults(io, debug);
  const stage = new Stage(io, args.includes('--plain'));
  let help = HELP; // of the command that is typed, once that is known
  try {
    if (stage.isLive && beginsWithScreen(args)) await stage.surface(); // before anything that takes its time to load
    const { makeProgram } = await import('./program.ts');
    const command = [...PROGRAM, ...args.map(shellWord)].join(' ');
    const program = makeProgram({ io, stage, command });
    if (program.commands.some((c) => c.name() === args[0])) help = `skillopt ${args[0]} --help`;
    await program.parseAsync([...args], { from: 'user' });
  } catch (e) {
    await stage.close('cut');
    if (ofCommandLine(e)?.exitCode === 0) return;
    const failure = toFailure(e, help);
    io.failure(failure, e instanceof ReportedFailure ? e.report : undefined);
    if (debug) process.stderr.write(`${stack(e)}\n`);
    process.exitCode = exitCodes[failure.code];
  } finally {
    await stage.close('cut');
  }
}

/**
 * A fault that nobody catches ends the program at once, with the terminal given back and every child ended: the runtime
 * by itself would print it and go on.
 */
function endOnFaults(io: Io, debug: boolean): void {
  const die = (e: unknown) => {
    if (isOfClosedTerminal(e) && terminalGone()) return;
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
    if (isOfClosedTerminal(e)) {
      terminalGone();
      return;
    }
    if (e.code === 'EPIPE' || said) return;
    said = true;
    process.exitCode = exitCodes.disk;
    process.stderr.write(`failed the output can’t be written (${e.code ?? 'unknown'})\n`);
  };
  for (const stream of [process.stdout, process.stderr]) stream.on('error', hear);
}

function toFailure(e: unknown, help = HELP): Failure {
  if (e instanceof SkilloptError) return e.failure;
  const wrong = ofCommandLine(e);
  if (wrong?.code === 'commander.help')
    return fail('usage', 'no command was given', 'the command line', `see ${HELP}`).failure;
  if (wrong)
    return fail('usage', wrong.message.replace(/^error: /, '').replace(/\n/g, ' '), 'the command line', `see ${help}`)
      .failure;
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

/** A failure of the library that reads the command line. */
function ofCommandLine(
  e: unknown,
): { readonly code: string; readonly exitCode: number; readonly message: string } | null {
  return e instanceof Error && 'code' in e && String(e.code).startsWith('commander.')
    ? (e as Error & { code: string; exitCode: number })
    : null;
}

const HELP = 'skillopt --help';

/** How this program was called: the binary, or the checkout. */
const PROGRAM = Bun.isStandaloneExecutable ? ['skillopt'] : ['npx', 'bun', 'src/main.tsx'];
