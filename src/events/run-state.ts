import type { Edit } from '../ports/edit.ts';
import type { Conclusive } from './conclusive.ts';
import type { EventOf } from './events.ts';
import type { Score } from './shapes.ts';

/** An edit that was handed in, with what has become of it. */
export type EditState = {
  readonly hash: string;
  readonly edit: Edit;
  readonly round: number;
  readonly source: 'reflection' | 'slow-update' | 'person';
  readonly fate: 'handed-in' | 'in-draft' | 'dropped' | 'rejected' | 'accepted' | 'refused';
  readonly why: string;
};

/** A row of the score table: one gate. */
export type StepState = Conclusive<'gate.decided'> & {
  readonly at: string;
  /** Edits that went into the draft since the gate before; `edits` is the whole draft. */
  readonly kept: number;
};

/** The first thing that went wrong in a row of things that went wrong. */
export type Trouble = {
  /** Line of the log. */
  readonly line: number;
  readonly where: string;
  /** One line. */
  readonly what: string;
};

export type Unscored = { readonly count: number; readonly task: string; readonly detail: string };

export type Phase = 'starting' | 'measuring' | 'searching' | 'confirming' | 'searched' | 'finalizing' | 'finished';

export type Running = {
  readonly key: string;
  /** Short hash of the skill's text; `none` without a skill. */
  readonly skill: string;
  readonly task: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
  readonly line: string;
  /** Line of the log at which it started. */
  readonly seq: number;
};

/** A rollout that has finished and that no decision has consumed so far. `score` is 0…1 under the metric, null = unscored. */
export type Pending = Pick<Running, 'key' | 'skill' | 'task' | 'line'> & {
  /** Line of the log at which it started; 0 = it did not start here (a fork took it over). */
  readonly seq: number;
  readonly attempt: number;
  readonly try: number;
  readonly score: number | null;
  readonly passed: boolean | null;
};

/** Scores of tasks that one evaluation decided: 0…1, null = unscored. */
export type Measured = {
  readonly why: string;
  readonly skill: string;
  readonly tasks: readonly (readonly [string, number | null])[];
};

/** One edit tried on one train task. */
export type Screened = {
  readonly edit: string;
  readonly task: string | null;
  readonly passed: boolean | null;
  readonly kept: boolean;
};

/** Selection at one time: under the incumbent, or under the draft of a step. */
export type SelectionTime =
  | { readonly kind: 'measured'; readonly measured: Measured }
  | { readonly kind: 'gate'; readonly step: StepState };

/** Train at one time: a sweep (number 0 = the seed's), or a round with the edits that were tried in it. */
export type TrainTime =
  | { readonly kind: 'sweep'; readonly number: number; readonly measured: Measured }
  | { readonly kind: 'round'; readonly round: number; readonly screened: readonly Screened[] };

/** What was measured, oldest first, and what follows from that order. */
export type Timeline = {
  readonly selection: readonly SelectionTime[];
  readonly train: readonly TrainTime[];
  /** Place in `selection` where the incumbent won its place; -1 = nothing is measured. */
  readonly best: number;
  /** The last gate that changed a task, such as `won in 3`. */
  readonly flips: ReadonlyMap<string, string>;
  /** Numbers of the accepted steps. */
  readonly accepted: readonly number[];
};

/** An attempt of the sealed test: its score under the metric, 0…1, null = unscored. */
export type Tested = { readonly skill: string; readonly task: string; readonly score: number | null };

/** What has happened since the gate before: what the next row of the score table will say. */
export type OpenStep = { readonly rounds: number; readonly tried: number; readonly kept: number };

/**
 * The optimizer is at work: it was shown so many failing rollouts, or, at an epoch's end, what was tried.
 * `calls` = of the optimizer's model that have ended so far.
 */
export type Reflecting = {
  readonly kind: 'reflection' | 'slow-update';
  readonly round: number;
  readonly failing: number;
  readonly calls: number;
  readonly since: string;
};

/** A sum of tokens and US dollars; null = unknown. */
export type Spent = { readonly tokens: number | null; readonly costUsd: number | null };

/** What all roles together have spent, and the optimizer's part of it with the number of its model calls. */
export type Spend = Spent & {
  readonly optimizer: Spent;
  readonly requests: number;
  /** Short calls before the work began, of all roles; what they spent is part of the sums, and not of the optimizer's. */
  readonly roundTrips: number;
  /** Calls and rollouts of which nothing is known: they stand in no sum, so that the sums are the least that was spent. */
  readonly uncounted: number;
};

/**
 * Rollouts, or reflections, that were performed here and came to their end: how many, and their time and spend together.
 * `requests` = of their models, as far as they are known.
 */
export type Work = Spent & { readonly count: number; readonly requests: number; readonly durationMs: number };

