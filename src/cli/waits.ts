import type { Model, ModelCallOptions, ModelRequest, ModelWait } from '../ports/model.ts';

/** Shorter waits are not worth a word. */
const LEAST_MS = 1_000;

/** The waits of calls that their providers keep waiting, for people. A wait is over when its time has passed. */
export class Waits {
  private list: readonly { readonly untilMs: number; readonly wait: ModelWait }[] = [];

  /** `nowMs`: a clock that only goes forward. */
  constructor(private readonly nowMs: () => number) {}

  /** False = it is too short to be told. */
  add(wait: ModelWait): boolean {
    if (wait.ms < LEAST_MS) return false;
    const nowMs = this.nowMs();
    this.list = [...this.list.filter((w) => w.untilMs > nowMs), { untilMs: nowMs + wait.ms, wait }];
    return true;
  }

  /** The longest wait that is still on, with the seconds that are left of it; '' = nobody waits. */
  get text(): string {
    const nowMs = this.nowMs();
    const longest = this.list.reduce<(typeof this.list)[number] | null>(
      (a, b) => (b.untilMs > nowMs && (a === null || b.untilMs > a.untilMs) ? b : a),
      null,
    );
    return longest === null ? '' : waitText({ ...longest.wait, ms: longest.untilMs - nowMs });
  }
}

/** `12 s: too many requests, try 2 of 5` */
export function waitText({ why, n, of, ms }: ModelWait): string {
  return `${Math.ceil(ms / 1000)} s: ${why}, try ${n} of ${of}`;
}

/** Milliseconds in which one wait is told at most. */
const TOLD_MS = 10_000;

/** Tells of waits in lines, now and then. */
export function tellingWaits(line: (text: string) => void): (wait: ModelWait, model: string) => void {
  const waits = new Waits(() => performance.now());
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (wait, model) => {
    if (!waits.add(wait) || performance.now() - toldAtMs < TOLD_MS) return;
    toldAtMs = performance.now();
    line(`waiting     ${waitText(wait)} (${model})`);
  };
}

/** The same model; `onWait` hears of every wait of its calls, whoever makes them. */
export function telling(model: Model, onWait: (wait: ModelWait, model: string) => void): Model {
  return {
    ...model,
    performCompletion: (request: ModelRequest, options: ModelCallOptions) =>
      model.performCompletion(request, {
        ...options,
        onWait: (wait) => {
          options.onWait?.(wait);
          onWait(wait, model.id);
        },
      }),
  };
}
