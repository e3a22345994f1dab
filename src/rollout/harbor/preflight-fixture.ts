import { type HarborOptions, nothingMore } from './options.ts';

/** Options of a backend that is only talked about. */
export const optionsOf = (more: Partial<HarborOptions>): HarborOptions => ({
  ...nothingMore,
  sessionId: 's',
  passThreshold: 1,
  dir: '/nowhere',
  program: 'harbor',
  environment: { type: 'docker' },
  agent: { name: 'codex' },
  defaultAgentSec: 60,
  concurrency: 1,
  hostEnv: {},
  ...more,
});
