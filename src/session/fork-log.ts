import { type Difference, differences } from '../config/differences.ts';
import { withoutPlaces } from '../config/preload-paths.ts';
import type { Config } from '../config/schema.ts';
import { optimize } from '../engine/loop.ts';
import type { Decision, EventOf } from '../events/events.ts';
import type { Bounds } from '../events/shapes.ts';
import { Journal } from '../journal/journal.ts';
import { fail } from '../ports/failure.ts';
import type { Pack } from '../ports/task.ts';
import { bounds, differenceTexts, isOfSplits } from './effective-config.ts';
import { EndOfLog } from './ends.ts';
import {
  configOf,
  createdEvent,
  loopPlan,
  planEvent,
  type SeedSkill,
  splitsEvent,
  splitWarnings,
} from './first-lines.ts';
import type { Parent, Place } from './fork-parent.ts';
import { inheritedSplits, refuseEmptied, type TaskChanges, taskChanges } from './fork-tasks.ts';
import { type Effect, type Inheritance, InheritedPorts } from './inherited-ports.ts';
import { sessionOps } from './replay.ts';

export type ForkOptions = {
  readonly parent: Parent;
  readonly place: Place;
  /** Line from which on this program decides otherwise; null = it decides the same. */
  readonly differsAt: number | null;
  /** Id of the new session. */
  readonly session: string;
  readonly program: string;
  readonly now: () => string;
  /** The fork's config, paths as seen from its directory, with budget and limits as they are wanted. */
  readonly config: Config;
  /** Budget and limits as its config file has them. */
  readonly file: Bounds;
  readonly skill: SeedSkill;
  readonly pack: Pack;
  /** Versions of what would take part now; asked only when the environment is another one. */
  readonly versions: () => Promise<Readonly<Record<string, string>>>;
  /** What a person should know of the fork, sentences; they go into its log. */
  readonly notes: readonly string[];
};

/** The log that a fork begins with, and what it took over. */
export type ForkLog = {
  readonly text: string;
  readonly created: EventOf<'session.created'>;
  readonly splits: EventOf<'splits.fixed'>;
  /** The parent's effects that went into it. */
  readonly effects: readonly Effect[];
  /** Decisions that were drawn again from them. */
  readonly decisions: readonly Decision[];
  /** What differs from the parent's config and drives decisions. */
  readonly changes: readonly Difference[];
  readonly tasks: TaskChanges;
  readonly notes: readonly string[];
};

/**
 * Builds the log of a fork in memory: the first lines, then what it inherits with the decisions that follow from it.
 * When nothing that drives decisions differs, they are the parent's own down to the place of the fork.
 */
export async function forkLog(o: ForkOptions): Promise<ForkLog> {
  const { parent, pack, place } = o;
  const was = configOf(parent.created);
  const asParent: Config = { ...was, ...placesOf(was, o.config) };
  const changes = differences(asParent, o.config).fork;
  const ofSplits = changes.filter((d) => isOfSplits(d.key));
  if (ofSplits.length > 0)
    throw fail(
      'session-mismatch',
      `a fork inherits its splits, and the config now wants others: ${differenceTexts(ofSplits).join(', ')}`,
      'splits',
      'set them back, or start a new session in a directory of its own',
    );
  const tasks = taskChanges(parent.created.pack.tasks, pack.tasks);
  const kept = inheritedSplits(parent, tasks);
  refuseEmptied(kept, pack.tasks, o.config.pack);
  const sameTasks = tasks.changed.length + tasks.gone.length + tasks.added.length + tasks.renamed.length === 0;
  const sameSkill = o.skill.text === parent.created.skill.text && o.skill.bundle === parent.created.skill.bundle;
  const same = changes.length === 0 && sameTasks && sameSkill;
  const fresh = createdEvent({
    ...o,
    config: same ? asParent : o.config,
    versions: {},
    rules: parent.created.rules,
  });
  const sameWorld = fresh.environment.fingerprint === parent.created.environment.fingerprint;
  const effects = sameWorld && sameSkill ? fitting(parent, place.line, tasks) : [];
  /** The engine will ask as it asked the parent, so that inputs fall on the same turns. */
  const carries = same && (o.differsAt === null || o.differsAt > place.line);
  const inputs = carries ? parent.inputs.filter((i) => i.line <= place.line).map((i) => i.event) : [];
  const created: EventOf<'session.created'> = {
    ...fresh,
    environment: {
      ...fresh.environment,
      versions: sameWorld ? parent.created.environment.versions : { ...(await o.versions()) },
    },
    wanted: bounds(o.config),
    fork: {
      session: parent.created.session,
      step: place.step,
      head: parent.head(place.line),
      ...kept,
      looks: parent.looks,
      effects: effects.length,
    },
  };
  const splits = splitsEvent(created);
  const plan = planEvent(created, splits);
  const notes = [...o.notes, ...leftBehind(parent, place, inputs.length, carries)];

  const journal = Journal.memory('', { now: o.now });
  for (const _ of journal.read()) throw new Error('a new log has no line');
  for (const event of [created, splits, plan]) journal.append(event);
  const decisions = await draw({ created, splits, plan }, { effects, inputs }, place, carries, journal);
  for (const what of splitWarnings(created)) journal.append({ type: 'warning.raised', what, where: 'splits', fix: '' });
  for (const what of notes)
    journal.append({ type: 'warning.raised', what, where: `forked from ${parent.created.session}`, fix: '' });
  return { text: journal.text(), created, splits, effects, decisions, changes, tasks, notes };
}

