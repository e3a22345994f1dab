/** Why something a user asked for could not be done. One code, one exit code, one troubleshooting entry. */
export const failureCodes = [
  'usage',
  'config',
  'skill',
  'pack',
  'splits',
  'preflight',
  'session-busy',
  'session-mismatch',
  'log-broken',
  'log-diverged',
  'disk',
  'auth',
  'quota',
  'environment-down',
  'optimizer',
  'source-moved',
  'interrupted',
  'internal',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** A failure as a user meets it: what failed, where, and the smallest next fix. Made where the error arises. */
export type Failure = {
  readonly code: FailureCode;
  /** What failed, one sentence without a trailing period. */
  readonly what: string;
  /** File (with line where known), task, setting or command. */
  readonly where: string;
  /** The smallest next step that mends it. */
  readonly fix: string;
  /** Whether doing the same again later may succeed without any change by the user. */
  readonly retryable: boolean;
  /** From when on what refused will take it again (ISO 8601), where it said so: until then no try is worth it. */
  readonly retryAt?: string | undefined;
};

/** The one error type that crosses rooms. */
export class SkilloptError extends Error {
  override readonly name = 'SkilloptError';
  constructor(
    readonly failure: Failure,
    options?: { readonly cause?: unknown },
  ) {
    super(`${failure.what} (${failure.where})`, options);
  }
}

/** Shorthand: `throw fail('pack', 'no instruction.md', dir, 'add the file')`. */
export function fail(
  code: FailureCode,
  what: string,
  where: string,
  fix: string,
  more: { readonly retryable?: boolean; readonly cause?: unknown } = {},
): SkilloptError {
  return new SkilloptError({ code, what, where, fix, retryable: more.retryable ?? false }, { cause: more.cause });
}
