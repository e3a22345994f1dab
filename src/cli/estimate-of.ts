import { type ModelConfig, modelName, modelSettings } from '../config/model.ts';
import type { Config } from '../config/schema.ts';
import { mostEdits } from '../engine/rules.ts';
import {
  type Estimate,
  type EvalEstimate,
  estimate,
  estimateEval,
  type JobSize,
  type Range,
  type RoleGuess,
} from '../events/estimate.ts';
import type { EvalArm } from '../events/eval-shapes.ts';
import { AGENT_OPTIMIZER } from '../events/optimizer-words.ts';
import type { RunState } from '../events/run-state.ts';
import type { Charge } from '../models/index.ts';
import { heldForm } from '../optimizer/reflecting.ts';
import type { Pack } from '../ports/task.ts';
import { agentGuess, agentRunGuess } from './agent-guess.ts';
import { reachOf } from './local-backend.ts';
import { type Asked, agentId, type Roles, type RoleTrip } from './roles.ts';

/** What an estimate is made from, before anything has run. */
export type Job = {
  readonly config: Config;
  readonly tasks: Pack['tasks'];
  readonly skillText: string;
  readonly splits: { readonly train: number; readonly test: number };
  /** Rollouts of the budget that are consumed already: a fork has taken them over. */
  readonly consumed: number;
  /** The sealed test follows by itself. */
  readonly finalize: boolean;
  readonly workers: number;
};

/** Characters of rules and forms that the optimizer is told beside the skill; the most of a digest, and of what is read. */
const RULES = 5_000;
const DIGEST = 24_000;
const READING = 40_000;

/** Characters of a token, at most and at least: English prose has about 4. */
const PER_TOKEN: Range = [5, 3];
/** How much a skill may grow while it is optimized. */
const GROWTH = 1.5;

// Means over a session; single calls may lie far outside.
/** Tokens of an answer, and of all that the optimizer writes in one reflection. A model that thinks takes more. */
const ANSWER: Range = [30, 800];
const HAND_IN: Range = [200, 2_000];
/** An answer of one word that takes more tokens was thought about. */
const THINKS = 60;
/** Calls of a reflection that reads by tools, and of one that does not. */
const READS: Range = [2, 8];
const ONE_SHOT: Range = [1, 1.5];
/** Milliseconds of a call while nothing is known; and of each token, at most, once a first call is. */
const CALL_MS: Range = [500, 20_000];
const TOKEN_MS = 25;
/** Milliseconds of a rollout of a small program. */
const PROGRAM_MS: Range = [20, 2_000];

/** The models that a config names, without making them. */
export function rolesOf(config: Config): Roles {
  const { model } = config;
  const asked = (config: ModelConfig): Asked => {
    const { model: id, tools } = modelSettings(config);
    return { id, takesTools: tools ?? !id.startsWith('command/') };
  };
  return { target: targetOf(config, model === null ? null : asked(model)), optimizer: optimizerOf(config, asked) };
}

/** Of an agent with its own login nobody but the agent asks the model. */
function targetOf(config: Config, model: Asked | null): Asked | null {
  const reach = reachOf(config);
  switch (reach) {
    case 'itself':
    case 'gateway':
    case 'direct':
      return model;
    case 'login':
      return { id: agentId(config), takesTools: false };
    case 'none':
      return null;
    default:
      return reach satisfies never;
  }
}

function optimizerOf(config: Config, asked: (model: ModelConfig) => Asked): Asked | null {
  switch (modelName(config.optimizer)) {
    case REHEARSAL:
      return null;
    case AGENT_OPTIMIZER:
      return { id: agentId(config), takesTools: false, isAgent: true };
    default:
      return asked(config.optimizer);
  }
}

/** The optimizer that is no model. */
const REHEARSAL = 'rehearsal';

