import type { EventOf } from '../events/events.ts';
import { type Edit, editHash, editIdentity } from '../ports/edit.ts';
import type { Ask, SkillOps } from '../ports/engine.ts';
import type { TriedEdit } from '../ports/proposals.ts';
import { type Conversation, Stop } from './conversation.ts';
import type { LoopPlan } from './plan.ts';
import { POINTS } from './rules.ts';
import { noteTrain, type SearchState } from './state.ts';

type Reason = EventOf<'edit.rejected'>['reason'];
type Rejected = { readonly reason: Reason; readonly detail: string };
type Ready = { readonly text: string; readonly task: string | null };

/** Where an edit comes from: a reflection is screened on the first task it cites; a person's edit may be kept without. */
export type EditSource = 'reflection' | 'person';

/**
 * Screens the edits of one round side by side against the draft as the round found it: each is tried once on the first
 * train task it cites, if that still fails. A second edit for the same task waits for the first. Returns how many were kept.
 */
export async function screenRound(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  ops: SkillOps,
  edits: readonly Edit[],
  source: EditSource,
  atMost: number,
): Promise<number> {
  const base = s.draftText;
  const planned = new Map<number, Ask>();
  let kept = 0;
  s.offered += edits.length;
  layOut(plan, s, talk, ops, edits, source, atMost, base, planned);
  try {
    for (const [index, edit] of edits.entries()) {
      await talk.point('edit');
      if (await screenOne(plan, s, talk, ops, edit, index, source, atMost, base, planned)) kept++;
    }
  } finally {
    talk.drop([...planned.values()]);
    talk.guess([]);
  }
  return kept;
}

function layOut(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  ops: SkillOps,
  edits: readonly Edit[],
  source: EditSource,
  atMost: number,
  base: string,
  planned: Map<number, Ask>,
): void {
  const taken = new Set<string>();
  const waiting: { ask: Ask; text: string }[] = [];
  for (const [index, edit] of edits.entries()) {
    const ready = readyToScreen(plan, s, talk, ops, edit, index, source, atMost, base);
    if ('reason' in ready || ready.task === null) continue;
    if (taken.has(ready.task)) {
      waiting.push({ ask: talk.peek(ready.text, ready.task), text: ready.text });
      continue;
    }
    taken.add(ready.task);
    const ask = talk.number(ready.text, ready.task);
    planned.set(index, ask);
    if (planned.size <= talk.room) talk.layOut([ask], ready.text);
  }
  talk.guess(waiting); // they wait only for a failure, and most fail
}

/** Decides one edit; true when it went into the draft. */
async function screenOne(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  ops: SkillOps,
  edit: Edit,
  index: number,
  source: EditSource,
  atMost: number,
  base: string,
  planned: Map<number, Ask>,
): Promise<boolean> {
  const hash = editHash(edit);
  const round = s.rounds;
  const reject = async ({ reason, detail }: Rejected) => {
    note(s, edit, 'skipped', `${reason}: ${detail}`);
    await talk.decide({ type: 'edit.rejected', round, index, edit: hash, reason, detail });
    return false;
  };
  const laidOut = planned.get(index);
  const ready = readyToScreen(plan, s, talk, ops, edit, index, source, atMost, base);
  if ('reason' in ready) {
    if (laidOut) talk.drop([laidOut]);
    planned.delete(index);
    return reject(ready);
  }
  const settled =
    ready.task === null ? null : await talk.settle(laidOut ?? talk.number(ready.text, ready.task), ready.text);
  planned.delete(index);
  const identity = editIdentity(edit);
  let keep = settled === null;
  if (settled !== null && ready.task !== null) {
    noteTrain(s, ready.task, settled);
    if (settled.hard !== null) {
      const before = plan.search.memory ? (s.points.get(identity) ?? 0) : 0;
      const points = Math.max(POINTS.floor, before + (settled.hard === 1 ? POINTS.pass : POINTS.fail));
      s.points.set(identity, points);
      keep = points > 0;
    }
  }
  const passed = settled === null || settled.hard === null ? null : settled.hard === 1;
  if (keep) {
    const grown = ops.apply(s.draftText, edit);
    if (!grown.ok) return reject({ reason: 'conflict', detail: `does not fit the grown draft: ${grown.detail}` });
    s.draft.push({ edit, hash, fixed: passed === true ? ready.task : null });
    s.draftText = grown.text;
  }
  if (passed === true && ready.task !== null && keep) s.train.set(ready.task, 1);
  note(s, edit, keep ? 'in-draft' : passed === null ? 'skipped' : 'failed-screening', evidence(ready.task, passed));
  await talk.decide({
    type: 'screening.decided',
    round,
    index,
    edit: hash,
    task: ready.task,
    passed,
    kept: keep,
    points: s.points.get(identity) ?? 0,
    draft: talk.hash(s.draftText),
    draftSize: s.draft.length,
  });
  return keep;
}

/** The text to try and the task to try it on (null = none needed), or why the edit is not tried. */
function readyToScreen(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  ops: SkillOps,
  edit: Edit,
  index: number,
  source: EditSource,
  atMost: number,
  base: string,
): Ready | Rejected {
  if (index >= atMost) return { reason: 'too-many', detail: `at most ${atMost} edits were asked for` };
  if (s.draft.some((k) => editIdentity(k.edit) === editIdentity(edit)))
    return { reason: 'in-draft', detail: 'stands in the draft already' };
  const banned = talk.banned.find((b) => edit.content.includes(b));
  if (banned !== undefined) return { reason: 'banned', detail: `brings in a banned text: ${banned}` };
  const applied = ops.apply(base, edit);
  if (!applied.ok) return { reason: applied.reason, detail: applied.detail };
  if (ops.same(base, applied.text)) return { reason: 'no-change', detail: 'changes nothing but trailing blanks' };
  if (plan.gate.rule === 'skillopt') return { text: applied.text, task: null };
  const task = edit.cites[0];
  const fails = task !== undefined && s.train.get(task) === 0 && s.newest.has(task);
  if (fails) return { text: applied.text, task };
  if (source === 'person') return { text: applied.text, task: null };
  return {
    reason: 'nothing-left-to-fix',
    detail: task === undefined ? 'cites no train task' : `${task} does not fail (any more)`,
  };
}

function evidence(task: string | null, passed: boolean | null): string {
  if (task === null) return 'kept without a try';
  return passed === null
    ? `${task} could not be scored`
    : passed
      ? `${task} passed with it`
      : `${task} still failed with it`;
}

function note(s: SearchState, edit: Edit, fate: TriedEdit['fate'], text: string): void {
  s.tried.push({ edit, round: s.rounds, fate, evidence: text });
}

/** A round without a usable edit, or with none, is a decision too: the reflection's key has to stand in one. */
export async function decideEmptyRound(
  s: SearchState,
  talk: Conversation,
  reason: 'none-offered' | 'unusable',
  detail: string,
): Promise<void> {
  await talk.decide({ type: 'edit.rejected', round: s.rounds, index: null, edit: null, reason, detail });
}

/** Three reflections in a row without a readable hand-in end the run. */
export class UnusableStreak {
  private inRow = 0;
  saw(usable: boolean): void {
    this.inRow = usable ? 0 : this.inRow + 1;
    if (this.inRow >= 3) throw new Stop('optimizer-failed');
  }
}
