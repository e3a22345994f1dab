/** For tests: runs `work` while clock, randomness and timers throw, as the engine must not touch them. */
export async function withoutWorld<T>(work: () => Promise<T>): Promise<T> {
  const refuse = (what: string) => () => {
    throw new Error(`the engine used ${what}`);
  };
  const saved = {
    now: Date.now,
    random: Math.random,
    timer: globalThis.setTimeout,
    immediate: globalThis.setImmediate,
    perf: performance.now,
  };
  Date.now = refuse('the clock');
  Math.random = refuse('randomness');
  globalThis.setTimeout = refuse('a timer') as unknown as typeof setTimeout;
  globalThis.setImmediate = refuse('a timer') as unknown as typeof setImmediate;
  performance.now = refuse('the clock');
  try {
    return await work();
  } finally {
    Date.now = saved.now;
    Math.random = saved.random;
    globalThis.setTimeout = saved.timer;
    globalThis.setImmediate = saved.immediate;
    performance.now = saved.perf;
  }
}
