import type { UpstreamTrouble } from '../ports/gateway.ts';
import type { Attempt } from './attempt.ts';
import { responseHeaders } from './headers.ts';
import { type CallEnd, troubleIn } from './upstream-call.ts';

/** How an answer that has begun to reach an agent ended. */
export type HandedOver =
  | { readonly kind: 'answered' }
  /** The provider broke it off, or told a failure in it. */
  | { readonly kind: 'trouble'; readonly trouble: UpstreamTrouble }
  /** The agent did not want the rest of it. */
  | { readonly kind: 'left' };

/**
 * The answer for the agent, byte by byte as it comes and as fast as the agent takes it. One that the provider breaks off
 * is broken off for the agent, too, and so is one whose signal is aborted. `onEnd` is called once.
 */
export function handOver(
  attempt: Attempt,
  { status, headers, first }: Extract<CallEnd, { readonly kind: 'answer' }>,
  signal: AbortSignal,
  onEnd: (end: HandedOver) => void,
): Response {
  const { call } = attempt;
  const options = { status, headers: responseHeaders(headers) };
  if (call.isOver) {
    onEnd(endOf(attempt));
    return new Response(Buffer.concat(first), options);
  }
  let isOver = false;
  let breakOff = () => {};
  const over = (end: HandedOver) => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', onAbort);
    onEnd(end);
  };
  // an agent that takes nothing more must not keep what is behind it
  const onAbort = () => {
    over(leftBehind(attempt));
    breakOff();
  };
  const waiting = [...first];
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        breakOff = () => controller.error(signal.reason);
      },
      pull: async (controller) => {
        try {
          const piece = waiting.shift() ?? (await call.next());
          if (isOver) return;
          if (piece !== null) {
            controller.enqueue(piece);
            return;
          }
          over(endOf(attempt));
          controller.close();
        } catch (error) {
          if (isOver) return;
          const trouble = troubleIn(error);
          over(trouble === null ? leftBehind(attempt) : { kind: 'trouble', trouble });
          controller.error(error);
        }
      },
      cancel: () => over(leftBehind(attempt)),
    },
    { highWaterMark: 0 },
  );
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return new Response(body, options);
}

function endOf({ call }: Attempt): HandedOver {
  const trouble = call.troubleSoFar();
  return trouble === null ? { kind: 'answered' } : { kind: 'trouble', trouble };
}

/** Many clients leave as soon as an answer has told its end. */
function leftBehind({ call }: Attempt): HandedOver {
  return call.reader?.verdict().kind === 'answer' ? { kind: 'answered' } : { kind: 'left' };
}
