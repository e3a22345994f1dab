/** Equal values of YAML, in the order in which they stand. */
export function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(plainValue(a)) === JSON.stringify(plainValue(b));
}

function plainValue(value: unknown): unknown {
  if (value instanceof Map) return ['map', [...value].map(([key, held]) => [plainValue(key), plainValue(held)])];
  return Array.isArray(value) ? ['list', value.map(plainValue)] : (value ?? null);
}
