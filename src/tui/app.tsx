import { useInput } from 'ink';
import { Lines } from './components/lines.tsx';
import type { FrameStore } from './frame-store.ts';
import { type KeyName, keyNames } from './keys.ts';
import { resumeFrame } from './screens/resume.ts';
import type { Facts } from './screens/run/facts.ts';
import { frame, type Size } from './screens/run/layout.ts';
import type { Line } from './text.ts';

/** What is on the screen: the question whether to go on, or the run. */
export type View = { readonly screen: 'resume' | 'run'; readonly facts: Facts };

/** The frame of a view: a function of the read model, of what the user has asked for, of time and size. */
export function frameOf(view: View, size: Size): readonly Line[] {
  return view.screen === 'resume' ? resumeFrame(view.facts, size) : frame(view.facts, size);
}

/** The whole screen; every key goes to `onKey`. */
export function App(p: {
  readonly frame: FrameStore;
  readonly width: number;
  readonly height: number;
  readonly onKey: (key: KeyName) => void;
}) {
  useInput((input, key) => {
    for (const name of keyNames(input, key)) p.onKey(name);
  });
  return <Lines frame={p.frame} width={p.width} height={p.height} />;
}
