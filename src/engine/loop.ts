import type { Decision } from '../events/events.ts';
import type { Cause, SearchResult } from '../events/shapes.ts';
import type { Ask, EnginePorts, SkillOps } from '../ports/engine.ts';
import { reflectionAsk } from './ask.ts';
import { confirm } from './confirmation.ts';
import { Conversation, EnvironmentChanged, Stop } from './conversation.ts';
import { consider } from './gate.ts';
import { closeOpen, incumbentBlock, sweep } from './measure.ts';
import type { LoopPlan } from './plan.ts';
import { missesLargeGains } from './power.ts';
import { type BudgetPlace, gateRule } from './rules.ts';
import { Screening } from './screening.ts';
import { meetGuidance, slowUpdate } from './slow-update.ts';
import {
  type Cell,
  emptyBank,
  failingTasks,
  isLastStep,
  type RoundEdits,
  type SearchState,
  scoreOf,
  shown,
  startState,
  unseen,
} from './state.ts';

/** The search's end: why it ended, what may be said of the text that is handed over. */
export type LoopResult = {
  readonly cause: Cause;
  readonly result: SearchResult;
  readonly text: string;
  readonly planned: number;
  readonly calls: number;
  readonly steps: number;
  readonly accepted: number;
  /** The environment as keys have it at the end. */
  readonly environment: string;
};

/**
 * The rules `loop@1` and `loop@2`: a draft grows on train, is gated on selection, and its result is confirmed on fresh
 * runs. They differ in what becomes of a removal (`removals.ts`).
 * Since `loop@2` a search that kept nothing on a pack that could not have told is *underpowered*.
 * A pure function of the plan and of its ports' answers: no clock, randomness, files or timers, one awaited call at a time.
 */
export async function optimize(plan: LoopPlan, ports: EnginePorts<Decision>, ops: SkillOps): Promise<LoopResult> {
  const talk = new Conversation(plan, ports, plan.selection.length * (plan.seedAttempt === 'given' ? 1 : 2));
  const s = startState(plan);
  const search = new Search(plan, s, talk, ops);
  const cause = await search.run();
  talk.guess([]);
  talk.budget = Number.POSITIVE_INFINITY;
  talk.line = 'confirmation';
  let result: SearchResult = 'no-measurable-difference';
  let text = s.incumbent;
  if (s.incumbent !== plan.seedText) ({ result, text } = await confirm(plan, s, talk, search.seedAttempts));
  else if (s.accepted === 0 && searched.has(cause) && search.isUnderpowered) result = 'underpowered';
  const end = { cause, result, planned: talk.used, calls: talk.calls, steps: s.steps, accepted: s.accepted };
  await talk.decide({ type: 'session.ended', ...end, shipped: talk.hash(text) });
  return { ...end, text, environment: talk.environment };
}

/** Ends that say nothing by themselves of why nothing was kept. */
const searched: ReadonlySet<Cause> = new Set<Cause>(['completed', 'budget', 'limit', 'plateau']);

class Search {
  /** The seed's attempts that are kept for the confirmation; null = the environment moved since. */
  private setAside: readonly Ask[] | null = null;
  /** The environment that they belong to. */
  private setAsideIn = '';
  private measured = false;
  private swept = false;
  /** Reflections in a row without a readable hand-in. */
  private unusable = 0;
  /** Rounds in a row that kept nothing. */
  private dry = 0;
  private dryBefore = 0;
  /** Full sweeps in a row with nothing failing and nothing to gate; with no edit kept in between. */
  private quiet = 0;
  private barren = 0;
  /** Epochs that are over. */
  private epochs = 0;
  private keptSinceSweep = false;
  /** The seed's outcomes on selection, in the split's order. */
  private seedCells: readonly Cell[] = [];
  /** What came of the reflections that handed in edits. */
  private readonly hits: BudgetPlace['hits'][number][] = [];

  constructor(
    private readonly plan: LoopPlan,
    private readonly s: SearchState,
    private readonly talk: Conversation,
    private readonly ops: SkillOps,
  ) {}

