import { type Model, ModelError, type ModelReply, type ModelRequest, type ModelWait } from '../../ports/model.ts';
import { longestTimerMs } from '../../process/run-process.ts';

/** How a call ended. `timeout`: `text` is what had come until then. */
export type Asked =
  | { readonly kind: 'reply'; readonly reply: ModelReply; readonly text: string }
  | { readonly kind: 'timeout'; readonly text: string }
  | { readonly kind: 'error'; readonly error: ModelError }
  | { readonly kind: 'cancelled' };

/**
 * Asks the model once, under a deadline that stands still while the provider wants us to wait. Comes back at once when cancelled or late, whether the model heeds the signal
 * or not. Rejects only with what is no `ModelError`.
 */
export async function askModel(
  model: Model,
  request: ModelRequest,
  o: { readonly timeoutMs: number; readonly cancelled: AbortSignal },
): Promise<Asked> {
  if (o.cancelled.aborted) return { kind: 'cancelled' };
  const controller = new AbortController();
  const stop = Promise.withResolvers<'timeout' | 'cancelled'>();
  const end = (why: 'timeout' | 'cancelled') => {
    stop.resolve(why);
    controller.abort(new Error(why));
  };
  let lateAt = performance.now() + o.timeoutMs;
  let timer: ReturnType<typeof setTimeout>;
  const watch = () => {
    const leftMs = lateAt - performance.now();
    if (leftMs <= 0) end('timeout');
    else timer = setTimeout(watch, Math.min(leftMs, longestTimerMs));
  };
  const onCancel = () => end('cancelled');
  o.cancelled.addEventListener('abort', onCancel, { once: true });
  let streamed = '';
  const onText = (piece: string) => {
    streamed += piece;
  };
  const onWait = ({ ms }: ModelWait) => {
    streamed = ''; // of the try that failed
    lateAt += ms;
  };
  watch();
  try {
    const call = model.performCompletion(request, { signal: controller.signal, onText, onWait });
    const first = await Promise.race([answered(call), stop.promise]);
    if (first === 'cancelled') return { kind: 'cancelled' };
    // A call that was ended by us may settle first: our own record decides.
    if (first === 'timeout') return { kind: 'timeout', text: streamed };
    return first;
  } catch (error) {
    if (o.cancelled.aborted) return { kind: 'cancelled' };
    if (controller.signal.aborted) return { kind: 'timeout', text: streamed };
    throw error;
  } finally {
    clearTimeout(timer!);
    o.cancelled.removeEventListener('abort', onCancel);
  }
}

async function answered(call: Promise<ModelReply>): Promise<Asked> {
  try {
    const reply = await call;
    return {
      kind: 'reply',
      reply,
      text: reply.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(''),
    };
  } catch (error) {
    if (error instanceof ModelError) return { kind: 'error', error };
    throw error;
  }
}