/** What the models of a config are charged at, target first; the list of prices is loaded with the room of models. */
export async function chargesOf(config: Config): Promise<{ readonly target: Charge; readonly optimizer: Charge }> {
  const { chargeOf } = await import('../models/index.ts');
  const of = (model: ModelConfig | null): Charge =>
    model === null ? { kind: 'free' } : chargeOf(modelSettings(model));
  const byAgent = modelName(config.optimizer) === AGENT_OPTIMIZER;
  return {
    target: reachOf(config) === 'login' ? { kind: 'subscription' } : of(config.model),
    optimizer: byAgent ? chargeOfAgent(config, of) : of(config.optimizer),
  };
}

/** What the model behind an agent is charged at; of one that comes to its model by itself nobody knows. */
function chargeOfAgent({ login, model }: Config, of: (model: ModelConfig) => Charge): Charge {
  if (login === 'subscription') return { kind: 'subscription' };
  return model === null ? { kind: 'unknown' } : of(model);
}

/** What the job will come to, by sizes; with `trips`, also by how each model answered once. */
export async function estimateBefore(job: Job, roles: Roles, trips: readonly RoleTrip[]): Promise<Estimate> {
  const guesses = await guessesOf(job, roles);
  return estimate(
    sizeOf(job),
    guesses.map((g) => narrowed(g, trips)),
    trips.length > 0,
  );
}

/** What an eval is estimated from. */
type EvalJob = Pick<Job, 'config' | 'tasks' | 'workers'> & {
  readonly arms: readonly Pick<EvalArm, 'text'>[];
  /** A task and arm. */
  readonly attempts: number;
};

/** What an eval will come to, by sizes; with `trips`, also by how its model answered once. */
export async function estimateEvalBefore(
  job: EvalJob,
  target: Asked,
  trips: readonly RoleTrip[],
): Promise<EvalEstimate> {
  const { config, tasks, arms, attempts, workers } = job;
  const charges = await chargesOf(config);
  const skill = arms.reduce((sum, a) => sum + (a.text ?? '').length, 0) / arms.length;
  const guess = targetGuess({ config, tasks, skill: [skill, skill] }, target, charges.target);
  return estimateEval(
    {
      attempts: arms.length * tasks.length * attempts,
      workers,
      limit: config.limits.rollouts,
      rolloutMs: PROGRAM_MS,
    },
    [narrowed(guess, trips)],
    trips.length > 0,
  );
}

/** What the job will come to, by what the rollouts and reflections of a smaller one took on the mean. */
export async function estimateFrom(job: Job, roles: Roles, { work, spend }: RunState): Promise<Estimate> {
  const { rollouts, reflections } = work;
  const done = { target: rollouts, optimizer: reflections };
  const calls = { target: Math.max(rollouts.count, rollouts.requests), optimizer: spend.requests };
  const measured = (await guessesOf(job, roles)).map((guess) => {
    const { count, tokens, costUsd, durationMs } = done[guess.role];
    const { role, model, price, isAgent } = guess;
    return count === 0
      ? guess
      : { role, model, price, isAgent, count, calls: calls[role], tokens, costUsd, durationMs };
  });
  const each = rollouts.durationMs / Math.max(1, rollouts.count);
  return estimate({ ...sizeOf(job), rolloutMs: [0.8 * each, 1.5 * each] }, measured);
}

async function guessesOf(job: Job, { target, optimizer }: Roles): Promise<readonly RoleGuess[]> {
  const charges = await chargesOf(job.config);
  const skill = job.skillText.length;
  return [
    ...(target === null ? [] : [targetGuess({ ...job, skill: [skill, GROWTH * skill] }, target, charges.target)]),
    ...(optimizer === null
      ? []
      : [
          optimizer.isAgent
            ? agentRunGuess(job.config, optimizer, charges.optimizer)
            : optimizerGuess(job, optimizer, charges.optimizer),
        ]),
  ];
}

function sizeOf({ config, splits, consumed, finalize, workers }: Job): JobSize {
  const arms = config.optimize === 'description' ? 2 : 3; // without a skill no description can be measured
  return {
    rollouts: Math.max(0, config.budget.rollouts - consumed),
    test: finalize ? arms * splits.test * config.finalize.attempts : 0,
    mostEdits: mostEdits(splits.train, config.editBudget, { consumed: 0, hits: [] }),
    workers,
    limit: config.limits.rollouts,
    rolloutMs: PROGRAM_MS,
  };
}

