import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unknownUsage } from '../../../ports/usage.ts';
import { runProcess } from '../../../process/run-process.ts';
import type { AgentModel, AgentRun } from '../agent.ts';
import type { AgentSettings } from '../settings.ts';
import type { CliKind, CliReading, CliSeat } from './cli-kind.ts';

/** An agent that is a script of this test: what it does stands in its environment's `DO`, as a shell's command. */
export function fakeKind(more: Partial<CliKind> = {}): CliKind {
  return {
    name: 'fake-agent',
    program: 'fake',
    npmPackage: '@fake/agent',
    tested: '2.4.0',
    node: null,
    alsoNeeds: [],
    speaks: ['messages'],
    skillMounts: [{ base: 'workspace', path: '.fake/skills' }],
    versionArgs: ['--version'],
    login: null,
    launch: () => ({ args: ['work'], env: {}, homeFiles: {} }),
    parse: ({ stdout }) => ({ ...emptyReading, finalText: stdout, ended: stdout.includes('END') }),
    ...more,
  };
}

export const emptyReading: CliReading = {
  steps: [],
  finalText: '',
  usage: unknownUsage,
  visible: null,
  read: null,
  trouble: null,
  ended: true,
};

/** Writes a program into a folder of a PATH; `text` is a script of bash unless it says otherwise. */
export function program(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, text.startsWith('#!') ? text : `#!/bin/bash\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

export function settingsFor(path: string, more: Partial<AgentSettings> = {}): AgentSettings {
  return {
    variables: {},
    path,
    login: 'key',
    model: null,
    modelId: 'anthropic/claude-x',
    modelName: 'claude-x',
    protocols: null,
    limits: { requests: null, tokens: null, usd: null },
    mcp: {},
    rehearsalDelayMs: 0,
    ...more,
  };
}

export const fakeModel: AgentModel = {
  id: 'openai-compatible/some-model',
  name: 'some-model',
  baseUrl: 'http://127.0.0.1:9/t/token',
  key: 'dummy-key-of-one-rollout',
  protocols: ['messages', 'chat', 'responses', 'gemini'],
  contextTokens: null,
  maxOutputTokens: null,
};

export function seatFor(more: Partial<CliSeat> = {}): CliSeat {
  return {
    workspace: '/workspace',
    home: '/home/agent',
    temp: '/tmp',
    logDir: '/logs/agent',
    skillName: 'widget',
    model: fakeModel,
    protocol: 'messages',
    modelName: null,
    modelId: null,
    maxTurns: null,
    maxUsd: null,
    timeoutMs: 60_000,
    mcp: {},
    ...more,
  };
}

/** A rollout in plain folders below `dir`, whose processes run for real. */
export function runIn(dir: string, more: Partial<AgentRun> = {}): AgentRun {
  const host = {
    workspace: join(dir, 'app'),
    home: join(dir, 'home'),
    temp: join(dir, 'tmp'),
    logDir: join(dir, 'logs'),
  };
  for (const folder of Object.values(host)) mkdirSync(folder, { recursive: true });
  const signal = more.signal ?? new AbortController().signal;
  const env = more.env ?? { PATH: '/usr/bin:/bin', HOME: host.home };
  return {
    workspace: host.workspace,
    home: host.home,
    host,
    model: fakeModel,
    skillDir: null,
    instruction: 'Do it.',
    logDir: host.logDir,
    env,
    task: { id: 'one', env: { environment: {}, verifier: {}, solution: {} } } as unknown as AgentRun['task'],
    timeoutMs: 60_000,
    signal,
    run: async (command, { timeoutMs = null, cwd = host.workspace, env: added, ...rest } = {}) => {
      const end = await runProcess({
        ...rest,
        command,
        cwd,
        env: { ...env, ...added },
        timeoutMs,
        signal,
        graceMs: 50,
      });
      return end.cause === 'cancelled' ? { ...end, cause: 'timeout' as const } : end;
    },
    ...more,
  };
}
