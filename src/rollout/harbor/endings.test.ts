import { describe } from 'bun:test';
import { harborIsHere } from './bench-fixture.ts';
import { endings } from './endings-fixture.ts';

(harborIsHere ? describe : describe.skip)('rollouts of Harbor without a container that end before their time', () => {
  endings({});
});
