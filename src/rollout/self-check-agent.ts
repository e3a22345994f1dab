import type { ExitCause } from '../ports/outcome.ts';
import { noUsage } from '../ports/usage.ts';
import type { Agent, AgentEnd } from './agents/agent.ts';

/**
 * The agent of the self-checks: the instruction is a bash script, and it runs it. The first line may say `# crash`
 * (it throws), `# setup-fails` (it cannot be set up) or `# idle` (what it does counts as no work). A script finds the
 * mounted skill in `SKILL_FILE`; it has read it when it prints a line `READ`.
 */
export function createSelfCheckAgent(): Agent {
  return {
    name: 'self-check',
    takesSkill: true,
    skillMounts: [],
    version: async () => '1',
    preflight: async () => [],
    async run(run): Promise<AgentEnd> {
      const { instruction, skillDir } = run;
      if (instruction.startsWith('# crash')) throw new Error('crashed as asked');
      const end: AgentEnd = {
        exit: 'finished',
        trouble: null,
        steps: [],
        finalText: '',
        usage: noUsage,
        read: null,
        didWork: !instruction.startsWith('# idle'),
      };
      if (instruction.startsWith('# setup-fails')) {
        return { ...end, exit: 'not-started', trouble: { reason: 'agent-setup', detail: 'as asked' } };
      }
      const ended = await run.run(['bash', '-c', instruction], {
        env: skillDir === null ? {} : { SKILL_FILE: `${skillDir}/SKILL.md` },
        mergeStderr: true,
      });
      const exit: ExitCause =
        ended.cause === 'timeout' || ended.cause === 'cancelled'
          ? 'timeout'
          : ended.exitCode === 0
            ? 'finished'
            : 'nonzero';
      return {
        ...end,
        exit,
        steps: [{ kind: 'tool', name: 'bash', input: instruction, output: ended.stdout, exitCode: ended.exitCode }],
        finalText: ended.stdout,
        read: skillDir === null ? null : /^READ$/m.test(ended.stdout),
      };
    },
  };
}
