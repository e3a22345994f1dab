import { z } from 'zod';
import { type Edit, editIdentity, editOps } from '../ports/edit.ts';
import { fail } from '../ports/failure.ts';
import type { ProposalRequest, Proposals, ShownRollout } from '../ports/proposals.ts';
import { noUsage } from '../ports/usage.ts';
import { applierOf } from '../skill/by-part.ts';

/** What a shipped edit will turn out to be. For people who read the list; the optimizer never looks at it. */
export const rehearsalKinds = ['useful', 'neutral', 'harmful', 'mistaken'] as const;

const rehearsalEdit = z
  .strictObject({
    /** `mistaken` = does not even fix the task that it cites. */
    kind: z.enum(rehearsalKinds),
    /** The words of an instruction that the edit answers. */
    phrase: z.string().trim().min(1),
    op: z.enum(editOps),
    target: z.string(),
    content: z.string(),
    reason: z.string().trim().min(1),
  })
  .refine((e) => e.op === 'append_section' || e.target !== '', { path: ['target'], error: 'may not be empty' })
  .refine((e) => e.op === 'delete' || e.content.trim() !== '', { path: ['content'], error: 'may not be empty' })
  .refine((e) => e.op !== 'delete' || e.content === '', { path: ['content'], error: 'must be empty for delete' });

const rehearsalFile = z.strictObject({ version: z.literal(1), edits: z.array(rehearsalEdit).min(1) });

/** One edit of a `rehearsal.json`, in the order in which it may be proposed. */
export type RehearsalEdit = Readonly<z.infer<typeof rehearsalEdit>>;

/** Reads the text of a `rehearsal.json`. `where` = its path; throws `config` with the place of each fault. */
export function parseRehearsal(text: string, where: string): readonly RehearsalEdit[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw fail('config', 'the list of rehearsal edits is not JSON', where, `mend it: ${(cause as Error).message}`, {
      cause,
    });
  }
  const read = rehearsalFile.safeParse(json);
  if (!read.success) {
    const faults = read.error.issues.map((i) => `${place(i.path)}: ${i.message}`);
    throw fail('config', 'the list of rehearsal edits is not valid', where, faults.join('; '));
  }
  const seen = new Map<string, number>();
  for (const [index, edit] of read.data.edits.entries()) {
    const twin = seen.get(editIdentity(edit));
    if (twin !== undefined)
      throw fail('config', `edits[${index}] is the same edit as edits[${twin}]`, where, 'take one of them out');
    seen.set(editIdentity(edit), index);
  }
  return read.data.edits;
}

const place = (path: readonly PropertyKey[]): string =>
  path.map((p, i) => (typeof p === 'number' ? `[${p}]` : `${i > 0 ? '.' : ''}${String(p)}`)).join('') || 'file';

/** What the optimizer sees of a shipped edit. */
type Offer = Pick<RehearsalEdit, 'phrase' | 'op' | 'target' | 'content' | 'reason'>;

/** After this many refused drafts, or rounds that skipped it, an edit does not come again. */
const MOST_REFUSALS = 2;

/**
 * An optimizer without a model: a pure function of the request and of a shipped list of edits.
 *
 * In list order it hands in, at most `atMost`, those whose phrase stands in the instruction or in the last words of a
 * failing rollout, that fit the draft and do not stand in it, and that bring in no banned text. One edit for each
 * failing task: a further one waits for the next round, when it can be tried on top of the first. An edit that failed
 * its screening does not come again. One of a refused draft waits until nothing new is left, and is given up when two
 * refused drafts have held it. What an edit is worth is left to the verifiers and the gate.
 */
export function createRehearsalOptimizer(options: { readonly edits: readonly RehearsalEdit[] }): Proposals {
  const offers: readonly Offer[] = options.edits.map(({ kind: _, ...offer }) => offer);
  return {
    preflight: async () => [
      {
        level: 'ok',
        what: `rehearsal: no model is called, edits come from a list of ${offers.length}`,
        where: 'optimizer rehearsal',
        fix: '',
      },
    ],
    async performProposal(request) {
      const startedAt = performance.now();
      const proposal = propose(offers, request);
      return { kind: 'proposal', proposal, usage: noUsage, durationMs: Math.round(performance.now() - startedAt) };
    },
  };
}

function propose(offers: readonly Offer[], request: ProposalRequest): { edits: readonly Edit[]; summary: string } {
  if (request.kind === 'slow-update') return { edits: [], summary: 'The rehearsal distills no guidance.' };
  const usable = offers.filter((o) => fits(o, request) && !givenUp(o, request) && answered(o, request).length > 0);
  const fresh = usable.filter((o) => refusals(o, request) === 0);
  const edits: Edit[] = [];
  const taken = new Set<string>();
  for (const offer of fresh.length > 0 ? fresh : usable) {
    if (edits.length >= request.atMost) break;
    const cites = answered(offer, request);
    if (cites.every((task) => taken.has(task))) continue;
    for (const task of cites) taken.add(task);
    edits.push({ op: offer.op, target: offer.target, content: offer.content, cites, reason: offer.reason });
  }
  return { edits, summary: summaryOf(edits, request.failing.length) };
}

/** The edit can be applied, its text does not stand in the draft yet, and it brings in nothing that is banned. */
function fits(offer: Offer, request: ProposalRequest): boolean {
  if (request.banned.some((banned) => offer.content.includes(banned))) return false;
  if (offer.content !== '' && request.text.includes(offer.content.trim())) return false;
  return applierOf(request.optimizes ?? 'body')(request.text, { ...offer, cites: [] }).ok;
}

function givenUp(offer: Offer, request: ProposalRequest): boolean {
  const before = request.tried.filter((t) => editIdentity(t.edit) === editIdentity(offer));
  if (before.some((t) => t.fate === 'failed-screening')) return true;
  const skipped = before.filter((t) => t.fate === 'skipped' || t.fate === 'rejected').length;
  return skipped >= MOST_REFUSALS || refusals(offer, request) >= MOST_REFUSALS;
}

function refusals(offer: Offer, request: ProposalRequest): number {
  const same = (edit: Edit) => editIdentity(edit) === editIdentity(offer);
  return request.refused.filter((draft) => draft.edits.some(same)).length;
}

/** The failing tasks that speak of the phrase: first those whose agent was at a loss least, where one edit may do. */
function answered(offer: Offer, request: ProposalRequest): readonly string[] {
  const phrase = folded(offer.phrase);
  const hits = request.failing.filter(
    (f) => folded(f.instruction).includes(phrase) || folded(f.trajectory.finalText).includes(phrase),
  );
  const order = (a: ShownRollout, b: ShownRollout) => openPoints(a) - openPoints(b) || (a.task < b.task ? -1 : 1);
  return [...hits].sort(order).map((f) => f.task);
}

/** List items in the agent's last words: the rehearsal agent names there what it found no line for. */
const openPoints = (shown: ShownRollout): number =>
  shown.trajectory.finalText.split('\n').filter((line) => line.startsWith('- ')).length;

const folded = (text: string): string => text.replace(/\s+/g, ' ').toLowerCase();

function summaryOf(edits: readonly Edit[], failing: number): string {
  if (edits.length === 0) return `No edit of the list answers the ${count(failing, 'failing task')} any more.`;
  const cited = new Set(edits.flatMap((e) => e.cites)).size;
  return `${count(edits.length, 'edit')} of the list for ${cited} of ${count(failing, 'failing task')}.`;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
