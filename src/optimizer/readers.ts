import { type Edit, editIdentity } from '../ports/edit.ts';
import type { Failure } from '../ports/failure.ts';
import type { ProposalRequest } from '../ports/proposals.ts';

/** How the failing trajectories of one reflection are shared out. */
export type Sharing = {
  /** Conversations side by side. */
  readonly readers: number;
  /** Most failing trajectories that one of them is shown; null = all, split evenly. */
  readonly minibatchSize: number | null;
};

/**
 * One request for each reader: every failing trajectory goes to one reader at most, in the request's order. There are
 * never more readers than trajectories. A reader is asked for no more edits than it sees failures.
 */
export function shared<R extends Pick<ProposalRequest, 'failing' | 'atMost'>>(
  request: R,
  { readers, minibatchSize }: Sharing,
): readonly R[] {
  const { failing, atMost } = request;
  const count = Math.min(readers, failing.length);
  const start = (at: number) =>
    minibatchSize === null ? Math.round((at * failing.length) / count) : at * minibatchSize;
  const groups = Array.from({ length: count }, (_, at) => failing.slice(start(at), start(at + 1)));
  const [first = [], ...others] = groups;
  const used = [first, ...others.filter((group) => group.length > 0)];
  if (used.length === 1) return [{ ...request, failing: first }];
  return used.map((group) => ({ ...request, failing: group, atMost: Math.min(atMost, group.length) }));
}

/** What one reader has handed in: edits that can be tried, and those that are refused even so. */
export type Handed = { readonly good: readonly Edit[]; readonly refused: readonly Edit[]; readonly summary: string };

/** How one conversation with the model ended. */
export type End =
  | ({ readonly kind: 'handed-in' } & Handed)
  | { readonly kind: 'unusable'; readonly detail: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** The edits of all readers as one list, and how many of it there was no room for. */
export type Merged = { readonly edits: readonly Edit[]; readonly beyond: number };

/**
 * One edit of each reader in turn, the good ones before the refused ones, at most `atMost`. What several have handed in
 * counts once and cites the tasks of all of them.
 */
export function merged(handed: readonly Handed[], atMost: number): Merged {
  const inTurn = [...byTurns(handed.map((h) => h.good)), ...byTurns(handed.map((h) => h.refused))];
  const byIdentity = new Map<string, Edit>();
  for (const edit of inTurn) {
    const identity = editIdentity(edit);
    const before = byIdentity.get(identity);
    byIdentity.set(
      identity,
      before === undefined ? edit : { ...before, cites: [...new Set([...before.cites, ...edit.cites])] },
    );
  }
  const edits = [...byIdentity.values()];
  return { edits: edits.slice(0, atMost), beyond: Math.max(0, edits.length - atMost) };
}

function byTurns(lists: readonly (readonly Edit[])[]): readonly Edit[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }).flatMap((_, turn) => lists.flatMap((list) => list[turn] ?? []));
}
