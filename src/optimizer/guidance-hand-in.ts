import { z } from 'zod';
import { type Edit, GUIDANCE_OP } from '../ports/edit.ts';
import type { ProposalOptions, ProposalRequest } from '../ports/proposals.ts';
import { GUIDANCE_CHARACTERS } from '../skill/guidance.ts';
import { jsonSchema } from './hand-in.ts';
import { ruleOf } from './judge.ts';
import type { End } from './readers.ts';
import type { ReadText, ReplyForm } from './reply-text.ts';

/** Guidance as it was handed in, as an edit (null = an empty text, which changes nothing); or why there is none. */
export type SaidGuidance =
  | { readonly kind: 'said'; readonly edit: Edit | null; readonly summary: string }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** By what guidance is found in a text. */
export const guidanceForm: ReplyForm = { isOne: isGuidance, keys: ['guidance', 'summary'] };

/** The form of guidance, as JSON Schema. */
export const guidanceSchema: object = jsonSchema(
  z.object({
    summary: z.string().describe('What you saw, in a sentence.'),
    guidance: z.string().describe(`The guidance, in Markdown: at most ${GUIDANCE_CHARACTERS} characters.`),
  }),
  'output',
);

/** Reads what was found by `guidanceForm`. */
export function readGuidance(found: ReadText): SaidGuidance {
  if (!found.ok) return { kind: 'unreadable', problem: found.problem };
  const { guidance, summary } = found.value as { readonly guidance: string; readonly summary?: unknown };
  const said = typeof summary === 'string' ? summary.trim() : '';
  const content = guidance.trim();
  const edit: Edit | null = content === '' ? null : { op: GUIDANCE_OP, target: '', content, cites: [], reason: said };
  return { kind: 'said', edit, summary: said };
}

function isGuidance(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'guidance' in value &&
    typeof (value as { readonly guidance: unknown }).guidance === 'string'
  );
}

/** Why guidance can't be used, with the rule; null = it can. */
export function faultOf(
  edit: Edit | null,
  request: Pick<ProposalRequest, 'banned'>,
  check: ProposalOptions['check'],
): string | null {
  if (edit === null) return null;
  const applied = check(edit);
  if (!applied.ok) return `${applied.detail}. ${ruleOf(applied.reason)}`.replace(/\.\.? ?$/, '');
  const banned = request.banned.find((b) => edit.content.includes(b));
  return banned === undefined ? null : `it brings in ${JSON.stringify(banned)}, which the owner does not want`;
}

/** Guidance that is handed in, usable or not. */
export function handedIn({ edit, summary }: Extract<SaidGuidance, { readonly kind: 'said' }>): End {
  const said = summary || (edit === null ? 'No guidance was handed in.' : 'Guidance was handed in.');
  return { kind: 'handed-in', good: edit === null ? [] : [edit], refused: [], summary: said };
}
