import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { noPreloads } from '../config/preloads.ts';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import { printableName } from '../ports/printable.ts';
import type { EvalWanted } from '../session/eval-copies.ts';
import { drawTasks } from '../session/eval-first-line.ts';
import type { SeedSkill } from '../session/first-lines.ts';
import { exampleName } from './bundled.ts';
import { type EvalOverrides, evalConfig, flagsGround } from './eval-config.ts';
import { bestOf, type Ground, isInSession, sessionPart } from './eval-ground.ts';
import type { EvalOptions } from './eval-options.ts';
import { environment, type Flags } from './layered-config.ts';
import { shownDir } from './read-state.ts';
import { skillFolder, sources } from './sources.ts';

/** An eval as it is wanted, where it lies, and whether all that it would run comes with this program. */
export type Wanting = { readonly wanted: EvalWanted; readonly out: string; readonly bundled: boolean };

/** The command line with what `--set` and its like say of skill, pack and place; outside of a session variables, too. */
export function evalOptions(dir: string | undefined, o: EvalOptions, flags: Flags): EvalOptions {
  const named = (key: string, list: EvalOverrides) => {
    const value = list.findLast((x) => x.key === key)?.value;
    return typeof value === 'string' ? { [key]: value } : {};
  };
  const set = { ...named('skill', flags.overrides), ...named('pack', flags.overrides), ...o };
  const out = set.out ?? flags.outRoot ?? undefined;
  const surroundings = isInSession(dir, set) ? [] : environment();
  const all = { ...named('skill', surroundings), ...named('pack', surroundings), ...set };
  return out === undefined ? all : { ...all, out };
}

type Named = { readonly from: string; readonly import: (to: string) => Promise<SeedSkill> };

/** `onWarning` hears what is odd about a skill. */
export function wantedEval(
  o: EvalOptions,
  ground: Ground | null,
  overrides: EvalOverrides,
  now: () => string,
  onWarning: (text: string) => void,
): Wanting {
  const skill = skillOf(o, ground, onWarning);
  const other = o.vs === undefined ? null : named(o.vs, process.cwd(), onWarning);
  const part = ground === null ? flagsPart(o, onWarning) : sessionPart(ground, now);
  const limit = o.limit ?? null;
  const out = resolve(o.out ?? defaultOut(skill.from, ground, o));
  const isExample = (from: string | undefined) => from !== undefined && exampleName(from) !== null;
  const wanted: EvalWanted = {
    ...part,
    arms: [
      { arm: 'skill', importSkill: skill.import },
      ...(o.withoutSkill ? [{ arm: 'no-skill' as const, importSkill: null }] : []),
      ...(other === null ? [] : [{ arm: 'other' as const, importSkill: other.import }]),
    ],
    configOf: (pack) =>
      evalConfig(pack, o, ground?.layers ?? flagsGround(skill.from, part.packFrom), overrides, ground === null),
    tasksOf(pack, config) {
      const { of, tasks } = measurable(part.tasksOf(pack, config), config.optimize);
      return { of, tasks: drawTasks(tasks, limit, config.seed) };
    },
    attempts: o.repeat ?? 1,
    otherOut: freeBeside(out),
  };
  // a skill of a bundled session holds what its own list of edits has
  const own = ground !== null && o.skill === undefined && isExample(ground.config.skill);
  const bundled = isExample(part.packFrom) && (own || isExample(skill.from)) && (o.vs === undefined || isExample(o.vs));
  return { wanted, out, bundled };
}

/** Where the description is measured, only tasks that say whether the skill is meant for them. */
function measurable(all: ReturnType<EvalWanted['tasksOf']>, optimize: Config['optimize']): typeof all {
  if (optimize === 'body') return all;
  const tasks = all.tasks.filter((t) => t.shouldTrigger !== null);
  if (tasks.length > 0) return { of: tasks.length, tasks };
  throw fail(
    'pack',
    'no task says whether the skill is meant for it, and the description is what is measured',
    'optimize',
    'add "should_trigger": true or false to the tasks, or set "optimize": "body"',
  );
}

function skillOf(o: EvalOptions, ground: Ground | null, onWarning: (text: string) => void): Named {
  const preloads = ground?.config.preloads;
  if (o.skill !== undefined) return named(o.skill, process.cwd(), onWarning, preloads);
  if (ground !== null) return bestOf(ground) ?? named(ground.config.skill, ground.base, onWarning, preloads);
  throw fail(
    'usage',
    'no skill is named',
    '--skill',
    'add --skill with the path of a SKILL.md or of its folder, or name the directory of a session',
  );
}

/** A skill by its path, which starts from `base`. */
function named(from: string, base: string, onWarning: (text: string) => void, preloads = noPreloads): Named {
  const { importSkill } = sources(base, onWarning);
  return { from, import: (to) => importSkill({ skill: from, preloads }, to) };
}

function flagsPart(
  o: EvalOptions,
  onWarning: (text: string) => void,
): Pick<EvalWanted, 'importPack' | 'packFrom' | 'session' | 'look' | 'tasksOf'> {
  const { pack } = o;
  if (pack === undefined)
    throw fail(
      'usage',
      'no pack is named: there is nothing to measure the skill on',
      '--pack',
      'add --pack with a folder of tasks or a tasks.json, or name the directory of a session',
    );
  return {
    packFrom: pack,
    session: null,
    look: null,
    importPack: (to) => sources(process.cwd(), onWarning).importPack({ pack }, to),
    tasksOf: ({ tasks }) => ({ of: tasks.length, tasks }),
  };
}

/** Where an eval lies by itself: beside the caller, named after the skill; in a session below it, by skill and split. */
function defaultOut(from: string, ground: Ground | null, o: EvalOptions): string {
  if (ground === null) return `skillopt-eval-${folderName(from)}`;
  const skill = o.skill === undefined ? (ground.state?.incumbent ?? 'seed').slice(0, 6) : folderName(o.skill);
  return join(ground.dir, 'skillopt.evals', `${ground.split}-${skill}`);
}

/** A name that a folder can have, from a path or `example:NAME`. */
function folderName(from: string): string {
  const example = exampleName(from);
  const name = example ?? basename(skillFolder(process.cwd(), from));
  return (
    printableName(name)
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .slice(0, 80) || 'skill'
  );
}

/** A name beside a directory that nothing has yet, as the user would type it. */
function freeBeside(out: string): string {
  for (let n = 2; ; n++) if (!existsSync(`${out}-${n}`)) return shownDir(`${out}-${n}`);
}
