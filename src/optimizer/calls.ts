import type { Failure } from '../ports/failure.ts';
import { type Model, ModelError, type ModelReply, type ModelRequest } from '../ports/model.ts';
import type { ProposalOptions } from '../ports/proposals.ts';
import { addUsage, noUsage, type Usage, unknownUsage } from '../ports/usage.ts';

/**
 * How a call came out. `unreadable` = it gave no reply that could be used, though the model can be reached;
 * `limit` = it was not made, since a limit is spent; `too-long` = the request does not fit the model.
 */
export type Called =
  | { readonly kind: 'reply'; readonly reply: ModelReply }
  | { readonly kind: 'unreadable'; readonly problem: string }
  | { readonly kind: 'limit' }
  | { readonly kind: 'too-long'; readonly failure: Failure }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** The model calls of all readers of one reflection: what has to be known of them together. */
export class CallRoom {
  private made = 0;
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly mayCall: ProposalOptions['mayCall']) {}

  /** Waits while a call has no room beside those that run; false = a limit is spent. */
  async enter(): Promise<boolean> {
    // whoever asked for the reflection has seen to its first call
    while (this.made > 0 && !this.mayCall(this.running)) {
      if (this.running === 0) return false;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    this.made++;
    this.running++;
    return true;
  }

  leave(): void {
    this.running--;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** Numbers of calls are drawn by: far enough apart that no two readers of a round draw alike. */
const READER_DRAWS = 10_000_000;

/** The model calls of one reader: each is reported as soon as it has ended, and their spend is summed. */
export class Calls {
  private spent: Usage = noUsage;
  private count = 0;

  constructor(
    private readonly model: Model,
    private readonly options: ProposalOptions,
    private readonly now: () => number,
    private readonly round: number,
    private readonly room = new CallRoom(options.mayCall),
    /** Place of the reader among those of its reflection. */
    private readonly reader = 0,
  ) {}

  get usage(): Usage {
    return this.spent;
  }

  /** Calls made so far, those too that gave no reply. */
  get made(): number {
    return this.count;
  }

  /** Throws the signal's reason when it is aborted. */
  async make(request: Omit<ModelRequest, 'maxOutputTokens' | 'draw'>): Promise<Called> {
    const { signal } = this.options;
    signal.throwIfAborted();
    if (!(await this.room.enter())) return { kind: 'limit' };
    try {
      return await this.called(request, signal);
    } finally {
      this.room.leave();
    }
  }

  private async called(request: Omit<ModelRequest, 'maxOutputTokens' | 'draw'>, signal: AbortSignal): Promise<Called> {
    signal.throwIfAborted();
    this.count += 1;
    const report = this.reporter();
    // a stop is told on the spot: when the call has wound down, nobody may be there to hear of it
    const stopped = () => report(unknownUsage, 'stopped before it answered');
    signal.addEventListener('abort', stopped, { once: true });
    try {
      const draw = this.reader * READER_DRAWS + this.round * 1_000 + this.count;
      const reply = await this.model.performCompletion({ ...request, maxOutputTokens: null, draw }, { signal });
      signal.throwIfAborted();
      report(reply.usage, null);
      return { kind: 'reply', reply };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelError)) throw error;
      report(error.usage, error.failure.what);
      return calledInVain(error);
    } finally {
      signal.removeEventListener('abort', stopped);
    }
  }

  private reporter(): (usage: Usage, problem: string | null) => void {
    const startedAt = this.now();
    return (usage, problem) => {
      this.spent = addUsage(this.spent, usage);
      this.options.onCall({ model: this.model.id, usage, durationMs: this.now() - startedAt, problem });
    };
  }
}

function calledInVain({ kind, failure }: ModelError): Called {
  if (kind === 'context-too-long') return { kind: 'too-long', failure };
  if ((kind === 'bad-reply' && failure.code !== 'config') || kind === 'cut-off')
    return { kind: 'unreadable', problem: failure.what };
  return { kind: 'failed', failure };
}
