import { join } from 'node:path';
import { relayWord } from './relay-word.ts';

/** How the relay is started before a command inside a sandbox. */
export type RelayLaunch = {
  /** Program and arguments; the command's own follow. */
  readonly command: readonly [string, ...string[]];
  /** Files that have to be seen inside, at their own paths. */
  readonly show: readonly string[];
};

/**
 * The relay that listens on 127.0.0.1:`port` inside a sandbox and passes bytes to the socket at `socketPath`, as the
 * sandbox shows it. `relay.ts` says how it behaves.
 */
export function relayLaunch(port: number, socketPath: string): RelayLaunch {
  const args = ['--listen', String(port), '--to', socketPath, '--'];
  const program = process.execPath;
  if (Bun.isStandaloneExecutable) return { command: [program, relayWord, ...args], show: [program] };
  const files = ['relay-main.ts', 'relay.ts'].map((name) => join(import.meta.dir, name));
  // nothing of the folder where it is started is read: it may hold a config or variables of its own
  const plain = ['--no-env-file', '--config=/dev/null', '--no-install'];
  return { command: [program, ...plain, 'run', files[0] as string, ...args], show: [program, ...files] };
}
