/**
 * Why a process ended. `timeout` and `cancelled` are known by our own record, never by the exit code: a program may
 * catch the signal and exit 0.
 */
export type EndCause = 'exited' | 'signal' | 'timeout' | 'cancelled' | 'not-started';

/** How one process ended. A failing command is a value, never an exception. */
export type ProcessEnd = {
  readonly cause: EndCause;
  /** Null when a signal ended it or it never started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it could not start (command not found, folder missing), for people; else empty. */
  readonly detail: string;
  /**
   * It could not start because the system had no room for it (open files, processes, memory): this says nothing of
   * the command, and must never become an outcome.
   */
  readonly systemRefused: boolean;
  readonly durationMs: number;
  /** What it wrote, as UTF-8, up to the bound given; empty when the stream went to a file. */
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes of output beyond the bound: read, counted and thrown away. */
  readonly droppedBytes: number;
  /** True when the process was gone but something that it had started kept an output open, so reading was given up. */
  readonly abandonedOutput: boolean;
};

/** The end of a process that never was. */
export function notStarted(
  detail: string,
  more: { readonly cause?: EndCause; readonly systemRefused?: boolean; readonly durationMs?: number } = {},
): ProcessEnd {
  return {
    cause: more.cause ?? 'not-started',
    exitCode: null,
    signal: null,
    detail,
    systemRefused: more.systemRefused ?? false,
    durationMs: more.durationMs ?? 0,
    stdout: '',
    stderr: '',
    droppedBytes: 0,
    abandonedOutput: false,
  };
}
