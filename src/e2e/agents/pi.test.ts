import { agentSuite } from './agent-suite-fixture.ts';

agentSuite('pi');
