import type { McpServer } from '../../config/preloads.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { VariableSource } from '../preloads/record.ts';
import { reachedFrom } from './harbor-model.ts';
import { type HarborMcpServer, type HarborOptions, harborAgentName } from './options.ts';

/** Servers in Harbor's form, with the variables of the agent from which they inherit theirs. */
export type HarborServers = {
  readonly servers: readonly HarborMcpServer[];
  /** Named variables, and those that stand for another or for a plain text. */
  readonly names: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
};

/**
 * MCP servers as Harbor hands them to its agents. Harbor has no place for a server's variables: they are given to the agent,
 * whose children servers are. `sources`: where variables come from that are not simply taken by their name.
 */
export function harborServers(
  mcp: Readonly<Record<string, McpServer>>,
  sources: Readonly<Record<string, VariableSource>>,
  o: Pick<HarborOptions, 'agent' | 'environment' | 'mounted'>,
): HarborServers {
  const agent = harborAgentName(o.agent);
  const findings: Finding[] = [];
  const servers: HarborMcpServer[] = [];
  const names = new Set<string>();
  const variables: Record<string, string> = {};
  const wrong = (name: string, what: string, fix: string) =>
    findings.push({ level: 'error', what, where: `preloads.mcp.${name}`, fix });
  for (const [name, server] of Object.entries(mcp)) {
    if (agent === 'pi' && o.mounted !== undefined)
      wrong(
        name,
        'pi takes MCP servers in Harbor by an extension, which only an installation in the trial brings',
        'let Harbor install pi in each trial ("harbor.mountAgent": false), or take the server out',
      );
    if ('url' in server) {
      const reached = reachedFrom(server.url, o.environment, 'trial', `preloads.mcp.${name}`);
      findings.push(...(reached.error === null ? reached.findings : [reached.error]));
      servers.push({ name, transport: 'streamable-http', url: reached.url });
      continue;
    }
    const [command = '', ...args] = server.command;
    servers.push({ name, transport: 'stdio', command, args });
    if (server.env.length > 0 && agent === 'codex')
      wrong(
        name,
        `codex gives its MCP servers none of its own variables (${server.env.join(', ')}), and Harbor can’t tell it to`,
        'take the server out, or run on the backend local',
      );
    for (const variable of server.env) {
      const source = sources[variable];
      if (source === undefined) names.add(variable);
      else variables[variable] = 'from' in source ? `\${${source.from}}` : source.value;
    }
  }
  return { servers, names: [...names], variables, findings };
}
