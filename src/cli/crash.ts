import { endAllNow } from '../process/live.ts';

const restores = new Set<() => void>();
const farewells = new Set<() => void>();

/** Gives the terminal back before this process ends at once. Returns the function that forgets it. */
export function onEnd(restore: () => void): () => void {
  restores.add(restore);
  return () => restores.delete(restore);
}

/** Hears that the terminal is gone. Returns the function that ends it. */
export function onTerminalGone(hear: () => void): () => void {
  farewells.add(hear);
  return () => farewells.delete(hear);
}

let isGone = false;

/**
 * The terminal does not answer any more: whoever drew on it lets go of it. False when nobody ever did: then what went
 * wrong is of something else.
 */
export function terminalGone(): boolean {
  isGone ||= farewells.size > 0;
  for (const hear of [...farewells]) hear();
  return isGone;
}

/** Gives back what was taken, the last one first; before anything that takes time. */
export function restoreAll(): void {
  for (const restore of [...restores].reverse()) restore();
}

/** Ends at once: the terminal first, then every child, then this process. */
export function endAtOnce(code: number): never {
  restoreAll();
  endAllNow();
  process.exit(code);
}

/** Is this what reading from, writing to or setting up a terminal says that was closed? */
export function isOfClosedTerminal(e: unknown): boolean {
  const { code, path, message } = (e ?? {}) as { readonly [key in 'code' | 'path' | 'message']?: unknown };
  return (code === 'EIO' && path === undefined) || /^setRawMode failed with errno: (5|9|25)$/.test(String(message));
}