  /** What is set aside for the confirmation; null = it is of an environment that has moved since. */
  get seedAttempts(): readonly Ask[] | null {
    return this.setAsideIn === this.talk.environment ? this.setAside : null;
  }

  /** Even large gains would mostly be missed here. Rules before `loop@2` did not ask. */
  get isUnderpowered(): boolean {
    const { rule, gate } = this.plan;
    return rule !== 'loop@1' && missesLargeGains(this.seedCells, gateRule(gate.rule, 0), gate.metric);
  }

  /** Goes on until something ends the search; a raised budget or limit goes on where it stopped. */
  async run(): Promise<Cause> {
    for (;;) {
      try {
        await this.measure();
        await this.rounds();
      } catch (e) {
        if (e instanceof EnvironmentChanged) {
          await closeOpen(this.s, this.talk, 'environment-changed');
          this.forget();
          continue;
        }
        if (!(e instanceof Stop)) throw e;
        await closeOpen(this.s, this.talk, e.cause);
        if ((e.cause === 'budget' || e.cause === 'limit') && (await this.raised())) continue;
        return e.cause;
      }
    }
  }

  /** Asks once at the point *spent*. */
  private async raised(): Promise<boolean> {
    const before = this.talk.budget;
    try {
      await this.talk.point('spent');
    } catch (e) {
      if (e instanceof Stop) return false;
      if (!(e instanceof EnvironmentChanged)) throw e;
      this.forget();
    }
    return this.talk.budget > before || this.talk.limitsRaised;
  }

  /** The environment moved: every banked outcome, the seed's too, is rolled anew. */
  private forget(): void {
    const { s } = this;
    s.bank = emptyBank(this.plan);
    s.train.clear();
    s.newest.clear();
    s.points.clear();
    s.indecisive = this.quiet = this.barren = 0;
    this.measured = this.swept = false;
    this.setAside = null;
  }

  /** The incumbent once on selection, an attempt of the seed set aside, the draft once on train. */
  private async measure(): Promise<void> {
    const { plan, s, talk } = this;
    if (!this.measured) {
      const block = await incumbentBlock(plan, s, talk, 0);
      this.setAside = plan.selection.map((t) => talk.number(plan.seedText, t.id));
      this.setAsideIn = talk.environment;
      this.measured = true;
      const cells = plan.selection.map((t): readonly [string, Cell] => [t.id, block.get(t.id) ?? null]);
      if (s.incumbent === plan.seedText) this.seedCells = cells.map(([, cell]) => cell);
      await talk.decide({
        type: 'evaluation.finished',
        split: 'selection',
        why: s.incumbent === plan.seedText ? 'seed' : 'incumbent',
        skill: talk.hash(s.incumbent),
        score: scoreOf(cells.map(([, c]) => c)),
        tasks: cells.map(([t, c]) => [t, shown(c)]),
      });
    }
    if (!this.swept) {
      // cut off and taken up again, only what has no outcome yet is rolled
      const left = plan.train.map((t) => t.id).filter((t) => !s.train.has(t));
      const what = s.draftText === plan.seedText ? 'seed' : 'draft';
      await this.sweepAll(left.length === plan.train.length ? what : `${what}, the rest`, left);
      this.swept = true;
    }
  }

  private async sweepAll(why: string, tasks: readonly string[]): Promise<void> {
    const { plan, s, talk } = this;
    const covered = await sweep(plan, s, talk, tasks, why);
    this.dry = 0;
    if (!covered || unseen(s) > 0) return;
    this.quiet = failingTasks(plan, s).length === 0 ? this.quiet + 1 : 0;
    if (this.quiet >= 2) throw new Stop('ceiling');
    this.barren = this.keptSinceSweep ? 1 : this.barren + 1;
    this.keptSinceSweep = false;
    if (this.barren >= 3) throw new Stop('plateau');
  }

