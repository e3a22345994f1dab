import { fail } from '../ports/failure.ts';
import type { Override } from './layers.ts';
import { nearest } from './nearest.ts';
import { override, pairOf, shownPair } from './overrides.ts';

/** What a name of SkillOpt's config stands for here. */
type Alias = {
  readonly key: string;
  /** Its value there that says "none", which is null here. */
  readonly none?: string;
};

/** Where the session lies is no key here. */
const OUT_ROOT = 'env.out_root';

/** The names that `--cfg-options` takes. */
export const aliases: Readonly<Record<string, Alias>> = {
  'train.num_epochs': { key: 'search.epochs' },
  'train.batch_size': { key: 'search.batchSize' },
  'gradient.analyst_workers': { key: 'reflection.readers' },
  'gradient.minibatch_size': { key: 'reflection.minibatchSize' },
  'env.workers': { key: 'workers' },
  'env.limit': { key: 'taskLimit', none: '0' },
  'optimizer.learning_rate': { key: 'editBudget' },
};

const set = (pair: string) => `here it is --set ${pair}`;
const own = 'the models say how they are reached: --set model=…, --set optimizer=…, --set model.baseUrl=…';

/** Other names of SkillOpt's config: what stands for each here, or why nothing does. The first pattern that fits counts. */
const elsewhere: readonly (readonly [name: RegExp, instead: string])[] = [
  [/^model\.optimizer$/, set('optimizer=provider/model')],
  [/^model\.target$/, set('model=provider/model')],
  [/^model\.(reasoning_effort|rewrite_.*)$/, 'nothing stands for it: a model is asked as its provider has it'],
  [/^model\.(.*_)?(temperature|max_tokens)$/, set('model.temperature=… and model.maxOutputTokens=…')],
  [/^model\.(.*_)?api_key$/, 'keys stand in the provider’s variable, or in the one that --set model.keyEnv=NAME names'],
  [/^model\.(.*_)?(base_url|endpoint)$/, set('model.baseUrl=http://…')],
  [/^model\./, own],
  [/^train\.seed$/, set('seed=42')],
  [/^train\.train_size$/, `${set('splits.train=[…]')}, or a ratio in splits`],
  [/^train\.steps_per_epoch$/, 'nothing stands for it: it follows from the tasks of train and train.batch_size'],
  [
    /^train\.accumulation$/,
    'nothing stands for it: edits gather in a draft until --set search.draftSize=8 of them call for a gate',
  ],
  [/^gradient\.merge_batch_size$/, 'nothing stands for it: edits are not merged, each is tried by itself'],
  [/^gradient\.failure_only$/, 'nothing stands for it: the optimizer is shown failures and some successes'],
  [
    /^optimizer\.(min_learning_rate|lr_scheduler|lr_control_mode)$/,
    set(`'editBudget={"schedule":"cosine","max":4,"min":2}'`),
  ],
  [/^optimizer\.skill_update_mode$/, 'nothing stands for it: a skill is changed by small edits alone'],
  [
    /^optimizer\.use_meta_skill$/,
    `${set('search.memory=false')} is what comes close: points of an edit stay with its text`,
  ],
  [/^optimizer\.meta_learning_rate$/, 'nothing stands for it: there is no meta skill that is edited'],
  [/^optimizer\.use_slow_update$/, `${set('slowUpdate=true')}: its guidance meets a gate of its own`],
  [
    /^optimizer\.(slow_update_samples|slow_update_gate_with_selection|longitudinal_pair_policy)$/,
    'nothing stands for it: guidance follows from what was tried, and always meets the gate',
  ],
  [
    /^optimizer\.(use_skill_aware_reflection|skill_aware_.*)$/,
    'nothing stands for it: a lapse of the agent leads to no edit, as no edit of it passes its try',
  ],
  [/^evaluation\.use_gate$/, 'nothing stands for it: no edit is kept without the gate'],
  [/^evaluation\.gate_metric$/, set('gate.metric=hard')],
  [/^evaluation\.gate_mixed_weight$/, 'nothing stands for it: gate.metric=mixed weighs both alike'],
  [/^evaluation\.(sel|test)_env_num$/, `${set('splits=…')}: a ratio, or lists of task ids`],
  [/^evaluation\.eval_test$/, 'nothing stands for it: run stops before the sealed test, --finalize goes on to it'],
  [
    /^evaluation\.(use_semantic_density|semantic_density_weight|leading_words)$/,
    'nothing stands for it: a gate compares what the tasks score',
  ],
  [/^env\.(name|data_path)$/, set('pack=FOLDER')],
  [/^env\.skill_init$/, set('skill=FOLDER')],
  [/^env\.split_seed$/, set('seed=42')],
  [/^env\.(split_mode|split_ratio|split_dir)$/, `${set('splits=…')}: a ratio, or lists of task ids`],
  [/^env\.split_output_dir$/, 'nothing stands for it: the splits stand in the session’s log'],
  [/^env\.exec_timeout$/, set('timeouts.agentSec=120')],
  [/^env\.max_completion_tokens$/, set('model.maxOutputTokens=16384')],
  [/^env\.max_turns$/, 'nothing stands for it: an agent has the time that its task gives it'],
];

/** What `--cfg-options` was given. `taken` = what each was taken for, a sentence. */
export type CfgOptions = {
  readonly overrides: readonly Override[];
  readonly outRoot: string | null;
  readonly taken: readonly string[];
};

/**
 * Reads SkillOpt's `section.key=value`. Throws `config` for a name that nothing stands for here, with what does instead
 * or the nearest name.
 */
export function cfgOptions(texts: readonly string[]): CfgOptions {
  const overrides: Override[] = [];
  const taken: string[] = [];
  let outRoot: string | null = null;
  for (const text of texts) {
    const [name, given] = pairOf(text, '--cfg-options');
    if (name === OUT_ROOT) {
      if (given.trim() === '') throw fail('usage', `${OUT_ROOT} is empty`, '--cfg-options', 'name a directory');
      outRoot = given;
      taken.push(`${name} is the session’s directory: ${given}`);
      continue;
    }
    const alias = aliases[name];
    const flag = `--cfg-options ${shownPair(name, given)}`;
    if (alias === undefined) throw noAlias(name, flag);
    const value = given === alias.none ? 'null' : given;
    overrides.push(override(alias.key, value, flag));
    taken.push(`${name}=${given} is ${alias.key}=${value}`);
  }
  return { overrides, outRoot, taken };
}

function noAlias(name: string, flag: string) {
  const known = [...Object.keys(aliases), OUT_ROOT];
  const instead = elsewhere.find(([pattern]) => pattern.test(name))?.[1];
  const close = nearest(name, known) ?? known.find((k) => k.endsWith(`.${name}`)) ?? null;
  if (close !== null && instead === undefined)
    return fail('config', `${name} is no name that --cfg-options takes`, flag, `did you mean ${close}?`);
  return fail(
    'config',
    `${name} has no counterpart of that name here`,
    flag,
    instead ?? `the names are ${known.join(', ')}; keys of this program’s own config are set with --set`,
  );
}
