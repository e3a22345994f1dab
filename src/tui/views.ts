import { openingFrame } from './screens/opening.ts';
import { answerOf, resumeFrame } from './screens/resume.ts';
import type { Facts } from './screens/run/facts.ts';
import { contextOf, frame, type Size } from './screens/run/layout.ts';
import { startFrame } from './screens/start.ts';
import type { Line } from './text.ts';

export { answerOf, contextOf, openingFrame, startFrame };

/** What is on the screen: the question whether to go on, or the run. */
export type View = { readonly screen: 'resume' | 'run'; readonly facts: Facts };

/** The frame of a view: a function of the read model, of what the user has asked for, of time and size. */
export function frameOf(view: View, size: Size): readonly Line[] {
  return view.screen === 'resume' ? resumeFrame(view.facts, size) : frame(view.facts, size);
}
