import type { Trajectory, TrajectoryStep } from '../ports/trajectory.ts';
import { plainText } from './fences.ts';

/** What the agent did, step by step, its last words at the end. What a verifier said is never in it. */
export function rolloutText(trajectory: Trajectory, instruction: string): string {
  return [...stepTexts(trajectory, instruction), `[last words of the agent]\n${lastWords(trajectory)}`].join('\n\n');
}

/** The same with the last words first, for a digest that is cut in the middle. */
export function answerFirst(trajectory: Trajectory, instruction: string): string {
  const steps = stepTexts(trajectory, instruction);
  const answer = `[last words of the agent]\n${lastWords(trajectory)}`;
  return steps.length === 0 ? answer : [answer, '[what it did before that]', ...steps].join('\n\n');
}

function lastWords(trajectory: Trajectory): string {
  const text = plainText(trajectory.finalText);
  return text.trim() === '' ? '(none)' : text;
}

/** The steps, without the instruction and the last words, which are shown apart. */
function stepTexts(trajectory: Trajectory, instruction: string): readonly string[] {
  const { steps, finalText } = trajectory;
  const last = steps.at(-1);
  const repeated = last?.kind === 'message' && last.role === 'agent' && last.text.trim() === finalText.trim();
  const told = repeated ? steps.slice(0, -1) : steps;
  const isInstruction = (s: TrajectoryStep) =>
    s.kind === 'message' && s.role === 'user' && s.text.trim() === instruction.trim();
  const texts = told.filter((s) => !isInstruction(s)).map((step, at) => plainText(stepText(step, at + 1)));
  return trajectory.cut > 0 ? [...texts, `[${trajectory.cut} characters of these were not kept]`] : texts;
}

function stepText(step: TrajectoryStep, n: number): string {
  switch (step.kind) {
    case 'message':
      return `[${n} ${step.role}]\n${step.text}`;
    case 'thought':
      return `[${n} thought]\n${step.text}`;
    case 'note':
      return `[${n} note]\n${step.text}`;
    case 'tool': {
      const exit = step.exitCode === null ? '' : `, exit ${step.exitCode}`;
      return `[${n} ${step.name}${exit}]\n${step.input}\n--- output\n${step.output}`;
    }
    default:
      return step satisfies never;
  }
}
