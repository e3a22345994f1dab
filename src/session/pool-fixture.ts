import { Journal } from '../journal/journal.ts';
import { TextMemory } from '../journal/journal-fixture.ts';
import { makeRedactor } from '../journal/redact.ts';
import type { Ask } from '../ports/engine.ts';
import type { Limits } from '../ports/inputs.ts';
import { scored } from '../ports/outcome.ts';
import type { PerformOptions, RolloutReport, RolloutRequest } from '../ports/rollouts.ts';
import { noUsage, type Usage } from '../ports/usage.ts';
import { ActualLedger } from './actual-ledger.ts';
import { Logged } from './logged.ts';
import { Pool } from './pool.ts';
import { taskOf } from './session-fixture.ts';
import type { Slots } from './slots.ts';

/** One call of the backend: the test says what comes of each of its rollouts. */
export type Call = {
  readonly keys: readonly string[];
  readonly concurrency: number | undefined;
  readonly request: (key: string) => RolloutRequest;
  readonly begins: (key: string) => void;
  readonly report: (report: RolloutReport) => Promise<void>;
  readonly finish: (key: string, more?: { readonly usage?: Usage; readonly reward?: number }) => Promise<void>;
};

export const ask = (key: string): Ask => ({ key, skill: 'none', task: `task-${key}`, attempt: 0, try: 0 });
export const asks = (from: string, count: number): Ask[] => Array.from({ length: count }, (_, i) => ask(`${from}${i}`));
export const finished = (key: string, { usage = noUsage, reward = 1 } = {}): RolloutReport => ({
  kind: 'finished',
  key,
  result: {
    outcome: scored({ reward }, reward, 1, { read: null }),
    trajectory: null,
    usage,
    exit: 'finished',
    durationMs: 1,
    versions: {},
  },
});

/** Long enough for all that follows from what has just happened. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** A pool over a log in memory, and a backend whose calls the test answers. */
export function poolBench(o: {
  readonly workers: number;
  readonly batches?: boolean;
  readonly slots?: Slots;
  readonly limits?: Limits;
  /** Goes on from this log. */
  readonly log?: string;
}) {
  const calls: Call[] = [];
  const journal = Journal.memory(o.log ?? '', {});
  const { logged } = Logged.read(journal.read());
  const ledger = new ActualLedger(
    o.limits ?? { rollouts: null, minutes: null },
    { confirmation: 0, finalize: 0 },
    logged.started,
    0,
    () => 0,
    logged.spending,
  );
  const perform = async function* (requests: readonly RolloutRequest[], options: PerformOptions) {
    const reports: RolloutReport[] = [];
    let wake = () => {};
    const report = (one: RolloutReport) => {
      reports.push(one);
      wake();
      return settled();
    };
    calls.push({
      keys: requests.map((r) => r.key),
      concurrency: options.concurrency,
      request: (key) => requests.find((r) => r.key === key)!,
      begins: (key) => options.onProgress?.({ key, phase: 'prepare' }),
      report,
      finish: (key, more) => report(finished(key, more)),
    });
    for (let left = requests.length; left > 0; left--) {
      while (reports.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      yield reports.shift()!;
    }
  };
  const pool = new Pool(
    journal,
    logged,
    {
      rollouts: {
        batches: o.batches ?? true,
        preflight: async () => [],
        sweep: async () => [],
        versions: async () => ({}),
        performRollouts: perform,
      },
      workers: o.workers,
      slots: o.slots,
      task: taskOf,
      skill: (text, name) => ({ name, hash: name, text, bundleDir: null }),
      texts: new TextMemory(),
      redact: makeRedactor([]),
      ledger,
      backoffMs: [0],
    },
    () => true,
  );
  return { pool, calls, ledger, log: () => journal.text() };
}
