import { agentSuite } from './agent-suite-fixture.ts';

agentSuite('claude-code');
