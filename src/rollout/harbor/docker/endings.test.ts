import { describe } from 'bun:test';
import { dockerIsHere } from '../bench-fixture.ts';
import { endings } from '../endings-fixture.ts';

(dockerIsHere ? describe : describe.skip)('rollouts of Harbor on Docker that end before their time', () => {
  endings({ environment: { type: 'docker' } });
});
