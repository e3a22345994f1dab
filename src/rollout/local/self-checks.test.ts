import { describe, test } from 'bun:test';
import { backendSelfChecks } from '../self-checks.ts';
import { makeLocalBench } from './bench-fixture.ts';

describe('the local backend does what every backend does', () => {
  for (const { name, check } of backendSelfChecks(makeLocalBench)) test(name, check);
});
