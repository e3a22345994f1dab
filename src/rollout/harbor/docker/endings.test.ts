import { describe } from 'bun:test';
import { endings } from '../endings-fixture.ts';
import { dockerIsHere } from './here-fixture.ts';

(dockerIsHere ? describe : describe.skip)('rollouts of Harbor on Docker that end before their time', () => {
  endings({ environment: { type: 'docker' } });
});
