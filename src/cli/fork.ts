import { resolve } from 'node:path';
import { countText } from '../events/words.ts';
import { shellWord } from '../ports/printable.ts';
import { type Forked, forkSession } from '../session/fork.ts';
import type { CommandContext } from './context.ts';
import { flagsOf } from './layered-config.ts';
import type { OverrideOptions } from './override-options.ts';
import { shownDir } from './read-state.ts';
import { sessionPlace } from './session-place.ts';
import { forkParts } from './wiring.ts';

export type ForkOptions = OverrideOptions & { readonly at?: number; readonly to?: string };

/** Makes a new session from a step of another one. */
export async function fork(dir: string, options: ForkOptions, context: CommandContext): Promise<void> {
  const given = flagsOf(options);
  const { dir: path, config, flags } = sessionPlace(dir, given);
  const odd: string[] = [];
  const forked = await forkSession(
    { dir: path, to: options.to === undefined ? null : resolve(options.to), at: options.at ?? null, config, flags },
    forkParts(path, (w) => odd.push(w)),
  );
  const next = `skillopt run ${shellWord(shownDir(forked.directory))}`;
  const notes = [...forked.notes, ...odd];
  for (const taken of given.taken) context.io.line(`taken       ${taken}`);
  context.io.result({ ...forked, notes, next }, [
    ...forkLines(forked),
    ...notes.map((note) => `note        ${note}`),
    `next        ${next}`,
  ]);
}

function forkLines(f: Forked): string[] {
  const { rollouts, proposals, steps } = f.inherited;
  const { train, selection, test } = f.splits;
  const after = f.parent.step === 0 ? 'the baseline' : `step ${f.parent.step}`;
  const tasks = [
    told('changed, to be rolled anew', f.tasks.changed),
    told('gone', f.tasks.gone),
    told('new', f.tasks.added),
    told(
      'renamed',
      f.tasks.renamed.map((r) => `${r.from} → ${r.to}`),
    ),
  ].filter(Boolean);
  return [
    `forked      session ${f.parent.session} after ${after} → ${shownDir(f.directory)} (session ${f.session})`,
    `inherited   ${train} train, ${selection} selection, ${test} test tasks (sealed) · ${countText(rollouts, 'rollout')} and ${countText(proposals, 'proposal')}, not paid again · ${countText(steps, 'step')} decided from them`,
    ...(f.changes.length > 0
      ? [`changes     ${f.changes.map(changeText).join(', ')}`]
      : tasks.length === 0
        ? ['changes     nothing that decisions depend on']
        : []),
    ...(f.inPlace.length > 0 ? [`from here   ${f.inPlace.map(changeText).join(', ')}`] : []),
    ...tasks.map((text) => `pack        ${text}`),
    ...(f.look > 1
      ? [
          `test        was opened ${f.look === 2 ? 'once' : `${f.look - 1} times`} before: finalize here is look ${f.look}`,
        ]
      : []),
  ];
}

const told = (what: string, ids: readonly string[]) => (ids.length > 0 ? `${what}: ${ids.join(', ')}` : '');
const changeText = (d: Forked['changes'][number]) => `${d.key} ${JSON.stringify(d.was)} → ${JSON.stringify(d.is)}`;
