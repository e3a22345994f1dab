import { ChildProcess } from 'node:child_process';

/**
 * Lets execa say why a process could not be started. It then hands out a `ChildProcess` that never ran and sets its
 * streams; Bun has these as getters alone, so that a bare TypeError would stand in the place of the system's reason
 * (EMFILE, E2BIG, …).
 */
for (const name of ['stdin', 'stdout', 'stderr', 'stdio']) {
  const found = Object.getOwnPropertyDescriptor(ChildProcess.prototype, name);
  if (found?.get === undefined || found.set !== undefined || found.configurable !== true) continue;
  Object.defineProperty(ChildProcess.prototype, name, {
    ...found,
    set(this: ChildProcess, value: unknown) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
  });
}
