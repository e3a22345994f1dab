import { endAtOnce } from './crash.ts';

const exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A terminal that is closed tells so more than once: the system to all that sit at it, and then their shell. */
const isEcho = (name: keyof typeof exits): boolean => name === 'SIGHUP' && process.stdin.isTTY === true;

/**
 * The first signal asks for the orderly stop: what runs is ended and cleaned up, what is finished is kept. The second
 * ends at once. Returns the function that gives the signals back.
 */
export function stopOnSignals(stop: () => void): () => void {
  let stopping = false;
  const handlers = (Object.keys(exits) as (keyof typeof exits)[]).map((name) => {
    const handler = () => {
      if (stopping && isEcho(name)) return;
      if (stopping) endAtOnce(exits[name]);
      stopping = true;
      stop();
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return () => {
    for (const [name, handler] of handlers) process.off(name, handler);
  };
}
