import { checkConfig } from '../config/load.ts';
import { modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import { fail } from '../ports/failure.ts';
import type { Pack } from '../ports/task.ts';
import type { EvalOptions } from './eval-options.ts';

const WHERE = 'the command line';

/**
 * The config of an eval: what a session's has (`ground`), and over it the flags. Without a session the backend follows
 * from the kind of the pack. Throws `config` for what is missing, naming the flag.
 */
export function evalConfig(pack: Pack, o: EvalOptions, ground: Config | null, skill: string, packFrom: string): Config {
  const isChat = pack.tasks[0]?.kind === 'prompt';
  const backend = o.backend ?? ground?.backend ?? (isChat ? 'chat' : 'local');
  const model = modelOf(o, ground);
  const agent = o.agent ?? (ground !== null && ground.backend === backend ? ground.agent : undefined);
  if (backend === 'chat' && model === null)
    throw fail(
      'config',
      'the prompts of a pack are asked of a model, and none is named',
      '--model',
      'add --model provider/model, and for a server of your own --base-url http://localhost:8000/v1',
    );
  if (backend === 'local' && agent === undefined)
    throw fail(
      'config',
      'task folders are done by an agent, and none is named',
      '--agent',
      'add --agent rehearsal, a small program that follows the lines of the skill word by word',
    );
  return checkConfig(
    {
      ...(ground ?? { optimizer: 'rehearsal' }),
      skill,
      pack: packFrom,
      backend,
      ...(agent === undefined ? {} : { agent }),
      model: backend === 'local' && o.model === undefined ? null : model,
      workers: o.workers ?? ground?.workers ?? null,
      allowUnsandboxed: o.allowUnsandboxed ?? ground?.allowUnsandboxed ?? false,
      limits: {
        rollouts: o.limitRollouts ?? ground?.limits.rollouts ?? null,
        minutes: o.limitMinutes ?? ground?.limits.minutes ?? null,
        usd: o.limitUsd ?? ground?.limits.usd ?? null,
        tokens: o.limitTokens ?? ground?.limits.tokens ?? null,
      },
    },
    WHERE,
  );
}

function modelOf(o: EvalOptions, ground: Config | null): Config['model'] {
  const base = ground?.model ?? null;
  if (o.model === undefined && o.baseUrl === undefined && o.keyEnv === undefined) return base;
  const name = o.model ?? (base === null ? undefined : modelSettings(base).model);
  if (name === undefined)
    throw fail('config', 'the address of a model is named, but no model', '--model', 'add --model provider/model');
  // another model is reached in its own way
  const kept = o.model === undefined && base !== null ? modelSettings(base) : {};
  const reached = {
    ...kept,
    model: name,
    ...(o.baseUrl === undefined ? {} : { baseUrl: o.baseUrl }),
    ...(o.keyEnv === undefined ? {} : { keyEnv: o.keyEnv === 'none' ? null : o.keyEnv }),
  };
  return Object.keys(reached).length === 1 ? name : reached;
}
