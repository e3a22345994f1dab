import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Protocol } from '../../ports/gateway.ts';
import { cliKinds } from '../../rollout/agents/cli/kinds.ts';
import { versionIn } from '../../rollout/agents/cli/version-words.ts';

/** A model that an agent is given, by a provider that answers its API, and where that is behind the scripted model's URL. */
export type RowModel = {
  readonly model: string;
  readonly basePath: string;
  readonly protocols?: readonly Protocol[];
};

/** A coding agent as the suite runs it. */
export type AgentRow = RowModel & {
  readonly agent: string;
  /** Models that it speaks to in another API or in another way. */
  readonly others: readonly RowModel[];
  /** The skill in a form that this program takes and the agent does not offer to its model; null = it offers all of these. */
  readonly hidden: ((skill: string) => string) | null;
  /** The skill's body stands in its own output, and so in the trajectory. */
  readonly showsBody: boolean;
  /** Seconds within which it is at work for sure, on a machine that has other things to do. */
  readonly seconds: number;
};

const onlyByUser = (skill: string) => skill.replace('\n---\n', '\ndisable-model-invocation: true\n---\n');
const afterMark = (skill: string) => `\uFEFF${skill}`;

const ofVendors: readonly RowModel[] = [
  { model: 'anthropic/claude-opus-4-8', basePath: '' },
  { model: 'openai/gpt-5', basePath: '/v1' },
  { model: 'google/gemini-3-pro', basePath: '' },
];

/** One agent a row. */
const rows: readonly AgentRow[] = [
  {
    agent: 'claude-code',
    model: 'anthropic/claude-opus-4-8',
    basePath: '',
    others: [{ model: 'openai-compatible/other', basePath: '/v1', protocols: ['messages'] }],
    hidden: onlyByUser,
    showsBody: true,
    seconds: 15,
  },
  {
    agent: 'codex',
    model: 'openai/gpt-5',
    basePath: '/v1',
    others: [
      { model: 'openai/gpt-5.5', basePath: '/v1' },
      { model: 'openai/gpt-6-sol', basePath: '/v1' },
    ],
    hidden: afterMark,
    showsBody: true,
    seconds: 15,
  },
  {
    agent: 'pi',
    model: 'openai-compatible/scripted',
    basePath: '/v1',
    others: ofVendors,
    hidden: onlyByUser,
    showsBody: true,
    seconds: 15,
  },
  {
    agent: 'opencode',
    model: 'openai-compatible/scripted',
    basePath: '/v1',
    others: ofVendors,
    hidden: null,
    showsBody: true,
    seconds: 60,
  },
  {
    agent: 'gemini-cli',
    model: 'google/gemini-3-pro',
    basePath: '',
    others: [],
    hidden: null,
    showsBody: false,
    seconds: 40,
  },
];

/** Where the agents are: `SKILLOPT_AGENTS`, a folder into which npm has installed them, before the PATH. */
const prefix = process.env.SKILLOPT_AGENTS;
const own = prefix === undefined || prefix === '' ? [] : [join(resolve(prefix), 'node_modules', '.bin')];
export const agentsPath = [...own, process.env.PATH ?? '/usr/bin:/bin'].join(':');

export type FoundAgent = { readonly row: AgentRow; readonly version: string };
type Missing = { readonly agent: string; readonly why: string };

/** Agents that start here, and why the others do not. */
function look(): { readonly found: readonly FoundAgent[]; readonly missing: readonly Missing[] } {
  const found: FoundAgent[] = [];
  const missing: Missing[] = [];
  for (const row of rows) {
    const kind = cliKinds.find(({ name }) => name === row.agent);
    if (kind === undefined) throw new Error(`there is no agent ${row.agent}`);
    const at = agentsPath
      .split(':')
      .map((folder) => join(folder, kind.program))
      .find((file) => existsSync(file));
    const install = `npm install -g ${kind.npmPackage}@${kind.tested}`;
    if (at === undefined) {
      missing.push({ agent: row.agent, why: `no ${kind.program} is on PATH (${install})` });
      continue;
    }
    const env = { PATH: agentsPath, HOME: '/nonexistent', TMPDIR: process.env.TMPDIR ?? '/tmp' };
    const { stdout, status } = spawnSync(at, [...kind.versionArgs], { env, encoding: 'utf8', timeout: 60_000 });
    const version = status === 0 ? versionIn(stdout) : null;
    if (version !== null) found.push({ row, version });
    else
      missing.push({
        agent: row.agent,
        why: `${at} does not start${kind.node ? ` (it needs Node ${kind.node})` : ''}`,
      });
  }
  return { found, missing };
}

export const { found: foundAgents, missing: missingAgents } = look();

/** Agents that have to be there: all with `REQUIRE_AGENTS=1`, some by their names (`REQUIRE_AGENTS=claude-code,codex`). */
export const requiredAgents: readonly string[] = (() => {
  const wanted = process.env.REQUIRE_AGENTS ?? '';
  if (wanted === '' || wanted === '0') return [];
  return wanted === '1' ? rows.map(({ agent }) => agent) : wanted.split(',');
})();
