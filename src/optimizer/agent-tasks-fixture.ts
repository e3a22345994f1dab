import type { AgentTask, AgentTaskEnd, AgentTasks, HandedIn } from '../ports/agent-task.ts';
import type { ModelCall, ProposalOptions, ProposalRequest } from '../ports/proposals.ts';
import type { Usage } from '../ports/usage.ts';
import { applyEdit } from '../skill/edits.ts';
import { type AgentOptimizerOptions, createAgentOptimizer } from './agent-optimizer.ts';
import { request } from './reflecting-fixture.ts';

export const perRun: Usage = { inputTokens: 20_000, outputTokens: 900, costUsd: null, requests: 7 };
export const places = { material: '/app/material', handIn: '/app/hand-in/proposal.json' } as const;

/** What an agent of a test was given, and how it was told. */
export type Given = AgentTask & { readonly told: string };
export type ScriptedRun = AgentTaskEnd | ((given: Given, signal: AbortSignal) => AgentTaskEnd | Promise<AgentTaskEnd>);

/** An agent that does by a script what it is given. */
export class ScriptedAgent implements AgentTasks {
  readonly id = 'scripted (some/model)';
  readonly runs: Given[] = [];

  constructor(private readonly script: readonly ScriptedRun[]) {}

  preflight: AgentTasks['preflight'] = async () => [
    { level: 'ok', what: 'the agent runs', where: 'agent scripted', fix: '' },
  ];

  async performAgentTask(task: AgentTask, { signal }: { readonly signal: AbortSignal }): Promise<AgentTaskEnd> {
    const next = this.script[this.runs.length];
    const given = { ...task, told: task.instruction(places) };
    this.runs.push(given);
    if (next === undefined) throw new Error(`the script has nothing for run ${this.runs.length}`);
    return typeof next === 'function' ? next(given, signal) : next;
  }

  /** Texts of the files of a run. */
  files(run: number): Readonly<Record<string, string>> {
    const given = this.runs[run];
    if (given === undefined) throw new Error(`there was no run ${run}`);
    return given.files;
  }
}

type Ended = Extract<AgentTaskEnd, { readonly kind: 'ended' }>;

export function ended(handedIn: HandedIn, more: Partial<Ended> = {}): AgentTaskEnd {
  return { kind: 'ended', exit: 'finished', handedIn, finalText: '', usage: perRun, problem: null, ...more };
}

export const writes = (text: string, more: Partial<Ended> = {}): AgentTaskEnd => ended({ kind: 'text', text }, more);
export const writesNothing = (more: Partial<Ended> = {}): AgentTaskEnd => ended({ kind: 'missing' }, more);

/** An optimizer with an agent, options for one proposal of it, and what is reported on the way. */
export function optimizerOf(
  agent: ScriptedAgent,
  options: Partial<AgentOptimizerOptions & ProposalOptions> = {},
  more: Partial<ProposalRequest> = {},
) {
  const calls: ModelCall[] = [];
  let clock = 0;
  const optimizer = createAgentOptimizer({
    tasks: agent,
    timeoutMs: 900_000,
    minibatchSize: null,
    readers: 1,
    now: () => (clock += 5),
    ...options,
  });
  const forOne: ProposalOptions = {
    signal: options.signal ?? new AbortController().signal,
    check: options.check ?? ((e) => applyEdit(request(more).text, e)),
    onCall: (call) => calls.push(call),
    mayCall: options.mayCall ?? (() => true),
  };
  return { optimizer, options: forOne, calls };
}

/** One reflection by an agent from end to end, with what was reported on the way. */
export async function agentReflects(
  agent: ScriptedAgent,
  more: Partial<ProposalRequest> = {},
  options: Partial<AgentOptimizerOptions & ProposalOptions> = {},
) {
  const made = optimizerOf(agent, options, more);
  const result = await made.optimizer.performProposal(request(more), made.options);
  return { result, calls: made.calls, optimizer: made.optimizer };
}

/** The proposal of a reflection that has to end with one. */
export async function agentProposes(...args: Parameters<typeof agentReflects>) {
  const { result } = await agentReflects(...args);
  if (result.kind !== 'proposal') throw new Error(JSON.stringify(result));
  return result.proposal;
}
