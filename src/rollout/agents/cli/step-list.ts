import type { TrajectoryStep } from '../../../ports/trajectory.ts';
import { fieldsOf } from './json-events.ts';

type ToolStep = Extract<TrajectoryStep, { kind: 'tool' }>;

/** The steps of a run as they are read from an agent's output. A tool is told twice: when it is called, and when it is done. */
export class StepList {
  readonly steps: TrajectoryStep[] = [];
  readonly #toolAt = new Map<string, number>();

  said(text: string): void {
    if (text !== '') this.steps.push({ kind: 'message', role: 'agent', text });
  }

  heard(text: string): void {
    this.steps.push({ kind: 'message', role: 'user', text });
  }

  thought(text: string): void {
    if (text !== '') this.steps.push({ kind: 'thought', text });
  }

  note(text: string): void {
    this.steps.push({ kind: 'note', text });
  }

  /** The first word about a call counts; the same id once more changes nothing. */
  toolCalled(id: string, name: string, args: unknown): void {
    if (this.#toolAt.has(id)) return;
    this.#toolAt.set(id, this.steps.length);
    this.steps.push({ kind: 'tool', name, input: toolInput(args), output: '', exitCode: null });
  }

  /** The call as it stands now; null = no call had this id. */
  toolDone(id: string, output: string, exitCode: number | null): ToolStep | null {
    const at = this.#toolAt.get(id) ?? -1;
    const step = this.steps[at];
    if (step?.kind !== 'tool') return null;
    const done = { ...step, output, exitCode };
    this.steps[at] = done;
    return done;
  }
}

/** What a tool was called with, as people read it: a shell's command as it stands, all else as JSON. */
function toolInput(args: unknown): string {
  const { command } = fieldsOf(args);
  if (typeof command === 'string') return command;
  if (args === undefined || args === null) return '';
  try {
    return typeof args === 'string' ? args : JSON.stringify(args);
  } catch {
    // nested deeper than can be written out
    return '';
  }
}

/** Whether a path or a command names the SKILL.md of a skill, by its folder or by a pattern for all folders. */
export function namesSkillFile(text: string, skillName: string): boolean {
  if (!text.includes('SKILL.md')) return false;
  return text.includes('*/SKILL.md') || new RegExp(`(?<![\\w-])${RegExp.escape(skillName)}(?![\\w-])`).test(text);
}
