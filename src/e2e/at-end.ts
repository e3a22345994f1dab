/** What is done when the last test of all files has run; `setup.ts` calls it. */
const actions: (() => void)[] = [];

export function atVeryEnd(action: () => void): void {
  actions.push(action);
}

export function runAtVeryEnd(): void {
  for (const action of actions.splice(0).reverse()) action();
}
