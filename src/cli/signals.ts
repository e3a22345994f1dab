import type { SessionControl } from '../ports/session.ts';
import { endAllNow } from '../process/live.ts';
import type { Surface } from './surface.ts';

const exits = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The first signal stops in order: what runs is ended and cleaned up, what is finished is kept. The second ends at once.
 * Returns the function that gives the signals back.
 */
export function stopOnSignals(
  surface: Pick<Surface, 'stopping'>,
  session: Pick<SessionControl<never, never>, 'stop'>,
): () => void {
  let stopping = false;
  const handlers = (Object.keys(exits) as (keyof typeof exits)[]).map((name) => {
    const handler = () => {
      if (stopping) {
        endAllNow();
        process.exit(exits[name]);
      }
      stopping = true;
      surface.stopping();
      session.stop();
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return () => {
    for (const [name, handler] of handlers) process.off(name, handler);
  };
}