/** Where things lie, as the fork sees it. What is in skill and pack is compared by itself, in preloads by their versions. */
function placesOf(was: Config, { skill, pack, preloads }: Config): Pick<Config, 'skill' | 'pack' | 'preloads'> {
  const same = JSON.stringify(withoutPlaces(was.preloads)) === JSON.stringify(withoutPlaces(preloads));
  return { skill, pack, preloads: same ? preloads : was.preloads };
}

/** Writes effects, inputs and the decisions that follow from them, then the effects that no decision came to. */
async function draw(
  first: {
    readonly created: EventOf<'session.created'>;
    readonly splits: EventOf<'splits.fixed'>;
    readonly plan: EventOf<'plan.fixed'>;
  },
  inherited: { readonly effects: readonly Effect[]; readonly inputs: readonly EventOf<'input.received'>[] },
  place: Place,
  /** True: nothing is drawn beyond the place of the fork. */
  stopsThere: boolean,
  journal: Journal,
): Promise<readonly Decision[]> {
  const decisions: Decision[] = [];
  const isThere = () =>
    place.step === 0
      ? decisions.some((d) => d.type === 'evaluation.finished' && d.split === 'train')
      : decisions.some((d) => d.type === 'gate.decided' && d.step === place.step);
  const from: Inheritance = {
    effects: new Map(inherited.effects.map((e) => [e.key, e])),
    inputs: Map.groupBy(inherited.inputs, (i) => i.turn),
  };
  const ports = new InheritedPorts(
    from,
    (event) => {
      journal.append(event);
      if ('consumed' in event) decisions.push(event);
    },
    () => stopsThere && isThere(),
  );
  try {
    await optimize(loopPlan(first.created, first.splits, first.plan), ports, sessionOps(first.created));
  } catch (e) {
    if (!(e instanceof EndOfLog)) throw e;
  }
  for (const effect of inherited.effects) if (!ports.written.has(effect.key)) journal.append(effect);
  return decisions;
}

/**
 * The parent's effects down to a line, as far as the fork can ask for them: rollouts of tasks that are still the same
 * (never of the test split), and reflections on those rollouts alone.
 */
function fitting(parent: Parent, line: number, tasks: TaskChanges): readonly Effect[] {
  const sealed = new Set(parent.splits.test.map((t) => t.id));
  const otherNames = new Set([...tasks.gone, ...tasks.renamed.map((r) => r.from)]);
  const rollouts = new Set<string>();
  return parent.effects.flatMap(({ line: at, event }): readonly Effect[] => {
    if (at > line) return [];
    if (event.type === 'rollout.finished') {
      const task = sealed.has(event.task) ? undefined : tasks.same.get(event.task);
      if (task === undefined) return [];
      rollouts.add(event.key);
      return [{ ...event, task }];
    }
    const cites = event.answer.kind === 'proposal' ? event.answer.proposal.edits.flatMap((e) => e.cites) : [];
    return event.shown.every((key) => rollouts.has(key)) && !cites.some((id) => otherNames.has(id)) ? [event] : [];
  });
}

/** What people said to the parent and the fork does not hear: told, never dropped in silence. */
function leftBehind(parent: Parent, place: Place, carried: number, carries: boolean): readonly string[] {
  const left = parent.inputs.slice(carried).map((i) => i.event.input);
  const kinds = [
    ['note', 'note', 'notes'],
    ['ban', 'banned line', 'banned lines'],
    ['edit', 'edit by a person', 'edits by a person'],
  ] as const;
  const said = left.filter((i) => kinds.some(([kind]) => kind === i.kind));
  if (said.length === 0) return [];
  const counts = kinds.flatMap(([kind, one, many]) => {
    const n = said.filter((i) => i.kind === kind).length;
    return n === 0 ? [] : [`${n} ${n === 1 ? one : many}`];
  });
  const texts = said.map((i) => JSON.stringify('edit' in i ? i.edit.content || i.edit.target : 'text' in i && i.text));
  const why = carries ? `given after step ${place.step}` : 'other decisions follow from the start on';
  return [`${counts.join(' and ')} ${said.length === 1 ? 'is' : 'are'} not carried over (${why}): ${texts.join(', ')}`];
}
