import { render, Text } from 'ink';

// The least that Ink can show, to hold the live screen against. It stays until it is ended.
render(<Text>one line</Text>, { alternateScreen: true, interactive: true, patchConsole: false });
setInterval(() => {}, 1_000);
