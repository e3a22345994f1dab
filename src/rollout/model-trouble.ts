import type { Failure } from '../ports/failure.ts';
import type { ModelErrorKind } from '../ports/model.ts';
import type { UnscoredReason } from '../ports/outcome.ts';

/**
 * What a failed call means for its rollout. `stop` is no outcome: the next call would meet it too. `unscored` is the
 * machinery's failure of this one call. `too-long`: the request does not fit into the model.
 */
export type Trouble =
  | { readonly kind: 'stop' }
  | { readonly kind: 'unscored'; readonly reason: UnscoredReason }
  | { readonly kind: 'too-long' };

export function troubleOf(error: { readonly kind: ModelErrorKind; readonly failure: Failure }): Trouble {
  switch (error.kind) {
    case 'auth':
    case 'quota':
    case 'model-not-found':
    case 'bad-request':
    case 'refused-connection':
      return { kind: 'stop' };
    case 'rate-limit':
      return { kind: 'unscored', reason: 'provider-rate-limit' };
    case 'bad-reply':
      // no server of models is there at all
      if (error.failure.code === 'config') return { kind: 'stop' };
      return { kind: 'unscored', reason: 'provider-error' };
    case 'overloaded':
    case 'server':
    case 'cut-off':
    case 'silent':
    case 'command-failed':
      return { kind: 'unscored', reason: 'provider-error' };
    case 'context-too-long':
      return { kind: 'too-long' };
    default:
      return error.kind satisfies never;
  }
}
