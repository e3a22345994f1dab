import type { LoggedEvent } from './events.ts';
import type { RunState } from './run-state.ts';

/** What an entry is about; screens give each a mark and a colour. */
export type FeedKind =
  | 'measured'
  | 'kept'
  | 'dropped'
  | 'skipped'
  | 'accept'
  | 'reject'
  | 'indecisive'
  | 'test'
  | 'warning'
  | 'session'
  | 'input';

/** Something that happened, in a sentence, with further ones that say why. */
export type FeedEntry = {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly kind: FeedKind;
  readonly text: string;
  readonly details: readonly string[];
};

/** The entries that follow from one event; `state` holds the event already. */
export function feedEntries(_event: LoggedEvent, _state: RunState): readonly FeedEntry[] {
  return [];
}
