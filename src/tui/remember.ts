/** Keeps the last value that was made, as long as it is asked for with the same things: frames come more often than news. */
export function remember<K extends readonly unknown[], V>(make: (...key: K) => V): (...key: K) => V {
  let last: { readonly key: K; readonly value: V } | null = null;
  return (...key) => {
    if (last === null || key.some((k, at) => !Object.is(k, last?.key[at]))) last = { key, value: make(...key) };
    return last.value;
  };
}
