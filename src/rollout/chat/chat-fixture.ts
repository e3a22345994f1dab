import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../../ports/failure.ts';
import { sha256 } from '../../ports/hash.ts';
import {
  type Model,
  type ModelCallOptions,
  ModelError,
  type ModelErrorKind,
  type ModelReply,
  type ModelRequest,
} from '../../ports/model.ts';
import type { MountedSkill, RolloutReport, RolloutRequest } from '../../ports/rollouts.ts';
import type { Check, PromptTask } from '../../ports/task.ts';
import type { Usage } from '../../ports/usage.ts';
import { findMarked } from '../../process/reap-leftovers.ts';
import { markName } from '../local/environment.ts';
import { ChatRollouts } from './chat-rollouts.ts';
import type { ChatOptions } from './options.ts';

export const someUsage: Usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.001, requests: 1 };

/** What a model of the tests does with a request: an answer, a whole reply, or an error to throw. */
export type Play = (
  request: ModelRequest,
  options: ModelCallOptions,
) => string | ModelReply | Promise<string | ModelReply>;

/** A model behind the port that does what it is told, and remembers what it was asked. */
export function playedModel(play: Play): Model & { readonly asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    id: 'played/model',
    takesTools: false,
    hasPrice: true,
    asked,
    preflight: async () => [],
    async performCompletion(request, options) {
      asked.push(request);
      const end = await play(request, options);
      return typeof end === 'string' ? { parts: [{ kind: 'text', text: end }], stop: 'end', usage: someUsage } : end;
    },
  };
}

/** Waits until it is told to end, and throws the reason, as a model does. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

export function modelError(kind: ModelErrorKind): ModelError {
  const failure = fail('environment-down', `it was ${kind}`, 'played/model', 'wait', { retryable: true }).failure;
  return new ModelError(kind, failure, { ...someUsage, outputTokens: 0 });
}

/** The chat backend with a temporary place of its own. */
export type ChatBench = ReturnType<typeof makeChatBench>;

let benches = 0;

export function makeChatBench(model: Model, more: Partial<ChatOptions> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'chat-bench-')));
  const tempRoot = join(folder, 'tmp');
  mkdirSync(tempRoot);
  const number = ++benches;
  const sessionId = `chat-${process.pid}-${number}`;
  const secret = `sk-secret-${number}`;
  const backend = new ChatRollouts({
    model,
    passThreshold: 1,
    sessionId,
    tasks: [],
    unsandboxedAllowed: true,
    defaultTimeoutSec: 60,
    hostEnv: { ...process.env, SOME_API_KEY: secret },
    tempRoot,
    graceMs: 300,
    ...more,
  });
  const places = [{ folder: tempRoot, sinceMs: null }];
  const mark = { name: markName, match: 'prefix', value: `${sessionId}/`, places } as const;
  return {
    backend,
    secret,
    sessionId,
    tempRoot,
    /** Settles once a command of a check runs. */
    async busy() {
      while ((await findMarked(mark)).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async leftovers(): Promise<readonly string[]> {
      const processes = await findMarked(mark);
      return [...processes.map((found) => `process ${found.pid} ${found.command}`), ...readdirSync(tempRoot)];
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A task of a prompt pack; its one check, unless others are given, is that the answer equals `ok`. */
export function promptTask(more: Partial<PromptTask> = {}): PromptTask {
  const instruction = more.instruction ?? 'Say ok.';
  return {
    kind: 'prompt',
    id: 'task',
    dir: '/nowhere',
    hash: sha256(JSON.stringify(more)),
    instruction,
    instructionHash: sha256(instruction),
    agentTimeoutSec: null,
    shouldTrigger: null,
    system: '',
    files: [],
    checks: [equals('ok')],
    noAnswer: [],
    ...more,
  };
}

export function equals(value: string, weight = 1): Check {
  return { kind: 'equals', value, ignoreCase: false, weight, after: null };
}

export function command(
  argv: readonly string[],
  more: { readonly timeoutSec?: number; readonly files?: PromptTask['files'] } = {},
): Check {
  return { kind: 'command', command: argv, timeoutSec: 30, weight: 1, after: null, ...more };
}

export function mounted(text: string): MountedSkill {
  return { name: 's', hash: sha256(text), text, bundleDir: null };
}

export function rolloutOf(task: PromptTask, more: Partial<RolloutRequest> = {}): RolloutRequest {
  return { key: 'key', task, skill: null, attempt: 0, try: 0, signal: new AbortController().signal, ...more };
}

/** The one report of one request. */
export async function reportOf(backend: ChatRollouts, request: RolloutRequest): Promise<RolloutReport> {
  const reports: RolloutReport[] = [];
  for await (const report of backend.performRollouts([request], { signal: new AbortController().signal }))
    reports.push(report);
  if (reports.length !== 1 || reports[0] === undefined) throw new Error(`${reports.length} reports`);
  return reports[0];
}
