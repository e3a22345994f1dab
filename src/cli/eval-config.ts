import {
  configOfLayers,
  type Layers,
  layersOf,
  type Override,
  placeOf,
  sourceOf,
  withOverrides,
} from '../config/layers.ts';
import { modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { Pack } from '../ports/task.ts';
import type { EvalOptions } from './eval-options.ts';

/** What sets keys of an eval's config, the last one strongest: variables, `--set` and its like, and flags of its own. */
export type EvalOverrides = readonly Override[];

/** Keys that an eval has a use for; `splits` where they are not fixed yet. */
const used =
  /^(skill|pack|backend|agent|model|optimize|seed|splits|gate\.passThreshold|limits|workers|timeouts|allowUnsandboxed)(\.|$)/;

/** Flags that set keys of which an eval has no use, as they were given. */
export function unused(overrides: EvalOverrides): readonly string[] {
  return overrides.flatMap(({ key, source }) => (source.kind === 'flag' && !used.test(key) ? [source.flag] : []));
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
  let layers = withOverrides(ground, [...overrides, ...ownOverrides(o)]);
  if (byPack && sourceOf(layers, 'backend').kind === 'default') {
    const backend = pack.tasks[0]?.kind === 'prompt' ? 'chat' : 'local';
    layers = withOverrides(layers, [{ key: 'backend', value: backend, source: { kind: 'default' } }]);
  }
  layers = withModel(layers, o);
  const config = configOfLayers(layers);
  if (config.backend === 'chat' && config.model === null)
    throw fail(
      'config',
      'the prompts of a pack are asked of a model, and none is named',
      '--model',
      'add --model provider/model, and for a server of your own --base-url http://localhost:8000/v1',
    );
  if (config.backend === 'local' && config.agent === NO_AGENT)
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

function ownOverrides(o: EvalOptions): EvalOverrides {
  const own = (flag: string, key: string, value: unknown): EvalOverrides =>
    value === undefined ? [] : [{ key, value, source: { kind: 'flag', flag } }];
  return [
    ...own(`--backend ${o.backend}`, 'backend', o.backend),
    ...own(`--agent ${o.agent}`, 'agent', o.agent),
    ...own('--allow-unsandboxed', 'allowUnsandboxed', o.allowUnsandboxed),
  ];
}

/** The model of the flags: another model is reached in its own way, the same one as it was. */
function withModel(layers: Layers, o: EvalOptions): Layers {
  if (o.model === undefined && o.baseUrl === undefined && o.keyEnv === undefined) return layers;
  const { model: base } = configOfLayers(layers);
  const name = o.model ?? (base === null ? undefined : modelSettings(base).model);
  if (name === undefined)
    throw fail('config', 'the address of a model is named, but no model', '--model', 'add --model provider/model');
  const kept = o.model === undefined && base !== null ? modelSettings(base) : {};
  const reached = {
    ...kept,
    model: name,
    ...(o.baseUrl === undefined ? {} : { baseUrl: o.baseUrl }),
    ...(o.keyEnv === undefined ? {} : { keyEnv: o.keyEnv === 'none' ? null : o.keyEnv }),
  };
  const flag = o.model !== undefined ? '--model' : o.baseUrl !== undefined ? '--base-url' : '--key-env';
  const value = Object.keys(reached).length === 1 ? name : reached;
  return withOverrides(layers, [{ key: 'model', value, source: { kind: 'flag', flag } }]);
}
