import type { Trajectory, TrajectoryStep } from '../ports/trajectory.ts';
import { endOfHead, startOfTail, wordRoom } from '../process/half-words.ts';

/** Longest text of a step that is kept, in UTF-16 units; of a longer one the first and the last half, up to a word. */
export const maxTextLength = 16_000;

/** A folder of the machine and the name by which it stands in a trajectory. */
export type Place = { readonly path: string; readonly name: string };

/** What an agent and its verifier left, in whole texts. */
export type RawTrajectory = {
  readonly agent: string;
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  readonly verifierOutput: string | null;
};

/**
 * The trajectory as it is kept. Folders of the rollout get their names (`$APP_DIR`, …), so that equal work gives
 * equal texts on every machine and no reader takes a folder that is gone for a place of the task; then long texts are
 * cut, and what is gone is counted.
 */
export function normalizedTrajectory(raw: RawTrajectory, places: readonly Place[]): Trajectory {
  const named = placesNamed(places);
  let cut = 0;
  const kept = (text: string): string => {
    const short = cutText(named(text), maxTextLength);
    cut += short.cut;
    return short.text;
  };
  const steps = raw.steps.map((step): TrajectoryStep => {
    switch (step.kind) {
      case 'message':
        return { ...step, text: kept(step.text) };
      case 'thought':
      case 'note':
        return { ...step, text: kept(step.text) };
      case 'tool':
        return { ...step, input: kept(step.input), output: kept(step.output) };
      default:
        return step satisfies never;
    }
  });
  const finalText = kept(raw.finalText);
  const verifier = raw.verifierOutput === null ? null : { output: kept(raw.verifierOutput) };
  return { agent: raw.agent, steps, finalText, cut, verifier };
}

/** A text with the names of the places instead of their paths; a path that only begins alike is left alone. */
export function placesNamed(places: readonly Place[]): (text: string) => string {
  const names = [...places]
    .sort((a, b) => b.path.length - a.path.length)
    .map((place) => ({ pattern: new RegExp(`${RegExp.escape(place.path)}(?![\\w-])`, 'g'), name: place.name }));
  return (text) => names.reduce((rest, place) => rest.replace(place.pattern, () => place.name), text);
}

/**
 * The first and the last half of a text that is longer than `limit`, and how much fell out. No character is halved,
 * and no word: secrets are looked for only later, and half of one would be kept (see `endOfHead`).
 */
export function cutText(text: string, limit: number): { readonly text: string; readonly cut: number } {
  if (text.length <= limit) return { text, cut: 0 };
  const half = Math.floor(limit / 2);
  let headEnd = endOfHead(text, half, wordRoom(half));
  if (isHighSurrogate(text, headEnd - 1)) headEnd--;
  let tailStart = startOfTail(text, text.length - half, wordRoom(half));
  if (isHighSurrogate(text, tailStart - 1)) tailStart++;
  const cut = tailStart - headEnd;
  return { text: `${text.slice(0, headEnd)}\n… ${cut} characters cut …\n${text.slice(tailStart)}`, cut };
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
