import { hasBadCharacters } from './lines.ts';
import { mayHoldFence } from './markdown.ts';
import { mayHoldMarker } from './markers.ts';
import { mayHoldReference } from './references.ts';
import { holdsSteering } from './steering.ts';

/**
 * What a body may hold, told from its characters alone; false = surely not, so that it need not be parsed or searched.
 * All signs stand within a line: a text has none that its lines do not have.
 */
export type Signs = {
  readonly fence: boolean;
  readonly reference: boolean;
  readonly marker: boolean;
  readonly steering: boolean;
  readonly badCharacters: boolean;
};

export function signsOf(lfBody: string): Signs {
  return {
    fence: mayHoldFence(lfBody),
    reference: mayHoldReference(lfBody),
    marker: mayHoldMarker(lfBody),
    steering: holdsSteering(lfBody),
    badCharacters: hasBadCharacters(lfBody),
  };
}

/** The signs of a text that consists of lines of both. */
export function eitherSigns(a: Signs, b: Signs): Signs {
  return {
    fence: a.fence || b.fence,
    reference: a.reference || b.reference,
    marker: a.marker || b.marker,
    steering: a.steering || b.steering,
    badCharacters: a.badCharacters || b.badCharacters,
  };
}
