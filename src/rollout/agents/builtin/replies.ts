/** A text of a model in its parts. Thoughts are what it wrote for itself alone. */
export type SaidText = { readonly thought: string; readonly said: string };

/** Takes out the thoughts that some servers leave in the text, between `<think>` and `</think>`. */
export function withoutThoughts(text: string): SaidText {
  const opened = /^\s*<think(?:ing)?>/i.exec(text);
  const start = opened?.[0].length ?? 0;
  const closed = /<\/think(?:ing)?>/i.exec(text);
  if (closed === null) {
    return opened === null ? { thought: '', said: text } : { thought: text.slice(start).trim(), said: '' };
  }
  // some chat templates write the opening mark themselves
  if (opened === null && /<think(?:ing)?>/i.test(text.slice(0, closed.index))) return { thought: '', said: text };
  return {
    thought: text.slice(start, closed.index).trim(),
    said: text.slice(closed.index + closed[0].length).trim(),
  };
}

/** The command of a reply, and what is said around it. */
export type Block = {
  readonly command: string;
  readonly prose: string;
  /** The block ends before the reply does; an open one may have been cut. */
  readonly closed: boolean;
};

type Fence = { readonly from: number; readonly to: number; readonly closed: boolean; readonly isBash: boolean };

/**
 * The last fenced block of bash in a reply; null = there is none. A block ends with a line of at least as many of the
 * same signs as it began with, and the last one may be left open.
 */
export function lastBlock(text: string): Block | null {
  const lines = text.split('\n');
  const block = fencesIn(lines).findLast((fence) => fence.isBash);
  if (block === undefined) return null;
  const command = lines.slice(block.from + 1, block.to).join('\n');
  if (command.trim() === '') return null;
  const after = lines.slice(block.closed ? block.to + 1 : block.to);
  const prose = [...lines.slice(0, block.from), ...after].join('\n').trim();
  return { command, prose, closed: block.closed };
}

function fencesIn(lines: readonly string[]): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { readonly from: number; readonly mark: string; readonly isBash: boolean } | null = null;
  for (const [at, raw] of lines.entries()) {
    const line = raw.replace(/\r$/, '');
    if (open === null) {
      const [, mark = '', language = ''] = /^ {0,3}(`{3,}|~{3,}) *([^\s`]*)[^`]*$/.exec(line) ?? [];
      if (mark !== '') open = { from: at, mark, isBash: /^(?:bash|sh|shell)$/i.test(language) };
    } else if (new RegExp(`^ {0,3}${open.mark[0]}{${open.mark.length},}\\s*$`).test(line)) {
      fences.push({ from: open.from, to: at, closed: true, isBash: open.isBash });
      open = null;
    }
  }
  if (open !== null) fences.push({ from: open.from, to: lines.length, closed: false, isBash: open.isBash });
  return fences;
}
