import type { HarborOptions } from './options.ts';

/** Options of a backend that is only talked about. */
export const optionsOf = (more: Partial<HarborOptions>): HarborOptions => ({
  sessionId: 's',
  passThreshold: 1,
  tasks: [],
  dir: '/nowhere',
  program: 'harbor',
  environment: { type: 'docker' },
  agent: { name: 'codex' },
  model: null,
  environmentKwargs: {},
  agentKwargs: {},
  env: [],
  agentEnv: [],
  environmentEnv: {},
  mounts: [],
  pythonPath: [],
  otherSkills: [],
  agentSec: null,
  defaultAgentSec: 60,
  setupSec: null,
  concurrency: 1,
  hostEnv: {},
  ...more,
});
