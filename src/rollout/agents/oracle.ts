import { join } from 'node:path';
import type { ExitCause } from '../../ports/outcome.ts';
import { noUsage } from '../../ports/usage.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { copyTree } from '../copy-tree.ts';
import { resolveVariables } from '../local/environment.ts';
import { scriptCommand, scriptOddities } from '../script-command.ts';
import { taskPath, whyNotStarted } from '../why-not-started.ts';
import type { Agent, AgentEnd } from './agent.ts';

/**
 * Runs the task's own `solution/solve.sh` in the workspace, as Harbor does: with the task's solution variables and
 * `SOLUTION_DIR`. A solution that fails is judged by the verifier all the same.
 * `variables` is what `${NAME}` in the solution's environment is resolved from.
 */
export function createOracleAgent(options: {
  readonly variables: Readonly<Record<string, string | undefined>>;
}): Agent {
  return {
    name: 'oracle',
    takesSkill: false,
    proposes: false,
    skillMounts: [],
    version: async () => '1',
    preflight: async () => [],
    async run(run) {
      if (!run.task.hasSolution) {
        return ended('not-started', {
          trouble: { reason: 'agent-setup', detail: `the task ${run.task.id} has no solution/solve.sh` },
        });
      }
      const copy = join(run.host.temp, 'solution');
      const solution = join(run.env.TMPDIR ?? run.host.temp, 'solution');
      await copyTree(join(run.task.dir, 'solution'), copy);
      const own = resolveVariables(run.task.env.solution, options.variables, run.task.id);
      const output = await run.run(await scriptCommand(join(copy, 'solve.sh'), join(solution, 'solve.sh')), {
        env: { ...own, SOLUTION_DIR: solution },
        mergeStderr: true,
      });
      if (output.cause === 'not-started') {
        const script = join(run.task.dir, 'solution', 'solve.sh');
        const ownPath = taskPath(run.task.env.environment, run.task.env.solution);
        const path = { path: own.PATH ?? run.env.PATH, ownPath };
        const oddities = await scriptOddities(script, 'solution/solve.sh', path);
        const detail = [whyNotStarted('the solution', output, ownPath), ...oddities].join('; ');
        return ended('not-started', { trouble: { reason: 'agent-setup', detail } });
      }
      return ended(exitOf(output), {
        steps: [
          { kind: 'message', role: 'user', text: run.instruction },
          {
            kind: 'tool',
            name: 'bash',
            input: 'solution/solve.sh',
            output: output.stdout,
            exitCode: output.exitCode,
          },
        ],
        didWork: true,
      });
    },
  };
}

function exitOf(end: ProcessEnd): ExitCause {
  if (end.cause === 'timeout' || end.cause === 'cancelled') return 'timeout';
  return end.exitCode === 0 ? 'finished' : 'nonzero';
}

function ended(exit: ExitCause, more: Partial<AgentEnd>): AgentEnd {
  return { exit, trouble: null, steps: [], finalText: '', usage: noUsage, read: null, didWork: false, ...more };
}
