/** Waits until the condition holds, looking more and more seldom (2 to 40 ms); false when `limitMs` passed first. */
export async function waitUntil(condition: () => boolean, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (let pause = 2; ; pause = Math.min(40, pause * 2)) {
    if (condition()) return true;
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
  }
}

/** The promise's value, or `null` when it did not settle within `limitMs`. */
export async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
