import { shortHash } from './hash.ts';

/** The five ways to change a skill. */
export const editOps = ['replace', 'insert_after', 'insert_before', 'delete', 'append_section'] as const;
export type EditOp = (typeof editOps)[number];
/** What only a slow update does: it writes the whole content of the guidance, a protected region at the body's end. */
export const GUIDANCE_OP = 'guidance';
/** All ways that a log may hold. */
export const allOps = [...editOps, GUIDANCE_OP] as const;

/** What of a skill a session optimizes: its body, or the `description` of its frontmatter; never both. */
export const optimizedParts = ['body', 'description'] as const;
export type OptimizedPart = (typeof optimizedParts)[number];

/**
 * One change to the body of a SKILL.md, or to its description where that is optimized.
 * `target` is an exact text that occurs exactly once there; for `append_section` it is a heading line, or empty for
 * the end (of a description always empty); for `guidance` it is empty. `content` is the new text; empty for `delete`.
 */
export type Edit = {
  readonly op: EditOp | typeof GUIDANCE_OP;
  readonly target: string;
  readonly content: string;
  /** Ids of the train tasks that the edit says it would fix; the first one is where it is screened. */
  readonly cites: readonly string[];
  /** Why it should help, in a sentence. */
  readonly reason: string;
  /** What it would carry from the tasks into the skill, found when it was handed in; absent = nothing was found. */
  readonly leak?: string | undefined;
};

/** What one reflection hands in. An empty list is an honest answer. */
export type Proposal = { readonly edits: readonly Edit[]; readonly summary: string };

/** Why an edit could not be applied, or why the text it leads to may not be used. */
export const editRejections = [
  'target-missing',
  'target-ambiguous',
  'target-in-frontmatter',
  'no-change',
  'frontmatter-changed',
  'invalid-document',
  'too-large',
  'unbalanced-fence',
  'envelope-markers',
  'path-lost',
  'path-unknown',
  'secret',
  'leak',
  'bad-text',
  'protected',
] as const;
export type EditRejection = (typeof editRejections)[number];

/** The result of applying one edit to one text: the new text, or a reason and a sentence (with line numbers) for the optimizer. */
export type Applied =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: EditRejection; readonly detail: string };

/** What makes two edits the same edit: what they do, not whom they cite. */
export function editIdentity(e: Pick<Edit, 'op' | 'target' | 'content'>): string {
  return JSON.stringify([e.op, e.target, e.content]);
}

/** Equal identities, told without building them. */
export function isSameEdit(a: Edit, b: Edit): boolean {
  return a.op === b.op && a.target === b.target && a.content === b.content;
}

/** Short name of an edit in decisions: what it does and whom it cites. */
export function editHash(e: Pick<Edit, 'op' | 'target' | 'content' | 'cites'>): string {
  return shortHash(`${editIdentity(e)}|${JSON.stringify(e.cites)}`);
}
