import { type Model, type ModelCallOptions, ModelError, type ModelErrorKind, type ModelReply } from '../ports/model.ts';
import { addUsage, type Usage } from '../ports/usage.ts';
import { Lane } from './lane.ts';

/** How long a patient model waits, and how. */
export type PatienceOptions = {
  /** A number from 0 to below 1, for the jitter of waits. */
  readonly random: () => number;
  /** Shared by all models of one endpoint; default: one of its own. */
  readonly lane?: Lane;
  /** Tries of one call in all; default 5. */
  readonly tries?: number;
  /** Milliseconds of waiting between the tries of one call in all; default 2 minutes. */
  readonly mostWaitMs?: number;
  /** Milliseconds before the second try, doubled with each; default 1 s. */
  readonly firstWaitMs?: number;
};

const worthAnotherTry: readonly ModelErrorKind[] = [
  'rate-limit',
  'overloaded',
  'server',
  'refused-connection',
  'cut-off',
  'silent',
];

const whys: Readonly<Partial<Record<ModelErrorKind, string>>> = {
  'rate-limit': 'too many requests',
  overloaded: 'the provider is overloaded',
  server: 'the server failed',
  'refused-connection': 'no connection',
  'cut-off': 'the answer broke off',
  silent: 'no answer came',
};

/**
 * The one owner of waiting: tries a call again when that may help, waits as long as the provider asks or ever longer,
 * and keeps the calls at one endpoint within its lane. What failed tries spent is part of the usage of the reply or of
 * the last error. `onText` hears the pieces of failed tries too; `onWait` is called between.
 */
export function patient(model: Model, options: PatienceOptions): Model {
  const { random, lane = new Lane(), tries = 5, mostWaitMs = 120_000, firstWaitMs = 1_000 } = options;

  /** Milliseconds before try `n`; null = the provider asks for more than there is left. */
  function waitMs(error: ModelError, n: number, leftMs: number): number | null {
    if (error.retryAfterMs !== null) return error.retryAfterMs <= leftMs ? error.retryAfterMs : null;
    const ms = Math.round(firstWaitMs * 2 ** (n - 2) * (0.5 + random() / 2));
    return ms <= leftMs ? ms : null;
  }

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
        call.onWait?.({ why: whys[tried.error.kind] ?? tried.error.failure.what, n, of: tries, ms: tried.ms });
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
          const helps = next <= tries && worthAnotherTry.includes(error.kind) && error.failure.retryable;
          const ms = helps ? waitMs(error, next, leftMs) : null;
          if (error.kind === 'rate-limit' || error.kind === 'overloaded')
            place.refused(ms ?? Math.min(error.retryAfterMs ?? 0, mostWaitMs));
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
