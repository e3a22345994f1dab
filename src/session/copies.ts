import type { EventOf } from '../events/events.ts';
import { fail } from '../ports/failure.ts';
import type { Pack } from '../ports/task.ts';

/** What is mounted beside SKILL.md has to be what the session began with. */
export async function checkSkillCopy(
  created: EventOf<'session.created'>,
  copy: string,
  reading: Promise<{ readonly bundle: string }>,
): Promise<void> {
  const found = await orChanged('skill', copy, reading);
  if (found.bundle !== created.skill.bundle) throw copyChanged('session', 'skill', copy);
}

/** The session's copy of the pack, which has to be the one that it began with. */
export async function checkPackCopy(
  created: EventOf<'session.created'>,
  copy: string,
  reading: Promise<Pack>,
): Promise<Pack> {
  const pack = await orChanged('pack', copy, reading);
  if (pack.hash !== created.pack.hash) throw copyChanged('session', 'pack', copy);
  return pack;
}

/** A copy that was good when it was made and can't be read now was changed. */
async function orChanged<T>(what: string, where: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw copyChanged('session', what, where, cause);
  }
}

/** A copy of the skill or the pack is not what it was. */
export function copyChanged(whose: 'session' | 'eval', what: string, where: string, cause?: unknown) {
  return fail(
    'session-mismatch',
    `the ${whose}’s copy of the ${what} was changed`,
    where,
    whose === 'session'
      ? 'restore it; to optimize on something else, go on in a fork: `skillopt fork`'
      : 'restore it, or measure anew with another --out',
    { cause },
  );
}
