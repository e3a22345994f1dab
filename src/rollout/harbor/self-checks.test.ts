import { describe, test } from 'bun:test';
import { backendSelfChecks } from '../self-checks.ts';
import { harborIsHere, makeHarborBench } from './bench-fixture.ts';

(harborIsHere ? describe : describe.skip)('Harbor does what every backend does', () => {
  for (const { name, check } of backendSelfChecks(makeHarborBench)) test(name, check);
});
