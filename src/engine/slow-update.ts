import type { EventOf } from '../events/events.ts';
import { type Edit, editHash } from '../ports/edit.ts';
import type { ProposeAsk, SkillOps } from '../ports/engine.ts';
import { shortHash } from '../ports/hash.ts';
import type { Conversation } from './conversation.ts';
import { compared, enthrone, meet, noteIndecisive } from './gate.ts';
import type { LoopPlan } from './plan.ts';
import { dropDraft, type SearchState } from './state.ts';

/**
 * At the end of an epoch in which something was kept or refused: asks for guidance that is distilled from all that was
 * tried, and lets the incumbent with it meet the incumbent. True when it was accepted.
 */
export async function slowUpdate(plan: LoopPlan, s: SearchState, talk: Conversation, ops: SkillOps): Promise<boolean> {
  const { judged } = s;
  if (judged === s.judgedAtGuidance) return false;
  const answer = await talk.propose(request(s, talk), { draft: s.incumbent, incumbent: s.incumbent });
  s.judgedAtGuidance = judged;
  if (answer.kind === 'unusable') return refuse(s, talk, null, 'unusable', answer.detail);
  const { edits, summary } = answer.proposal;
  const [edit] = edits;
  if (edit === undefined) return refuse(s, talk, null, 'none-offered', summary);
  s.guidance = edit;
  return meetGuidance(plan, s, talk, ops);
}

/** The incumbent with the guidance that waits, against the incumbent. True when it was accepted; the draft is then put on top of it. */
export async function meetGuidance(
  plan: LoopPlan,
  s: SearchState,
  talk: Conversation,
  ops: SkillOps,
): Promise<boolean> {
  const edit = s.guidance;
  if (edit === null) return false;
  const fault = faultOf(edit, talk);
  const applied = ops.apply(s.incumbent, edit);
  if (fault !== null || !applied.ok) {
    s.guidance = null;
    const { reason, detail } = fault ?? (applied as Extract<typeof applied, { readonly ok: false }>);
    return refuse(s, talk, edit, reason, detail);
  }
  const met = await meet(plan, s, talk, applied.text);
  const { verdict, cut } = met;
  const accepted = verdict.action === 'accept';
  const onTop = accepted ? rebased(s, applied.text, ops) : s.draftText;
  const before = talk.hash(s.incumbent);
  const hash = editHash(edit);
  await talk.decide({
    type: 'gate.decided',
    step: s.steps,
    kind: 'slow-update',
    rounds: 0,
    rule: met.rule.name,
    metric: plan.gate.metric,
    edits: [hash],
    tried: 1,
    incumbent: before,
    candidate: talk.hash(applied.text),
    ...compared(plan, met),
    draftDropped: onTop === null,
  });
  if (cut !== null) throw cut;
  s.guidance = null;
  if (verdict.action === 'indecisive') {
    noteIndecisive(s);
    return false;
  }
  note(s, edit, accepted);
  if (!accepted) {
    s.indecisive = 0;
    s.rejectedSinceRefresh++;
    return false;
  }
  enthrone(plan, s, applied.text, met.tally);
  if (onTop === null) dropDraft(s);
  else s.draftText = onTop;
  const skill = talk.hash(s.incumbent);
  await talk.decide({
    type: 'skill.added',
    version: s.accepted,
    step: s.steps,
    skill,
    parent: before,
    edits: [hash],
    text: s.incumbent,
  });
  await talk.decide({
    type: 'incumbent.changed',
    from: before,
    to: skill,
    why: 'accepted',
    ...(s.draft.length > 0 ? { draft: talk.hash(s.draftText) } : {}),
  });
  return true;
}

/** The draft's edits on another incumbent; null = one of them does not fit there. */
function rebased(s: SearchState, incumbent: string, ops: SkillOps): string | null {
  let text = incumbent;
  for (const { edit } of s.draft) {
    const applied = ops.apply(text, edit);
    if (!applied.ok) return null;
    text = applied.text;
  }
  return text;
}

type Reason = EventOf<'edit.rejected'>['reason'];

/** Why guidance can't be tried, whatever it would make of the skill. */
function faultOf(edit: Edit, talk: Conversation): { readonly reason: Reason; readonly detail: string } | null {
  if (edit.op !== 'guidance') return { reason: 'bad-text', detail: 'a slow update hands in guidance and nothing else' };
  if (edit.leak !== undefined) return { reason: 'leak', detail: edit.leak };
  const banned = talk.banned.find((b) => edit.content.includes(b));
  return banned === undefined ? null : { reason: 'banned', detail: `brings in a banned text: ${banned}` };
}

async function refuse(
  s: SearchState,
  talk: Conversation,
  edit: Edit | null,
  reason: Reason,
  detail: string,
): Promise<false> {
  if (edit !== null) s.guidances.push({ edit, round: s.rounds, fate: 'skipped', evidence: `${reason}: ${detail}` });
  await talk.decide({
    type: 'edit.rejected',
    round: s.rounds,
    index: edit === null ? null : 0,
    edit: edit === null ? null : editHash(edit),
    reason,
    detail,
  });
  return false;
}

/** What later guidance is told of this one: that it was kept or not, and nothing of the selection tasks. */
function note(s: SearchState, edit: Edit, accepted: boolean): void {
  s.guidances.push({
    edit,
    round: s.rounds,
    fate: accepted ? 'accepted' : 'rejected',
    evidence: accepted ? 'it made the skill better' : 'it did not make the skill better as a whole',
  });
}

/** What is asked. No rollout is shown; the key names what the history holds, since the guidance follows from it. */
function request(s: SearchState, talk: Conversation): ProposeAsk {
  const tried = [...s.tried, ...s.guidances];
  const refused = [...s.refused];
  const body = {
    round: s.rounds,
    skill: talk.hash(s.incumbent),
    notes: [...talk.notes],
    banned: [...talk.banned],
  };
  const history = [
    tried.map((t) => [editHash(t.edit), t.round, t.fate, t.evidence]),
    refused.map((r) => [r.step, r.edits.map(editHash)]),
  ];
  return {
    key: `reflection/slow-update-${s.rounds}/${shortHash(JSON.stringify([body, history]))}`,
    kind: 'slow-update',
    ...body,
    atMost: 1,
    failing: [],
    passing: [],
    tried,
    refused,
  };
}
