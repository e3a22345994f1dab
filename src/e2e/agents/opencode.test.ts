import { agentSuite } from './agent-suite-fixture.ts';

agentSuite('opencode');
