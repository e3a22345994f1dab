import { describe, test } from 'bun:test';
import { backendSelfChecks } from '../self-checks.ts';
import { makeLocalBench } from './bench-fixture.ts';
import { describeWalled, unwalled, walled } from './sandbox-fixture.ts';

const checks = (make: typeof makeLocalBench) => {
  for (const { name, check } of backendSelfChecks(make)) test(name, check);
};

describe('the local backend does what every backend does', () => {
  describe('in folders of its own programs', () => checks(makeLocalBench));
  describe('in plain folders with limits', () => checks(() => makeLocalBench(unwalled)));
});

describeWalled('the local backend does what every backend does within walls', () =>
  checks(() => makeLocalBench(walled)),
);
