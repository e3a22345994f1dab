import type { LoggedEvent } from './events.ts';

type Decision = Extract<LoggedEvent, { digest: string }>;

/** A decision without the keys that it consumed: a long session has many, and no reader asks for them. */
export type Conclusive<T extends Decision['type']> = Omit<
  Extract<Decision, { type: T }>,
  'type' | 'consumed' | 'seen' | 'digest'
>;

export function conclusive<E extends Decision>(event: E): Omit<E, 'type' | 'consumed' | 'seen' | 'digest'> {
  const { type: _type, consumed: _consumed, seen: _seen, digest: _digest, ...row } = event;
  return row;
}