/** Characters of a task's prompt, files included, on the mean. */
function promptSize(tasks: Job['tasks']): number {
  const sizes = tasks.map((t) =>
    t.kind === 'folder'
      ? t.instruction.length
      : t.system.length + t.instruction.length + t.files.reduce((sum, f) => sum + f.text.length, 0),
  );
  return sizes.reduce((a, b) => a + b, 0) / Math.max(1, sizes.length);
}

/** `skill` = characters of the skill in a request, on the mean. */
function targetGuess(
  { config, tasks, skill }: Pick<Job, 'config' | 'tasks'> & { readonly skill: Range },
  model: Asked,
  price: Charge,
): RoleGuess {
  const prompt = promptSize(tasks);
  const seconds = config.timeouts.agentSec ?? 900;
  if (config.backend !== 'chat') {
    const { calls, characters, outputTokens } = agentGuess(config, [prompt + skill[0], prompt + skill[1]]);
    return {
      role: 'target',
      model: model.id,
      price,
      calls,
      inputTokens: tokensOf(characters),
      outputTokens: bounded(outputTokens, config.model),
      durationMs: [CALL_MS[0], Math.min(CALL_MS[1], (seconds * 1_000) / calls[1])],
    };
  }
  return {
    role: 'target',
    model: model.id,
    price,
    calls: [1, 1],
    inputTokens: tokensOf([prompt + skill[0], prompt + skill[1] + 500]),
    outputTokens: bounded(ANSWER, config.model),
    durationMs: [CALL_MS[0], Math.min(CALL_MS[1], seconds * 1_000)],
  };
}

function optimizerGuess({ config, tasks, skillText, splits }: Job, model: Asked, price: Charge): RoleGuess {
  const { form, maxCalls, readers } = config.reflection;
  const tools = heldForm(form, model, maxCalls) === 'tools';
  const one: Range = tools ? [Math.min(READS[0], maxCalls), Math.min(READS[1], maxCalls + 1)] : ONE_SHOT;
  const calls: Range = [one[0], one[1] * readers];
  const skill = skillText.length;
  const material = splits.train * (promptSize(tasks) + ANSWER[1] * PER_TOKEN[1]);
  const read = Math.min(DIGEST, material) + (tools ? Math.min(READING, material) : 0);
  return {
    role: 'optimizer',
    model: model.id,
    price,
    calls,
    inputTokens: tokensOf([skill + RULES, GROWTH * skill + RULES + read]),
    outputTokens: bounded([HAND_IN[0] / one[1], HAND_IN[1] / one[0]], config.optimizer),
    durationMs: [CALL_MS[0] / readers, CALL_MS[1]],
  };
}

const tokensOf = ([low, high]: Range): Range => [low / PER_TOKEN[0], high / PER_TOKEN[1]];

/** No more than the model may answer. */
function bounded([low, high]: Range, model: ModelConfig | null): Range {
  const most = model === null ? undefined : modelSettings(model).maxOutputTokens;
  return most === undefined ? [low, high] : [Math.min(low, most), Math.min(high, most)];
}

/** By how the model answered once: no call is quicker than half of that, and one that thinks for a word thinks for an answer. */
function narrowed(guess: RoleGuess, trips: readonly RoleTrip[]): RoleGuess {
  const trip = trips.find((t) => t.role === guess.role);
  if (trip === undefined) return guess;
  const { outputTokens } = trip.usage;
  const thinks = outputTokens !== null && outputTokens > THINKS;
  const [low, high] = guess.outputTokens;
  const output: Range = thinks ? [Math.max(low, outputTokens / 2), Math.max(4 * high, outputTokens)] : [low, high];
  const more = output[1] / high;
  const said = 2 * trip.durationMs + output[1] * TOKEN_MS;
  return {
    ...guess,
    outputTokens: output,
    durationMs: [trip.durationMs / 2, Math.max(2 * trip.durationMs, Math.min(guess.durationMs[1] * more, said))],
  };
}
