import { type Edit, editHash } from '../ports/edit.ts';
import type { EditState } from './run-state.ts';

/** Every edit that was handed in, by its hash, with what has become of it. */
export class EditFates {
  readonly byHash = new Map<string, EditState>();

  /** Edits come in with their effect; their hash is the one that decisions speak of. */
  handedIn(edits: readonly Edit[], round: number, source: EditState['source']): void {
    for (const edit of edits) {
      const hash = editHash(edit);
      const before = this.byHash.get(hash)?.fate;
      if (before === 'accepted' || before === 'in-draft') continue; // handed in again: it stands there already
      this.byHash.set(hash, { hash, edit, round, source, fate: 'handed-in', why: '' });
    }
  }

  /** `hash` null = there is no edit to speak of. */
  became(hash: string | null, fate: EditState['fate'], why: string): void {
    const e = hash === null ? undefined : this.byHash.get(hash);
    if (e) this.byHash.set(e.hash, { ...e, fate, why });
  }
}
