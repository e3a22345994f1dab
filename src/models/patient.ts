import { type Model, type ModelCallOptions, ModelError, type ModelReply } from '../ports/model.ts';
import { defaultPatience, type Patience, waitBeforeTry } from '../ports/patience.ts';
import { addUsage, type Usage } from '../ports/usage.ts';
import { Lane } from './lane.ts';
import { againOf } from './model-failures.ts';

/** How long a patient model waits, and how; what is not given is as in `defaultPatience`. */
export type PatienceOptions = Partial<Patience> & {
  /** A number from 0 to below 1, for the jitter of waits. */
  readonly random: () => number;
  /** Shared by all models of one endpoint; default: one of its own. */
  readonly lane?: Lane;
};

/**
 * The one owner of waiting: tries a call again when that may help, waits as long as the provider asks or ever longer,
 * and keeps the calls at one endpoint within its lane. What failed tries spent is part of the usage of the reply or of
 * the last error. `onText` hears the pieces of failed tries too; `onWait` is called between.
 */
export function patient(model: Model, options: PatienceOptions): Model {
  const { random, lane = new Lane(), ...given } = options;
  const patience = { ...defaultPatience, ...given };
  const { tries, mostWaitMs } = patience;

  return {
    id: model.id,
    takesTools: model.takesTools,
    hasPrice: model.hasPrice,
    preflight: () => model.preflight(),
    async performCompletion(request, call) {
      let spent: Usage | null = null;
      let leftMs = mostWaitMs;
      for (let n = 2; ; n++) {
        const tried = await tryOnce(call, () => model.performCompletion(request, call), n);
        if (tried.error === null) return withSpent(tried.reply, spent);
        spent = spent === null ? tried.error.usage : addUsage(spent, tried.error.usage);
        if (tried.ms === null) throw again(tried.error, spent);
        leftMs -= tried.ms;
        call.onWait?.({ why: againOf(tried.error) ?? tried.error.failure.what, n, of: tries, ms: tried.ms });
        await pause(tried.ms, call.signal);
      }

      async function tryOnce(
        { signal }: ModelCallOptions,
        perform: () => Promise<ModelReply>,
        next: number,
      ): Promise<Tried> {
        const place = await lane.enter(signal);
        try {
          const reply = await perform();
          place.succeeded();
          return { error: null, reply };
        } catch (error) {
          if (!(error instanceof ModelError) || signal.aborted) throw error;
          const { retryAfterMs } = error;
          const ms = againOf(error) === null ? null : waitBeforeTry(next, patience, { retryAfterMs, leftMs, random });
          if (error.kind === 'rate-limit' || error.kind === 'overloaded')
            place.refused(ms ?? Math.min(retryAfterMs ?? 0, mostWaitMs));
          return { error, ms };
        } finally {
          place.leave();
        }
      }
    },
  };
}

/** A try's reply, or its error with the milliseconds to wait for another; null = it is not worth another. */
type Tried =
  | { readonly error: null; readonly reply: ModelReply }
  | { readonly error: ModelError; readonly ms: number | null };

function withSpent(reply: ModelReply, spent: Usage | null): ModelReply {
  return spent === null ? reply : { ...reply, usage: addUsage(reply.usage, spent) };
}

function again(error: ModelError, usage: Usage): ModelError {
  return new ModelError(error.kind, error.failure, usage, error.retryAfterMs);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
