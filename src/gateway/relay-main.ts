import { runRelay } from './relay.ts';

// The relay as a program of its own, for this program run from its sources.
runRelay(process.argv.slice(2));
