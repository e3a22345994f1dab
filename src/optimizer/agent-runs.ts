import type { AgentTask, AgentTaskEnd, AgentTasks } from '../ports/agent-task.ts';
import type { Failure } from '../ports/failure.ts';
import { printable } from '../ports/printable.ts';
import type { ProposalOptions } from '../ports/proposals.ts';
import { addUsage, noUsage, type Usage, unknownUsage } from '../ports/usage.ts';
import { shownBeginning } from '../process/half-words.ts';
import type { CallRoom } from './calls.ts';

/** What a run came to. `nothing` = it left no file that can be read; `limit` = a limit is spent: it was not made, or cut. */
export type Ran =
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'nothing'; readonly problem: string }
  | { readonly kind: 'limit' }
  | { readonly kind: 'failed'; readonly failure: Failure };

type Ended = Extract<AgentTaskEnd, { readonly kind: 'ended' }>;

/** Characters of the agent's last words that are told. */
const LAST_WORDS = 200;

/** The runs of one reader: each is reported as soon as it has ended, and their spend is summed. */
export class AgentRuns {
  private spent: Usage = noUsage;

  constructor(
    private readonly tasks: AgentTasks,
    private readonly options: ProposalOptions,
    private readonly o: {
      readonly now: () => number;
      readonly timeoutMs: number;
      readonly room: CallRoom;
      /** Is given the run, which may wind down when nobody waits for it any more. */
      readonly onRun: (run: Promise<unknown>) => void;
    },
  ) {}

  get usage(): Usage {
    return this.spent;
  }

  /** Throws the signal's reason when it is aborted. */
  async make(task: Omit<AgentTask, 'timeoutMs'>): Promise<Ran> {
    const { signal } = this.options;
    signal.throwIfAborted();
    if (!(await this.o.room.enter())) return { kind: 'limit' };
    try {
      return await this.ran(task, signal);
    } finally {
      this.o.room.leave();
    }
  }

  private async ran(task: Omit<AgentTask, 'timeoutMs'>, signal: AbortSignal): Promise<Ran> {
    signal.throwIfAborted();
    const report = this.reporter(task.key);
    // a stop is told on the spot: when the agent has wound down, nobody may be there to hear of it
    const stopped = () => report(unknownUsage, 'stopped before it had handed in');
    signal.addEventListener('abort', stopped, { once: true });
    try {
      const running = this.tasks.performAgentTask({ ...task, timeoutMs: this.o.timeoutMs }, { signal });
      this.o.onRun(running);
      const end = await running;
      signal.throwIfAborted();
      return this.read(task, end, report);
    } finally {
      signal.removeEventListener('abort', stopped);
    }
  }

  private read(task: Pick<AgentTask, 'handInName'>, end: AgentTaskEnd, report: Report): Ran {
    switch (end.kind) {
      case 'ended': {
        const { handedIn, usage, problem } = end;
        if (handedIn.kind === 'text') {
          report(usage, problem);
          return { kind: 'file', text: handedIn.text };
        }
        const nothing = this.whyNothing(task.handInName, end);
        const why = problem === null ? nothing : `${nothing}. ${problem.replace(/\.$/, '')}`;
        report(usage, why);
        return { kind: 'nothing', problem: why };
      }
      case 'failed':
        report(end.usage, end.failure.what);
        return { kind: 'failed', failure: end.failure };
      case 'limit':
        report(end.usage, 'a limit of the session was reached before it had handed in');
        return { kind: 'limit' };
      case 'cancelled':
        report(end.usage, 'stopped before it had handed in');
        return { kind: 'nothing', problem: 'it was stopped' };
      default:
        return end satisfies never;
    }
  }

  private whyNothing(name: string, { exit, handedIn, finalText }: Ended): string {
    if (handedIn.kind === 'refused') return `${name} can’t be read: ${handedIn.why}`;
    const how = exit === 'timeout' ? `its time (${timeText(this.o.timeoutMs)}) was up before` : 'it ended before';
    const last = shownBeginning(printable(finalText), LAST_WORDS);
    return `${how} ${name} was written${last === '' ? '' : ` (its last words: “${last}”)`}`;
  }

  private reporter(key: string): Report {
    const startedAt = this.o.now();
    return (usage, problem) => {
      this.spent = addUsage(this.spent, usage);
      this.options.onCall({ model: this.tasks.id, key, usage, durationMs: this.o.now() - startedAt, problem });
    };
  }
}

function timeText(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 120 ? `${Math.round(seconds * 10) / 10} s` : `${Math.round(seconds / 6) / 10} min`;
}

type Report = (usage: Usage, problem: string | null) => void;
