import { endAllNow } from '../process/live.ts';
import type { Io } from './io.ts';

const exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The first signal stops in order: what runs is ended and cleaned up, what is finished is kept. The second ends at once.
 */
export function stopOnSignals(io: Io): { readonly signal: AbortSignal; readonly release: () => void } {
  const abort = new AbortController();
  const handlers = (Object.keys(exits) as (keyof typeof exits)[]).map((name) => {
    const handler = () => {
      if (abort.signal.aborted) {
        endAllNow();
        process.exit(exits[name]);
      }
      io.line('stopping    what runs is ended and cleaned up; once more ends at once');
      abort.abort();
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return {
    signal: abort.signal,
    release() {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}
