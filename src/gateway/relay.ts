import { type ChildProcess, spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { constants } from 'node:os';

// A process of its own inside a sandbox: it must start fast, so it loads nothing but what the runtime has.

/** What the relay itself ends with when it can do nothing; 126 and 127 as shells have them. */
const exitCodes = { usage: 125, noPort: 125, notRunnable: 126, notFound: 127 } as const;

type RelayArgs = {
  readonly port: number;
  readonly socketPath: string;
  readonly command: readonly [string, ...string[]];
};

/** `--listen PORT --to SOCKET -- COMMAND…`; null = it is something else. */
export function relayArgs(args: readonly string[]): RelayArgs | null {
  const [listen, port = '', to, socketPath = '', dashes, program, ...rest] = args;
  if (listen !== '--listen' || to !== '--to' || dashes !== '--' || program === undefined) return null;
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > 65_535 || socketPath === '') return null;
  return { port: number, socketPath, command: [program, ...rest] };
}

/**
 * Passes bytes between 127.0.0.1:PORT and a unix socket while a command runs, which is started when the port is there.
 * Ends with the command, by its exit code (128 + the number of a signal that ended it).
 */
export function runRelay(args: readonly string[]): void {
  const given = relayArgs(args);
  if (given === null) {
    giveUp(exitCodes.usage, 'usage: __relay --listen PORT --to SOCKET -- COMMAND …');
    return;
  }
  const { port, socketPath, command } = given;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inside) => connect(inside, socketPath));
  server.on('error', (error) => giveUp(exitCodes.noPort, `127.0.0.1:${port} can’t be listened on: ${error.message}`));
  server.listen(port, '127.0.0.1', () => run(command));
}

function connect(inside: Socket, socketPath: string): void {
  const outside = createConnection({ path: socketPath, allowHalfOpen: true });
  const both = [inside, outside];
  for (const socket of both) {
    socket.on('error', () => {
      for (const each of both) each.destroy();
    });
    socket.on('close', (hadError) => {
      if (hadError) for (const each of both) each.destroy();
    });
  }
  inside.pipe(outside);
  outside.pipe(inside);
}

function run([program, ...args]: readonly [string, ...string[]]): void {
  let child: ChildProcess | null = null;
  // signals are for the command, which says when it is over: what comes while it starts, too
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => {
      if (child === null) process.exit(128 + constants.signals[signal]);
      child.kill(signal);
    });
  const started = spawn(program, args, { stdio: 'inherit' });
  child = started;
  started.on('error', (error: Error & { readonly code?: string }) => {
    if (started.pid !== undefined) return;
    const code = error.code === 'ENOENT' ? exitCodes.notFound : exitCodes.notRunnable;
    giveUp(code, `${program} could not be started: ${error.message}`);
  });
  started.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
}

function giveUp(code: number, words: string): void {
  writeSync(2, `skillopt relay: ${words}\n`);
  process.exit(code);
}
