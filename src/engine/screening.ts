import type { EventOf } from '../events/events.ts';
import { type Applied, type Edit, editHash, editIdentity, isSameEdit } from '../ports/edit.ts';
import type { Ask, SkillOps } from '../ports/engine.ts';
import type { TriedEdit } from '../ports/proposals.ts';
import type { Conversation, Settled } from './conversation.ts';
import type { LoopPlan } from './plan.ts';
import { isRemoval, judgeRemoval } from './removals.ts';
import { POINTS, REMOVALS } from './rules.ts';
import { noteTrain, type RoundEdits, type SearchState } from './state.ts';

type Rejected = { readonly reason: EventOf<'edit.rejected'>['reason']; readonly detail: string };
/** The text to try and the task to try it on; null = it is kept for the gate without a try. */
type Ready = { readonly text: string; readonly task: string | null };

/** What the optimizer is told of a removal that did not go into the draft. */
const ONCE_MORE = `a removal that another round asks for again, within ${REMOVALS.within} rounds, goes into the draft`;

/**
 * Screens the edits of one round side by side against the draft as the round found it: each is tried once on the first
 * train task it cites, if that still fails. A second edit for the same task waits for the first. Since `loop@2` a
 * removal that is asked for again goes into the draft without a try.
 */
export class Screening {
  /** The draft as the round found it. */
  private readonly base: string;
  /** Rollouts laid out, by the place of their edit. */
  private readonly planned = new Map<number, Ask>();
  /** Edits of the round on that draft, by their place: asked for twice, worked out once. */
  private readonly onBase = new Map<number, Applied>();

  constructor(
    private readonly plan: LoopPlan,
    private readonly s: SearchState,
    private readonly talk: Conversation,
    private readonly ops: SkillOps,
    private readonly round: RoundEdits,
  ) {
    this.base = s.draftText;
  }

  /** Returns how many edits went into the draft. */
  async run(): Promise<number> {
    const { talk, s, round } = this;
    let kept = 0;
    this.layOut();
    try {
      for (const [index, edit] of this.undecided()) {
        s.cutRound = { ...round, from: index };
        await talk.point('edit');
        if (await this.decide(edit, index)) kept++;
      }
      s.cutRound = null;
    } finally {
      talk.drop([...this.planned.values()]);
      talk.guess([]);
    }
    return kept;
  }

  private undecided(): readonly (readonly [number, Edit])[] {
    return [...this.round.edits.entries()].slice(this.round.from);
  }

  private layOut(): void {
    const taken = new Set<string>();
    const waiting: { task: string; text: string }[] = [];
    for (const [index, edit] of this.undecided()) {
      const ready = this.ready(edit, index);
      if ('reason' in ready || ready.task === null) continue;
      if (taken.has(ready.task)) {
        waiting.push({ task: ready.task, text: ready.text });
        continue;
      }
      taken.add(ready.task);
      const ask = this.talk.number(ready.text, ready.task);
      this.planned.set(index, ask);
      if (this.planned.size <= this.talk.room) this.talk.layOut([ask], ready.text);
    }
    this.talk.guess(waiting); // they wait only for a failure, and most fail
  }

  /** Decides one edit; true when it went into the draft. */
  private async decide(edit: Edit, index: number): Promise<boolean> {
    const { s, talk, planned } = this;
    const laidOut = planned.get(index);
    const ready = this.ready(edit, index);
    if ('reason' in ready) {
      if (laidOut) talk.drop([laidOut]);
      planned.delete(index);
      return this.reject(edit, index, ready);
    }
    const settled =
      ready.task === null ? null : await talk.settle(laidOut ?? talk.number(ready.text, ready.task), ready.text);
    planned.delete(index); // only now: a stop while it is awaited has to drop it
    const passed = settled?.hard === undefined || settled.hard === null ? null : settled.hard === 1;
    const keep = settled === null || this.score(edit, ready.task ?? '', settled);
    if (keep) {
      const grown = s.draftText === this.base ? this.applied(edit, index) : this.ops.apply(s.draftText, edit);
      if (!grown.ok)
        return this.reject(edit, index, {
          reason: 'conflict',
          detail: `does not fit the grown draft: ${grown.detail}`,
        });
      s.draft.push({ edit, hash: editHash(edit), fixed: passed === true ? ready.task : null });
      s.draftText = grown.text;
      if (passed === true && ready.task !== null) s.train.set(ready.task, 1);
    }
    if (passed !== null) s.judged++;
    const said = evidence(ready.task, passed);
    this.note(
      edit,
      keep ? 'in-draft' : passed === null ? 'skipped' : 'failed-screening',
      !keep && this.counted(edit) ? `${said}; ${ONCE_MORE}` : said,
    );
    await talk.decide({
      type: 'screening.decided',
      round: s.rounds,
      index,
      edit: editHash(edit),
      task: ready.task,
      passed,
      kept: keep,
      points: s.points.get(editIdentity(edit)) ?? 0,
      draft: talk.hash(s.draftText),
      draftSize: s.draft.length,
    });
    return keep;
  }

