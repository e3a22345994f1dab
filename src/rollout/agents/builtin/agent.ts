import type { AgentLimits } from '../../../config/agent.ts';
import { fail } from '../../../ports/failure.ts';
import type { Model } from '../../../ports/model.ts';
import type { Finding } from '../../../ports/preflight.ts';
import type { Agent } from '../agent.ts';
import { Work } from './work.ts';

export const BUILTIN_AGENT = 'builtin';

/** Another prompt, tool or rule of the loop is another agent: it counts up with them. */
const VERSION = '1';

/**
 * A small agent of this program's own over a model: it looks into files, writes, edits and runs commands until the model
 * says that the task is done. It runs in this process, and all that it does to files happens in the rollout. A model
 * that takes no tools writes its commands into its text.
 */
export function createBuiltinAgent(settings: { readonly model: Model | null; readonly limits: AgentLimits }): Agent {
  const { model, limits } = settings;
  return {
    name: BUILTIN_AGENT,
    takesSkill: true,
    skillMounts: [],
    takesOtherSkills: true,
    callsModel: true,
    version: async () => VERSION,
    preflight: async () =>
      model === null ? [noModel] : [...(await model.preflight()), ...priceFindings(model, limits)],
    async run(run) {
      if (model === null) throw fail('config', noModel.what, noModel.where, noModel.fix);
      return new Work(run, model, limits).perform();
    },
  };
}

const noModel: Finding = {
  level: 'error',
  what: `the agent ${BUILTIN_AGENT} calls a model, and none is named`,
  where: 'model',
  fix: 'add "model": "provider/model"',
};

function priceFindings(model: Model, { usd }: AgentLimits): readonly Finding[] {
  if (usd === null || model.hasPrice) return [];
  return [
    {
      level: 'error',
      what: `agentLimits.usd can’t be held: the price of ${model.id} is not known`,
      where: 'agentLimits.usd',
      fix: 'give it a "price" (US dollars for a million tokens in and out), or limit tokens or requests instead',
    },
  ];
}
