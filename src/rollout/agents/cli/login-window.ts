import type { CliReading } from './cli-kind.ts';
import { type SaidAt, usedUp } from './used-up.ts';

/** A login's window that is used up is told by the words of an error: its status is that of any haste. */
export function withWindow(reading: CliReading, at: SaidAt): CliReading {
  const { trouble } = reading;
  if (trouble === null || trouble.kind === 'auth' || trouble.kind === 'limit') return reading;
  const window = usedUp(trouble.detail, at);
  if (window === null) return reading;
  const resetsAt = trouble.resetsAt ?? window.resetsAt ?? undefined;
  return { ...reading, trouble: { kind: 'quota', detail: trouble.detail, resetsAt } };
}
