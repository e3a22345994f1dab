import type { Preflight } from '../ports/preflight.ts';
import { learner } from './local-backend.ts';
import { priced, pricedRollouts } from './models.ts';
import { taskNotes } from './preflight.ts';
import { preloadsIn, preloadsUsed } from './preloads.ts';
import { skillCommands } from './skill-commands.ts';
import type { Wirable, Wired } from './wiring.ts';

/** What has to hold before a session goes on: of backend and optimizer, and of how they fit skill, tasks and prices. */
export function sessionChecks(
  session: Pick<Wirable, 'config' | 'pack' | 'skill'>,
  { rollouts, proposals, models, gateway }: Wired,
): readonly Preflight[] {
  return [
    rollouts,
    proposals,
    taskNotes(session.config, session.pack.tasks),
    skillCommands(session, preloadsIn(rollouts)),
    learner(session.config),
    preloadsUsed(session.config, rollouts),
    priced(session.config, models),
    pricedRollouts(session.config, gateway),
  ];
}
