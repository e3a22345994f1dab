import type { Reading } from '../../ports/outcome.ts';
import type { TrajectoryStep } from '../../ports/trajectory.ts';
import { distinctiveLines, linesForProof, plain } from '../../skill/distinctive.ts';
import { tryReadSkill } from '../../skill/document.ts';

/**
 * Whether the body of a skill came before an agent, by what its tools gave it: true where lines stand there that are the
 * body's own, else null, as an agent may read in a way that leaves no trace. What it wrote itself proves nothing.
 */
export function readInSteps(steps: readonly TrajectoryStep[], skill: string): Reading {
  const read = tryReadSkill(skill);
  if (!read.ok) return null;
  const { text, body } = read.document;
  const lines = distinctiveLines(text.slice(body.start, body.end));
  const shown = steps.map(shownIn).filter((part) => part !== '');
  const written = plain(steps.map(writtenIn).join('\n'));
  const heard = plain(shown.join('\n'));
  const found = lines.filter((line) => heard.includes(line) && !written.includes(line));
  return lines.length > 0 && found.length >= linesForProof(lines) ? true : null;
}

/** What a step put before the agent. */
function shownIn(step: TrajectoryStep): string {
  switch (step.kind) {
    case 'tool':
      return step.output;
    case 'note':
      return step.text;
    case 'message':
      return step.role === 'agent' ? '' : step.text;
    case 'thought':
      return '';
    default:
      return step satisfies never;
  }
}

/** What an agent put into a tool may come back from it. */
function writtenIn(step: TrajectoryStep): string {
  return step.kind === 'tool' ? step.input : '';
}
