import type { RolloutReport, RolloutRequest } from '../ports/rollouts.ts';

/**
 * Performs all requests side by side and hands over the reports as they come, one for each. Whoever stops reading
 * cancels what still runs and waits until it is gone. `perform` must not reject.
 */
export async function* reportsOf(
  requests: readonly RolloutRequest[],
  signal: AbortSignal,
  perform: (request: RolloutRequest, signal: AbortSignal) => Promise<RolloutReport>,
): AsyncGenerator<RolloutReport, void, undefined> {
  const stop = new AbortController();
  const pending = new Map(
    requests.map((request, index) => {
      const { any, dispose } = anySignal([signal, request.signal, stop.signal]);
      const report = perform(request, any).finally(dispose);
      return [index, report.then((value) => ({ index, report: value }))] as const;
    }),
  );
  try {
    while (pending.size > 0) {
      const { index, report } = await Promise.race(pending.values());
      pending.delete(index);
      yield report;
    }
  } finally {
    stop.abort();
    await Promise.allSettled(pending.values());
  }
}

/** Aborted as soon as one of them is; `dispose` lets go of them. */
function anySignal(signals: readonly AbortSignal[]): { readonly any: AbortSignal; readonly dispose: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some((signal) => signal.aborted)) abort();
  const dispose = () => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
  return { any: controller.signal, dispose };
}
