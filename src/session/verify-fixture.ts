import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type VerifyReport, verifySession } from './verify.ts';

/** What verify says of a log that lies alone; that its trajectories are not beside it is no matter. */
export async function verified(log: string): Promise<VerifyReport> {
  const dir = mkdtempSync(join(tmpdir(), 'skillopt-verify-'));
  try {
    writeFileSync(join(dir, 'skillopt.jsonl'), log);
    const report = await verifySession(dir, () => '', 'test');
    return { ...report, problems: report.problems.filter((p) => p.kind !== 'missing text') };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** What is wrong with a log, a sentence each. */
export async function problemsOf(log: string): Promise<readonly string[]> {
  return (await verified(log)).problems.map((p) => p.what);
}
