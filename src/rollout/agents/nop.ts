import { noUsage } from '../../ports/usage.ts';
import type { Agent } from './agent.ts';

/** Does nothing: what a task is worth untouched. */
export function createNopAgent(): Agent {
  return {
    name: 'nop',
    takesSkill: false,
    proposes: false,
    skillMounts: [],
    version: async () => '1',
    preflight: async () => [],
    run: async (run) => ({
      exit: 'finished',
      trouble: null,
      steps: [{ kind: 'message', role: 'user', text: run.instruction }],
      finalText: '',
      usage: noUsage,
      read: null,
      didWork: false,
    }),
  };
}
