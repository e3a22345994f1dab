import type { Edit } from '../ports/edit.ts';
import type { Failure } from '../ports/failure.ts';
import {
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelPart,
  type ModelReply,
  type ModelRequest,
} from '../ports/model.ts';
import type { ModelCall, PassingRollout, ProposalOptions, ProposalRequest, ShownRollout } from '../ports/proposals.ts';
import type { Usage } from '../ports/usage.ts';
import { applyEdit } from '../skill/edits.ts';
import { createReflectingOptimizer, type ReflectingOptions } from './reflecting.ts';

/** What tests of the reflecting optimizer work with: a model that answers by a script, and requests. */
export const skill = `---
name: notes
description: Writes notes.
---

# Notes

## Order

Newest entry first.

\`\`\`\`sh
cat notes.md
\`\`\`\`

## Links

Use relative links.
`;

export const perCall: Usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.01, requests: 1 };

export type Scripted = ModelReply | ModelError | ((request: ModelRequest) => ModelReply);

export class ScriptedModel implements Model {
  readonly id = 'scripted/model';
  readonly hasPrice = true;
  readonly requests: ModelRequest[] = [];

  constructor(
    readonly takesTools: boolean,
    private readonly script: readonly Scripted[],
  ) {}

  preflight: Model['preflight'] = async () => [
    { level: 'ok', what: 'the model answers', where: 'scripted/model', fix: '' },
  ];

  async performCompletion(request: ModelRequest): Promise<ModelReply> {
    const next = this.script[this.requests.length];
    this.requests.push(structuredClone(request));
    if (next === undefined) throw new Error(`the script has no answer to call ${this.requests.length}`);
    if (next instanceof ModelError) throw next;
    return typeof next === 'function' ? next(request) : next;
  }

  /** All that was sent in a call, as one text. */
  sent(call: number): string {
    const request = this.requests[call];
    if (request === undefined) throw new Error(`there was no call ${call}`);
    return [request.system, ...request.messages.flatMap((m) => m.parts.map(partText))].join('\n');
  }
}

export function partText(part: ModelPart): string {
  if (part.kind === 'tool-call') return JSON.stringify(part.input);
  return part.kind === 'text' ? part.text : part.output;
}

export function says(text: string, stop: ModelReply['stop'] = 'end'): ModelReply {
  return { parts: text === '' ? [] : [{ kind: 'text', text }], stop, usage: perCall };
}

export function callsTools(...calls: readonly (readonly [name: string, input: unknown])[]): ModelReply {
  const parts = calls.map(([name, input], at): ModelPart => ({ kind: 'tool-call', id: `${name}-${at}`, name, input }));
  return { parts, stop: 'tool', usage: perCall };
}

export function modelError(kind: ModelErrorKind, more: Partial<Failure> = {}): ModelError {
  const failure = {
    code: 'optimizer',
    what: `the call ended in ${kind}`,
    where: 'scripted/model',
    fix: 'wait',
    retryable: false,
    ...more,
  } as const;
  return new ModelError(kind, failure, perCall);
}

export function edit(more: Partial<Edit> = {}): Edit {
  return {
    op: 'insert_after',
    target: 'Newest entry first.',
    content: 'Give each entry its date, since readers sort by it.',
    cites: ['alpha'],
    reason: 'Entries had no date.',
    ...more,
  };
}

export const handIn = (...edits: readonly unknown[]) => ({ summary: 'What I saw.', edits });
export const handInText = (...edits: readonly unknown[]) => JSON.stringify(handIn(...edits));

export function failing(task: string, more: Partial<ShownRollout['trajectory']> = {}): ShownRollout {
  return {
    task,
    instruction: `Do what ${task} asks.`,
    rollout: `r/${task}`,
    trajectory: {
      agent: 'a',
      steps: [{ kind: 'tool', name: 'shell', input: `run ${task}`, output: `printed by ${task}`, exitCode: 1 }],
      finalText: `The end of ${task}.`,
      cut: 0,
      verifier: { output: 'VERIFIER SAYS THE ANSWER IS 42' },
      ...more,
    },
  };
}

export function passing(task: string, read?: PassingRollout['read']): PassingRollout {
  const { trajectory, ...rest } = failing(task);
  return { ...rest, read: read ?? (() => trajectory) };
}

export function request(more: Partial<ProposalRequest> = {}): ProposalRequest {
  return {
    key: 'reflection 1',
    round: 1,
    text: skill,
    incumbentText: skill,
    atMost: 3,
    failing: [failing('alpha'), failing('beta')],
    passing: [],
    passes: [],
    tried: [],
    refused: [],
    notes: [],
    banned: [],
    ...more,
  };
}

/** One reflection from end to end, with what was reported on the way. */
export async function reflect(
  model: ScriptedModel,
  more: Partial<ProposalRequest> = {},
  options: Partial<ReflectingOptions & ProposalOptions> = {},
) {
  const calls: ModelCall[] = [];
  let clock = 0;
  const whole = request(more);
  const optimizer = createReflectingOptimizer({
    model,
    form: 'auto',
    maxCalls: 8,
    minibatchSize: null,
    readers: 1,
    now: () => (clock += 5),
    ...options,
  });
  const result = await optimizer.performProposal(whole, {
    signal: options.signal ?? new AbortController().signal,
    check: options.check ?? ((e) => applyEdit(whole.text, e)),
    onCall: (call) => {
      calls.push(call);
      options.onCall?.(call);
    },
    mayCall: options.mayCall ?? (() => true),
  });
  return { result, calls };
}

/** The proposal of a reflection that has to end with one. */
export async function proposed(...args: Parameters<typeof reflect>) {
  const { result } = await reflect(...args);
  if (result.kind !== 'proposal') throw new Error(JSON.stringify(result));
  return result.proposal;
}
