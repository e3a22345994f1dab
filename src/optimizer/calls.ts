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

/** The model calls of one reflection: each is reported as soon as it has ended, and their spend is summed. */
export class Calls {
  private spent: Usage = noUsage;
  private count = 0;

  constructor(
    private readonly model: Model,
    private readonly options: ProposalOptions,
    private readonly now: () => number,
    private readonly round: number,
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
    const { signal, mayCall } = this.options;
    signal.throwIfAborted();
    // whoever asked for the reflection has seen to its first call
    if (this.count > 0 && !mayCall()) return { kind: 'limit' };
    this.count += 1;
    const report = this.reporter();
    // a stop is told on the spot: when the call has wound down, nobody may be there to hear of it
    const stopped = () => report(unknownUsage, 'stopped before it answered');
    signal.addEventListener('abort', stopped, { once: true });
    try {
      const draw = this.round * 1_000 + this.count;
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