  /** Takes an outcome into the edit's points; true when they say that it belongs into the draft. */
  private score(edit: Edit, task: string, settled: Settled): boolean {
    const { s, plan } = this;
    noteTrain(s, task, settled);
    if (settled.hard === null) return false;
    const identity = editIdentity(edit);
    const before = plan.search.memory ? (s.points.get(identity) ?? 0) : 0;
    const points = Math.max(POINTS.floor, before + (settled.hard === 1 ? POINTS.pass : POINTS.fail));
    s.points.set(identity, points);
    return points > 0;
  }

  private async reject(edit: Edit, index: number, { reason, detail }: Rejected): Promise<false> {
    this.note(edit, 'skipped', `${reason}: ${detail}`);
    await this.talk.decide({
      type: 'edit.rejected',
      round: this.s.rounds,
      index,
      edit: editHash(edit),
      reason,
      detail,
    });
    return false;
  }

  private note(edit: Edit, fate: TriedEdit['fate'], text: string): void {
    this.s.tried.push({ edit, round: this.s.rounds, fate, evidence: text });
  }

  /** Can this edit be tried now, or why not? Asked when the round is laid out, and again when its turn has come. */
  private ready(edit: Edit, index: number): Ready | Rejected {
    const { plan, s, talk, round } = this;
    if (index >= round.atMost) return { reason: 'too-many', detail: `at most ${round.atMost} edits were asked for` };
    if (s.draft.some((k) => isSameEdit(k.edit, edit)))
      return { reason: 'in-draft', detail: 'stands in the draft already' };
    if (edit.leak !== undefined) return { reason: 'leak', detail: edit.leak };
    const banned = talk.banned.find((b) => edit.content.includes(b));
    if (banned !== undefined) return { reason: 'banned', detail: `brings in a banned text: ${banned}` };
    const applied = this.applied(edit, index);
    if (!applied.ok) return { reason: applied.reason, detail: applied.detail };
    if (plan.gate.rule === 'skillopt') return { text: applied.text, task: null };
    if (this.counted(edit)) {
      const fate = judgeRemoval(s.removals, edit, s.rounds);
      if (fate === 'again') return { text: applied.text, task: null };
      if (fate === 'wait') return { reason: 'waits-for-another', detail: ONCE_MORE };
    }
    const task = edit.cites[0];
    if (task !== undefined && s.train.get(task) === 0 && s.newest.has(task)) return { text: applied.text, task };
    if (round.source === 'person') return { text: applied.text, task: null };
    return {
      reason: 'nothing-left-to-fix',
      detail: task === undefined ? 'cites no train task' : `${task} does not fail (any more)`,
    };
  }

  /** Asks for this edit are counted: since `loop@2`, for what only takes text away. */
  private counted(edit: Edit): boolean {
    return this.plan.rule !== 'loop@1' && this.round.source === 'reflection' && isRemoval(edit);
  }

  private applied(edit: Edit, index: number): Applied {
    const known = this.onBase.get(index);
    if (known) return known;
    const applied = this.ops.apply(this.base, edit);
    this.onBase.set(index, applied);
    return applied;
  }
}

function evidence(task: string | null, passed: boolean | null): string {
  if (task === null) return 'kept without a try';
  return passed === null ? `${task} could not be scored` : `${task} ${passed ? 'passed' : 'still failed'} with it`;
}