  private async rounds(): Promise<never> {
    const { plan, s, talk } = this;
    if (s.cutRound) this.after(await this.screen(s.cutRound));
    if (s.gateCut || this.full) await this.gate();
    if (s.guidance !== null) await this.guide();
    for (;;) {
      await talk.point('round');
      const fromPeople = talk.humanEdits;
      if (fromPeople.length > 0) {
        talk.humanEdits = [];
        s.rounds++;
        await this.handIn({ edits: fromPeople, source: 'person', atMost: fromPeople.length, from: 0 });
      }
      if (failingTasks(plan, s).length === 0 || this.dry >= plan.search.dryRounds) {
        if (unseen(s) > 0) await this.gate();
        if (plan.slowUpdate) await this.guide();
        if (plan.search.epochs !== undefined && this.epochs + 1 >= plan.search.epochs) throw new Stop('completed');
        await this.sweepAll(
          'sweep',
          plan.train.map((t) => t.id),
        );
        this.epochs++;
      }
      const failing = failingTasks(plan, s);
      if (failing.length === 0) continue;
      this.after(await this.round(failing));
      if (this.full) await this.gate();
    }
  }

  /** A draft that undid itself has kept nothing: its round was a dry one. */
  private async gate(): Promise<void> {
    const met = await consider(this.plan, this.s, this.talk, this.ops);
    if (isLastStep(this.plan, this.s)) throw new Stop('completed');
    if (met) return;
    this.dry = this.dryBefore + 1;
    this.keptSinceSweep = false;
  }

  /** New guidance for the incumbent, at an epoch's end; or one whose gate was cut off. */
  private async guide(): Promise<void> {
    const { plan, s, talk, ops } = this;
    const accepted =
      s.guidance === null ? await slowUpdate(plan, s, talk, ops) : await meetGuidance(plan, s, talk, ops);
    if (accepted) this.keptSinceSweep = true;
    if (isLastStep(plan, s)) throw new Stop('completed');
  }

  /** A round has kept so many edits. */
  private after(kept: number): void {
    this.dryBefore = this.dry;
    this.dry = kept > 0 ? 0 : this.dry + 1;
  }

  /** The draft holds as many new edits as call for a gate. */
  private get full(): boolean {
    const { plan, s } = this;
    return unseen(s) >= (plan.gate.rule === 'skillopt' ? 1 : plan.search.draftSize);
  }

  /** One reflection and the screening of what it hands in. */
  private async round(failing: readonly string[]): Promise<number> {
    const { plan, s, talk } = this;
    s.rounds++;
    const ask = reflectionAsk(plan, s, talk, failing, this.hits);
    const answer = await talk.propose(ask, { draft: s.draftText, incumbent: s.incumbent });
    if (answer.kind === 'unusable') {
      await this.emptyRound('unusable', answer.detail);
      this.unusable++;
      if (this.unusable >= 3) throw new Stop('optimizer-failed');
      return 0;
    }
    this.unusable = 0;
    const { edits, summary } = answer.proposal;
    if (edits.length > 0) {
      const kept = await this.handIn({ edits, source: 'reflection', atMost: ask.atMost, from: 0 });
      this.hits.push({ offered: Math.min(edits.length, ask.atMost), kept });
      return kept;
    }
    await this.emptyRound('none-offered', summary);
    return 0;
  }

  private handIn(round: RoundEdits): Promise<number> {
    this.s.offered += round.edits.length;
    return this.screen(round);
  }

  private async screen(round: RoundEdits): Promise<number> {
    const kept = await new Screening(this.plan, this.s, this.talk, this.ops, round).run();
    if (kept > 0) this.keptSinceSweep = true;
    return kept;
  }

  /** A round without an edit is a decision too: the reflection's key has to stand in one. */
  private async emptyRound(reason: 'none-offered' | 'unusable', detail: string): Promise<void> {
    await this.talk.decide({ type: 'edit.rejected', round: this.s.rounds, index: null, edit: null, reason, detail });
  }
}
