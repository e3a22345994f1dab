import type { Trajectory, TrajectoryStep } from '../ports/trajectory.ts';

/** Longest text of a step that is kept, in UTF-16 units; of a longer one the first and the last half. */
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
  const names = [...places]
    .sort((a, b) => b.path.length - a.path.length)
    .map((place) => ({ pattern: new RegExp(`${RegExp.escape(place.path)}(?![\\w-])`, 'g'), name: place.name }));
  let cut = 0;
  const kept = (text: string): string => {
    const named = names.reduce((rest, place) => rest.replace(place.pattern, () => place.name), text);
    const short = cutText(named, maxTextLength);
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

/** The first and the last half of a text that is longer than `limit`, and how much fell out; no character is halved. */
export function cutText(text: string, limit: number): { readonly text: string; readonly cut: number } {
  if (text.length <= limit) return { text, cut: 0 };
  const half = Math.floor(limit / 2);
  const headEnd = isHighSurrogate(text, half - 1) ? half - 1 : half;
  const tailStart = isHighSurrogate(text, text.length - half - 1) ? text.length - half + 1 : text.length - half;
  const cut = tailStart - headEnd;
  return { text: `${text.slice(0, headEnd)}\n… ${cut} characters cut …\n${text.slice(tailStart)}`, cut };
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
