import { idProblem } from '../names.ts';

/** Longest id, in characters; names of files have room for it. */
const MOST = 60;

/** Gives names that can stand as ids: letters, digits, `-`, `_` and `.`, each of them once. */
export class Ids {
  private readonly given = new Set<string>();

  /** The wish itself where it will do. Ids that differ only in case are no two ids: they may become names of files. */
  take(wish: string): string {
    const plain = wish
      .normalize('NFC')
      .replace(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[-.]+|-+$/g, '');
    const short = [...plain].slice(0, MOST).join('').replace(/-+$/, '');
    const name = idProblem(short) === null ? short : 'task';
    for (let number = 1; ; number++) {
      const id = number === 1 ? name : `${name}-${number}`;
      if (this.given.has(id.toLowerCase())) continue;
      this.given.add(id.toLowerCase());
      return id;
    }
  }
}
