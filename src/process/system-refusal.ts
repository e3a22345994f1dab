/** Too many open files (of this process, of the machine), too many processes, no memory. */
const codes: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/**
 * True for an error code by which the system says that it has no room now, whatever was asked of it: it speaks of
 * this machine and its limits, never of the command, the task or the agent.
 */
export function isSystemRefusal(code: unknown): boolean {
  return codes.has(code);
}

/** The code of a system error; undefined = it has none. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null | undefined)?.code;
}
