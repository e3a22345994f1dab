import { type Model, ModelError, type ModelReply, type ModelRequest } from '../../../ports/model.ts';
import type { AgentRun } from '../agent.ts';

/** How a request ended. `over` = the rollout ended first; `said` is what had come until then. */
export type Answer =
  | { readonly kind: 'reply'; readonly reply: ModelReply }
  | { readonly kind: 'error'; readonly error: ModelError }
  | { readonly kind: 'over'; readonly said: string };

/**
 * Asks the model once. Comes back as soon as the rollout ends, whether the model heeds the signal or not; its waits for
 * the provider's sake move the deadline. Rejects only with what is no `ModelError`.
 */
export async function ask(
  model: Model,
  request: ModelRequest,
  run: Pick<AgentRun, 'signal' | 'waits'>,
): Promise<Answer> {
  const { signal } = run;
  if (signal.aborted) return { kind: 'over', said: '' };
  let said = '';
  const over = Promise.withResolvers<'over'>();
  const onAbort = () => over.resolve('over');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const call = model.performCompletion(request, {
      signal,
      onText: (piece) => {
        said += piece;
      },
      onWait: ({ ms }) => {
        said = ''; // of the try that failed
        run.waits?.(ms);
      },
    });
    const first = await Promise.race([answered(call), over.promise]);
    if (first === 'over' || (first.kind === 'error' && signal.aborted)) return { kind: 'over', said };
    return first;
  } catch (error) {
    if (signal.aborted) return { kind: 'over', said };
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function answered(call: Promise<ModelReply>): Promise<Answer> {
  try {
    return { kind: 'reply', reply: await call };
  } catch (error) {
    if (error instanceof ModelError) return { kind: 'error', error };
    throw error;
  }
}
