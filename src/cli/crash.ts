const restores = new Set<() => void>();

/** Runs before a fault of this program ends it: gives the terminal back. Returns the function that forgets it. */
export function onCrash(restore: () => void): () => void {
  restores.add(restore);
  return () => restores.delete(restore);
}

/** Gives back what was taken, the last one first. */
export function restoreAll(): void {
  for (const restore of [...restores].reverse()) restore();
}
