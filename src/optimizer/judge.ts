import { type Edit, type EditRejection, editIdentity, type OptimizedPart } from '../ports/edit.ts';
import { printableName } from '../ports/printable.ts';
import type { ProposalOptions, ProposalRequest } from '../ports/proposals.ts';
import { shownBeginning } from '../process/half-words.ts';
import type { HandIn } from './hand-in.ts';

/** One edit that is to be mended: `edit` null = it could not even be read. */
export type Refusal = { readonly edit: Edit | null; readonly n: number; readonly why: string; readonly rule: string };

/** What of a hand-in can be tried and what is to be mended, both in its order; what else there is to say about it. */
export type Judged = {
  readonly good: readonly Edit[];
  readonly refused: readonly Refusal[];
  /** Edits left out, beyond those that were asked for. */
  readonly beyond: number;
};

/**
 * Judges a hand-in: the same edit counts once, and no more are looked at than were asked for. `shown` are the ids that
 * can be cited, `kept` the edits that were handed in before.
 */
export function judge(
  handIn: HandIn,
  request: ProposalRequest,
  shown: readonly string[],
  check: ProposalOptions['check'],
  kept: readonly Edit[],
): Judged {
  const atMost = request.atMost - kept.length;
  const seen = new Set(kept.map(editIdentity));
  const read = handIn.edits
    .map((one, at) => ({ one, n: at + 1 }))
    .filter(({ one }) => {
      if (!('edit' in one)) return true;
      const identity = editIdentity(one.edit);
      return !seen.has(identity) && seen.add(identity);
    });
  const citable = new Map(shown.map((id) => [id, taskOf(request, id)]));
  const good: Edit[] = [];
  const refused: Refusal[] = [];
  for (const { one, n } of read.slice(0, atMost)) {
    if ('problem' in one) {
      refused.push({ edit: null, n, why: one.problem, rule: 'Each edit has op, target, content, cites and reason.' });
      continue;
    }
    const cites = [...new Set(one.edit.cites.flatMap((id) => citable.get(printableName(id)) ?? []))];
    const edit: Edit = { ...one.edit, cites };
    const refusal = refusalOf(edit, one.edit.cites, request, shown, check);
    if (refusal === null) good.push(edit);
    else refused.push({ edit, n, ...refusal });
  }
  return { good, refused, beyond: Math.max(0, read.length - atMost) };
}

/** The failing task behind an id as it was shown. */
function taskOf(request: ProposalRequest, id: string): string {
  return request.failing.find((f) => printableName(f.task) === id)?.task ?? id;
}

function refusalOf(
  edit: Edit,
  named: readonly string[],
  request: ProposalRequest,
  shown: readonly string[],
  check: ProposalOptions['check'],
): Pick<Refusal, 'why' | 'rule'> | null {
  const applied = check(edit);
  if (!applied.ok)
    return { why: `${applied.reason}: ${applied.detail}`, rule: ruleOf(applied.reason, request.optimizes) };
  const banned = request.banned.find((b) => edit.content.includes(b));
  if (banned !== undefined)
    return { why: `it brings in ${JSON.stringify(banned)}`, rule: 'The owner does not want this text in the skill.' };
  if (edit.cites.length > 0) return null;
  const unknown =
    named.length === 0 ? 'it cites no task' : `it cites ${named.join(', ')}, which no failing task is called`;
  return { why: unknown, rule: `Cite failing tasks by their ids: ${shown.slice(0, 20).join(', ')}.` };
}

/** The rule that a refused edit breaks, as the model hears of it. */
export function ruleOf(reason: EditRejection, part: OptimizedPart = 'body'): string {
  if (part === 'description') return ruleOfDescription(reason);
  switch (reason) {
    case 'target-missing':
    case 'target-ambiguous':
      return 'A target is copied letter for letter from the skill, without line numbers, and occurs exactly once in its body.';
    case 'target-in-frontmatter':
    case 'frontmatter-changed':
      return 'Only the body can be edited; the frontmatter stays as it is.';
    case 'no-change':
      return 'An edit has to change the text.';
    case 'leak':
      return 'A skill holds the rule, and nothing that belongs to a single task.';
    case 'too-large':
      return 'The skill has to stay short: say it in fewer words, or replace what it makes needless.';
    case 'path-lost':
    case 'path-unknown':
      return 'Only files that come with the skill can be named, and those that it names stay named.';
    case 'protected':
      return 'What stands between the markers of the guidance is written elsewhere: edit the text above it.';
    case 'invalid-document':
    case 'unbalanced-fence':
    case 'envelope-markers':
    case 'secret':
    case 'bad-text':
      return 'What comes of the edit has to be a sound Markdown document of plain text.';
    default:
      return reason satisfies never;
  }
}

function ruleOfDescription(reason: EditRejection): string {
  switch (reason) {
    case 'target-missing':
    case 'target-ambiguous':
      return 'A target is copied letter for letter from the description and occurs exactly once in it.';
    case 'target-in-frontmatter':
    case 'frontmatter-changed':
      return 'Only the description can be edited.';
    case 'no-change':
      return 'An edit has to change the text.';
    case 'leak':
      return 'A description names the kind of task, in words that belong to no single prompt.';
    case 'too-large':
      return 'A description has 1,024 characters at most: say it in fewer words, or replace weaker ones.';
    default:
      return 'A description is one paragraph of plain text.';
  }
}

/** The refused edits as the model hears of them. */
export function refusalsText(refused: readonly Refusal[]): string {
  return refused
    .map(({ edit, n, why, rule }) => {
      const name = edit === null ? '' : ` (${edit.op} ${JSON.stringify(shownBeginning(edit.target, 80))})`;
      return `Edit ${n}${name}: ${why}\n${rule}`;
    })
    .join('\n\n');
}