/** What an entry is about; screens give each a mark and a colour. */
export type FeedKind =
  | 'measured'
  | 'kept'
  | 'dropped'
  | 'skipped'
  | 'accept'
  | 'reject'
  | 'indecisive'
  | 'test'
  | 'warning'
  | 'session'
  | 'input';

/** Something that happened, in a sentence, with further ones that say why. None of them holds a line break. */
export type FeedEntry = {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly kind: FeedKind;
  readonly text: string;
  readonly details: readonly string[];
};

/**
 * What a session's log says, as a fold over its lines. The terminal, plain lines, JSON, `status` and `skillopt.md` are
 * functions of it.
 */
export type RunState = {
  readonly session: EventOf<'session.created'> | null;
  readonly splits: { readonly train: number; readonly selection: number; readonly test: number } | null;
  /** Ids of the tasks of each split, in its order. */
  readonly tasks: {
    readonly train: readonly string[];
    readonly selection: readonly string[];
    readonly test: readonly string[];
  };
  readonly plan: EventOf<'plan.fixed'> | null;
  readonly lines: number;
  readonly startedAt: string | null;
  readonly lastAt: string | null;
  readonly phase: Phase;
  /** Why nothing goes on. `where` null: its user has paused it; `role` null: it is neither's. */
  readonly paused: {
    readonly why: string;
    readonly fix: string;
    readonly where: string | null;
    readonly role: 'rollouts' | 'optimizer' | null;
  } | null;
  /** The first of the failures in a row of each role; null = it last worked. */
  readonly trouble: { readonly rollouts: Trouble | null; readonly optimizer: Trouble | null };
  /** The last command that worked on it, as it was typed; null = not known. */
  readonly command: string | null;
  readonly seed: { readonly selection: Score | null; readonly train: Score | null };
  readonly round: number;
  /** The last round for which edits were handed in; a person's are for the next one. */
  readonly handedInRound: number;
  readonly draftSize: number;
  /** Hashes of the draft's edits, in the order in which they went into it; `draftSkill` is the hash of its text. */
  readonly draft: readonly string[];
  readonly draftSkill: string;
  readonly openStep: OpenStep;
  /** Guidance that is to meet the incumbent, with the hash of the skill that it makes (empty = it makes none). */
  readonly guidance: { readonly edit: string; readonly skill: string } | null;
  readonly edits: ReadonlyMap<string, EditState>;
  readonly steps: readonly StepState[];
  /** Texts of the seed and of every accepted skill, by hash; `version` 0 is the seed. */
  readonly skills: ReadonlyMap<string, { readonly version: number; readonly text: string }>;
  readonly incumbent: string;
  readonly confirmation: Conclusive<'confirmation.finished'> | null;
  readonly ended: Conclusive<'session.ended'> | null;
  readonly finalizeStarted: boolean;
  /** How the sealed test was opened; null = it is sealed. */
  readonly opened: Pick<EventOf<'finalize.started'>, 'look' | 'attempts' | 'arms'> | null;
  readonly finalized: Conclusive<'finalize.finished'> | null;
  /** How often evals have looked at the test since it was opened. */
  readonly lookedAgain: number;
  readonly running: ReadonlyMap<string, Running>;
  readonly reflecting: Reflecting | null;
  readonly pending: ReadonlyMap<string, Pending>;
  /** Line of the last decision: what the engine waits for now was started below it. */
  readonly decidedAt: number;
  /** Rollouts that the search's decisions have consumed: the planned ledger, which the budget bounds. */
  readonly planned: number;
  /** The incumbent's scores on selection, block by block: what the next gate compares with, as far as it is decided. */
  readonly bank: ReadonlyMap<string, readonly (number | null)[]>;
  /** Last scored outcome of each train task under the draft: true = it passed. */
  readonly train: ReadonlyMap<string, boolean>;
  readonly timeline: Timeline;
  /** Attempts that the sealed test consists of, once it is over. */
  readonly tested: readonly Tested[];
  /** What happened, in sentences, oldest first. */
  readonly feed: readonly FeedEntry[];
  readonly rollouts: {
    readonly started: number;
    readonly finished: number;
    readonly scored: number;
    readonly cancelled: number;
    readonly lost: number;
    /** Outcomes that a fork took over from its parent: not started, not finished and not paid here. */
    readonly inherited: number;
    /** By reason: how many, and one of them. */
    readonly unscored: ReadonlyMap<string, Unscored>;
  };
  readonly calls: number;
  /** Rollouts in which the skill was read, of those that can tell. */
  readonly read: readonly [number, number];
  readonly spend: Spend;
  readonly work: { readonly rollouts: Work; readonly reflections: Work };
  /** Running time up to the last line: pauses and the time between two processes are left out. */
  readonly minutes: number;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
};
