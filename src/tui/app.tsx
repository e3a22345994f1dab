import { Text, useInput } from 'ink';
import { Lines } from './components/lines.tsx';
import type { FrameStore } from './frame-store.ts';
import { type KeyName, keyNames } from './keys.ts';
import { OPENING } from './screens/opening.ts';

type OnKey = (key: KeyName) => void;

function useKeys(onKey: OnKey): void {
  useInput((input, key) => {
    for (const name of keyNames(input, key)) onKey(name);
  });
}

/** The whole screen; every key goes to `onKey`. */
export function App(p: {
  readonly frame: FrameStore;
  readonly width: number;
  readonly height: number;
  readonly onKey: OnKey;
}) {
  useKeys(p.onKey);
  return <Lines frame={p.frame} width={p.width} height={p.height} />;
}

/** The first frame: it needs next to nothing, so that it comes at once. */
export function Opening(p: { readonly columns: number; readonly onKey: OnKey }) {
  useKeys(p.onKey);
  return <Text>{OPENING.slice(0, p.columns)}</Text>;
}
