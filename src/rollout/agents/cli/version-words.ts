/** The first version in a text, `x.y.z` with what may hang on it; null = there is none. */
export function versionIn(text: string): string | null {
  return /\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?/.exec(text)?.[0] ?? null;
}

/** Is version `a` older than `b`? By numbers alone. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let at = 0; at < 3; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export const majorOf = (version: string): number => numbersOf(version)[0] ?? 0;

const numbersOf = (version: string): readonly number[] => version.split(/[-+]/, 1)[0]!.split('.').map(Number);
