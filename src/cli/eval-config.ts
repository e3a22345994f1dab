import { resolve } from 'node:path';
import {
  configOfLayers,
  type Layers,
  layersOf,
  type Override,
  placeOf,
  sourceOf,
  valueAt,
  withOverrides,
} from '../config/layers.ts';
import { modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { Pack } from '../ports/task.ts';
import type { EvalOptions } from './eval-options.ts';
import type { Flags } from './layered-config.ts';

/** What sets keys of an eval's config, the last one strongest: variables, `--set` and its like, and flags of its own. */
export type EvalOverrides = readonly Override[];

/** Keys that an eval has a use for, and those of a session’s splits. */
const used =
  /^(skill|pack|backend|agent|model|login|agentLimits|sandbox|harbor|preloads|optimize|seed|gate\.passThreshold|limits|workers|timeouts|allowUnsandboxed)(\.|$)/;
const usedForSplits = /^(splits|taskLimit)(\.|$)/;

/**
 * Flags that set keys of which an eval has no use, as they were given. `drawsSplits`: in a session that has not begun,
 * whose splits still follow from its config.
 */
export function unused(overrides: EvalOverrides, drawsSplits: boolean): readonly string[] {
  const has = (key: string) => used.test(key) || (drawsSplits && usedForSplits.test(key));
  return overrides.flatMap(({ key, source }) => (source.kind === 'flag' && !has(key) ? [source.flag] : []));
}

/** The layers that an eval without a session starts from. */
export function flagsGround(skill: string, pack: string): Layers {
  return layersOf({ skill, pack, optimizer: 'rehearsal' }, { kind: 'default' }, 'the command line');
}

/**
 * The config of an eval. Where nobody names a backend it follows from the kind of the pack (`byPack`). Throws `config` for
 * what is missing, naming the flag.
 */
export function evalConfig(
  pack: Pack,
  o: EvalOptions,
  ground: Layers,
  overrides: EvalOverrides,
  byPack: boolean,
): { readonly config: Config; readonly placeOf: (key: string) => string } {
  let layers = withFlags(ground, o, overrides);
  if (byPack && sourceOf(layers, 'backend').kind === 'default') {
    const backend = pack.tasks[0]?.kind === 'prompt' ? 'chat' : 'local';
    layers = withOverrides(layers, [{ key: 'backend', value: backend, source: { kind: 'default' } }]);
  }
  const config = configOfLayers(layers);
  if (config.backend === 'chat' && config.model === null)
    throw fail(
      'config',
      'the prompts of a pack are asked of a model, and none is named',
      '--model',
      'add --model provider/model, and for a server of your own --base-url http://localhost:8000/v1',
    );
  const { model: name, baseUrl } = config.model === null ? { model: '' } : modelSettings(config.model);
  if (config.backend === 'chat' && name.startsWith('openai-compatible/') && baseUrl === undefined && byPack)
    throw fail(
      'config',
      `${name} has no address`,
      '--base-url',
      'add --base-url with the one where it answers, such as http://localhost:8000/v1',
    );
  if (config.backend !== 'chat' && config.agent === NO_AGENT)
    throw fail(
      'config',
      'task folders are done by an agent, and none is named',
      '--agent',
      'add --agent rehearsal, a small program that follows the lines of the skill word by word',
    );
  if (config.optimize === 'description' && o.withoutSkill)
    throw fail(
      'usage',
      'the description is what is measured, and without a skill there is none to open',
      '--no-skill',
      'leave it out, or compare with another skill: --vs',
    );
  return { config, placeOf: (key) => placeOf(layers, key) };
}

/** What `agent` says where nobody names one. */
const NO_AGENT = 'chat';

/** What a flag of `eval` itself sets; nothing where it was not given. */
function setBy(flag: string, key: string, value: unknown): EvalOverrides {
  return value === undefined ? [] : [{ key, value, source: { kind: 'flag', flag } }];
}

const ownOverrides = (o: EvalOptions): EvalOverrides => [
  ...setBy(`--backend ${o.backend}`, 'backend', o.backend),
  ...setBy(`--agent ${o.agent}`, 'agent', o.agent),
  ...setBy('--allow-unsandboxed', 'allowUnsandboxed', o.allowUnsandboxed),
];

/** How the model of the flags is reached. */
const reachedBy = (o: EvalOptions): EvalOverrides => [
  ...setBy(`--base-url ${o.baseUrl}`, 'model.baseUrl', o.baseUrl),
  ...setBy(`--key-env ${o.keyEnv}`, 'model.keyEnv', o.keyEnv === 'none' ? null : o.keyEnv),
];

/**
 * Layers with all flags: `--model` below what sets parts of it. Another model is reached in its own way, the same one as
 * it was.
 */
function withFlags(ground: Layers, o: EvalOptions, overrides: EvalOverrides): Layers {
  const around = overrides.filter(({ source }) => source.kind !== 'flag');
  const flags = overrides.filter(({ source }) => source.kind === 'flag');
  const model = setBy(`--model ${o.model}`, 'model', o.model);
  const layers = withOverrides(ground, [...around, ...model, ...flags, ...ownOverrides(o)]);
  const reached = reachedBy(o);
  const named = valueAt(layers, 'model');
  if (reached.length > 0 && (named === null || named === undefined))
    throw fail('config', 'the address of a model is named, but no model', '--model', 'add --model provider/model');
  return withOverrides(layers, reached);
}

/** Throws `usage` for a flag of `eval` itself beside a `--set`, or another name, of the same key with another value. */
export function refuseContradictions(typed: EvalOptions, flags: Flags): void {
  const own = [
    ...setBy(`--skill ${typed.skill}`, 'skill', typed.skill),
    ...setBy(`--pack ${typed.pack}`, 'pack', typed.pack),
    ...setBy(`--model ${typed.model}`, 'model.model', typed.model),
    ...ownOverrides(typed),
    ...reachedBy(typed),
  ];
  const refuse = (one: string, other: string) => {
    const what = `two flags contradict each other: ${one} and ${other}`;
    throw fail('usage', what, 'the command line', 'keep one of them');
  };
  for (const { key, value, source } of own)
    for (const set of flags.overrides) {
      const said = saidOf(set, key);
      if (said === undefined || JSON.stringify(said) === JSON.stringify(value)) continue;
      if (source.kind === 'flag' && set.source.kind === 'flag') refuse(source.flag, set.source.flag);
    }
  if (typed.out !== undefined && flags.outRoot !== null && resolve(typed.out) !== resolve(flags.outRoot))
    refuse(`--out ${typed.out}`, `--cfg-options env.out_root=${flags.outRoot}`);
}

/** What an override says of a key; undefined = nothing. A model may be named by its name alone. */
function saidOf(set: Override, key: string): unknown {
  if (set.key === key) return set.value;
  const [top, part] = key.split('.');
  if (part === undefined || set.key !== top) return undefined;
  if (typeof set.value === 'string') return part === 'model' ? set.value : undefined;
  return (set.value as Readonly<Record<string, unknown>> | null)?.[part];
}
