import { Box, Text } from 'ink';
import { useSyncExternalStore } from 'react';
import type { FrameStore } from '../frame-store.ts';
import { looks } from '../theme.ts';

/** The rows of a frame, one below the other: exactly as many as there are. Nothing wraps and nothing grows. */
export function Lines(p: { readonly frame: FrameStore; readonly width: number; readonly height: number }) {
  return (
    <Box flexDirection="column" width={p.width} height={p.height} flexShrink={0} overflow="hidden">
      {Array.from({ length: p.height }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row of the screen is known by its place
        <Row key={row} frame={p.frame} row={row} />
      ))}
    </Box>
  );
}

/** Drawn again only when it says something else: most of a screen stays as it is from one second to the next. */
function Row(p: { readonly frame: FrameStore; readonly row: number }) {
  const line = useSyncExternalStore(p.frame.subscribe, () => p.frame.line(p.row));
  return (
    <Text wrap="truncate">
      {line.map((s, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece of a line is known by its place
        <Text key={at} {...looks[s.tone]}>
          {s.text}
        </Text>
      ))}
    </Text>
  );
}
