/** A program in a terminal of its own. */
export type InTerminal = {
  readonly pid: number;
  /** Milliseconds from the start until `shown` first held for all that was written so far. Throws when it ends before, or after a minute. */
  readonly until: (shown: (written: string) => boolean) => Promise<number>;
  readonly press: (key: string) => void;
  /** Asks it to end as a user does, then makes it, and waits until it is gone. */
  readonly end: () => Promise<void>;
};

const longestMs = 60_000;
const politeMs = 5_000;

/** Starts a program with a terminal of 120 × 40 on all its streams; what it writes is drained until it is gone. */
export function startInTerminal(
  command: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): InTerminal {
  let written = '';
  let look = () => {};
  const decoder = new TextDecoder();
  const startedAt = performance.now();
  const child = Bun.spawn([...command], {
    cwd: options.cwd,
    env: options.env,
    terminal: {
      cols: 120,
      rows: 40,
      data(_terminal, data) {
        written += decoder.decode(data, { stream: true });
        look();
      },
    },
  });
  const until = (shown: (written: string) => boolean) =>
    new Promise<number>((resolve, reject) => {
      const give = (why: string) =>
        reject(new Error(`${command.join(' ')} ${why}; it wrote:\n${written.slice(-2_000)}`));
      const late = setTimeout(() => give('did not show it in time'), longestMs);
      look = () => {
        if (!shown(written)) return;
        resolve(performance.now() - startedAt);
        look = () => {};
        clearTimeout(late);
      };
      void child.exited.then(() => {
        clearTimeout(late);
        give('ended');
      });
      look();
    });
  return {
    pid: child.pid,
    until,
    press: (key) => void child.terminal?.write(key),
    async end() {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), politeMs);
      await child.exited;
      clearTimeout(kill);
      child.terminal?.close();
    },
  };
}

/** True once the alternate screen was entered and the text stands behind that. */
export function paintedOnScreen(text: string): (written: string) => boolean {
  return (written) => {
    const entered = written.indexOf('\x1b[?1049h');
    return entered >= 0 && written.includes(text, entered);
  };
}
