import type { Journal } from '../journal/journal.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { Interrupted, OtherDecision, Paused } from './ends.ts';
import type { Logged } from './logged.ts';
import { divergence } from './replay.ts';

const GO_ON = 'start it again: it goes on where it stopped';

/** Whose work ends: a session or an eval, by its log. */
type Work = {
  readonly journal: Pick<Journal, 'append'>;
  readonly paths: { readonly log: string; readonly dir: string };
};

/** The failure of a run that was stopped by its user. */
export function stopped(dir: string, cause?: unknown): SkilloptError {
  return fail('interrupted', 'the run was stopped; nothing that finished is lost', dir, GO_ON, {
    retryable: true,
    cause,
  });
}

/** What a foreign end of the run means for the user. A stop and a pause are written into the log, for people. */
export function explain(e: unknown, work: Work): unknown {
  if (e instanceof OtherDecision) return divergence(e, work.paths.log);
  if (e instanceof Interrupted) {
    note(work, 'stopped by the user', GO_ON);
    return stopped(work.paths.dir, e);
  }
  if (e instanceof Paused) {
    const { what, where, fix } = e.failure;
    note(work, what, fix, { where, ...(e.role === null ? {} : { role: e.role }) });
    return new SkilloptError(e.failure, { cause: e });
  }
  return e;
}

/** A marker for people; where even that can’t be written, the failure itself says enough. */
function note(
  { journal }: Work,
  why: string,
  fix: string,
  failed: { readonly where?: string; readonly role?: 'rollouts' | 'optimizer' } = {},
): void {
  try {
    journal.append({ type: 'session.paused', why, fix, ...failed });
  } catch (e) {
    if (!(e instanceof SkilloptError)) throw e;
  }
}

/** Versions that the outcomes so far were made with: the last ones that were taken note of; null = there is no log yet. */
export function knownVersions(logged: Logged): Readonly<Record<string, string>> | null {
  let known = (logged.created ?? logged.evaluation)?.environment.versions ?? null;
  for (const here of logged.inputs.values())
    for (const { input } of here) if (input.kind === 'environment.changed') known = input.versions;
  return known;
}

/** What differs between two sets of versions, in words; '' = nothing does. */
export function driftOf(was: Readonly<Record<string, string>>, is: Readonly<Record<string, string>>): string {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((k) => was[k] !== is[k])
    .map((k) => `${k} ${was[k] ?? 'absent'} → ${is[k] ?? 'absent'}`)
    .join(', ');
}
