import type { Finding } from '../../ports/preflight.ts';
import { unknown } from './environment-preflight.ts';
import { type Installed, isTrier } from './installed.ts';
import { type HarborOptions, harborAgentName } from './options.ts';

/** Harbor 0.26's agents that can be given a skill, for a Harbor that does not say it of itself. */
const takeSkills: readonly string[] = [
  'antigravity-cli',
  'antigravity-sdk',
  'claude-code',
  'cline-cli',
  'codex',
  'copilot-cli',
  'cursor-cli',
  'eve',
  'fx',
  'fx-dev',
  'gemini-cli',
  'goose',
  'grok-build',
  'hermes',
  'junie',
  'kimi-cli',
  'kimi-code',
  'mcode',
  'mimo',
  'openclaw',
  'opencode',
  'opencode-v2',
  'openhands-sdk',
  'pi',
  'qwen-coder',
  'terminus-2',
  'vibe',
];

/** Whether the installed Harbor has the agent, and can give it a skill. */
export function agentFindings(o: HarborOptions, installed: Installed): readonly Finding[] {
  const name = harborAgentName(o.agent);
  const where = `agent ${name}`;
  // a class of the user's, or an agent behind a protocol, is Harbor's to look for
  const isListed = 'name' in o.agent && !name.includes(':');
  if (isListed && installed.agents.length > 0 && !installed.agents.includes(name))
    return [unknown('agent', name, installed.agents, where)];
  if (isTrier(o))
    return [
      {
        level: 'warning',
        what: `Harbor’s agent ${name} takes no skill: it tries tasks, and only rollouts without a skill can run`,
        where,
        fix: 'to measure a skill, choose an agent that reads skills',
      },
    ];
  if (takesSkill(o, installed) !== false) return [];
  const can = installed.skillAgents.length > 0 ? installed.skillAgents : takeSkills;
  return [
    {
      level: 'error',
      what: `Harbor’s agent ${name} takes no skill, so every trial with one would fail`,
      where,
      fix:
        'importPath' in o.agent
          ? 'make its class say `capabilities = AgentCapabilities(skills=True)`, and read the folder that it is given'
          : `choose one that does: ${can.filter((one) => installed.agents.length === 0 || installed.agents.includes(one)).join(', ')}`,
    },
  ];
}

/** Whether the agent can be given a skill; null = only Harbor knows. */
export function takesSkill(o: HarborOptions, installed: Installed): boolean | null {
  if (installed.takesSkill !== null) return installed.takesSkill;
  if (!('name' in o.agent)) return null;
  if (isTrier(o)) return false;
  return takeSkills.includes(o.agent.name) ? true : null;
}
