import type { Redactor } from '../journal/redact.ts';
import type { Outcome } from '../ports/outcome.ts';

/** An outcome with every text that a verifier or an agent may have chosen redacted: details, and the names of rewards. */
export async function redactOutcome(o: Outcome, redact: Redactor): Promise<Outcome> {
  if (o.status === 'unscored') return { ...o, detail: await redact(o.detail) };
  const rewards: Record<string, number> = {};
  for (const [name, value] of Object.entries(o.rewards)) rewards[await redact(name)] = value;
  return { ...o, rewards };
}
