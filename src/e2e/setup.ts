import { afterAll } from 'bun:test';
import { runAtVeryEnd } from './at-end.ts';

// Loaded before every test file: no colour codes in what tests compare.
process.env.FORCE_COLOR = '0';

afterAll(runAtVeryEnd);
