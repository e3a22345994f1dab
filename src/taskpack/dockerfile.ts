/** One instruction of a Dockerfile: continued lines joined, comments inside them gone. */
export type DockerInstruction = {
  /** Line on which it begins, from 1. */
  readonly line: number;
  /** In upper case. */
  readonly name: string;
  /** What follows the name. */
  readonly rest: string;
  /** A here-document follows (its lines are skipped). */
  readonly heredoc: boolean;
};

/** More instructions than any image has layers; what follows them through the stages takes longer with each. */
export const MOST_INSTRUCTIONS = 1000;

/** Splits a Dockerfile into its instructions. Nothing is executed, and what is not understood is handed on as it is. */
export function parseDockerfile(text: string): readonly DockerInstruction[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const continued = escapeOf(lines) === '`' ? /`[ \t]*$/ : /\\[ \t]*$/;
  const instructions: DockerInstruction[] = [];
  for (let index = 0; index < lines.length; index++) {
    const start = index;
    if (isBlankOrComment(lines[index]!)) continue;
    let piece = lines[index]!;
    const pieces: string[] = [];
    while (continued.test(piece) && index + 1 < lines.length) {
      pieces.push(piece.replace(continued, ''));
      index++;
      while (index + 1 < lines.length && isBlankOrComment(lines[index]!)) index++;
      piece = isBlankOrComment(lines[index]!) ? '' : lines[index]!;
    }
    const parts = /^\s*(\S+)\s*(.*)$/s.exec([...pieces, piece].join(''));
    if (parts === null) continue;
    const [, name, rest] = parts;
    const ends = /^(RUN|COPY|ADD)$/i.test(name!) ? heredocEnds(rest!) : [];
    for (const end of ends) {
      do index++;
      while (index < lines.length && (end.indented ? lines[index]!.replace(/^\t+/, '') : lines[index]) !== end.word);
    }
    instructions.push({ line: start + 1, name: name!.toUpperCase(), rest: rest!.trim(), heredoc: ends.length > 0 });
  }
  return instructions;
}

/** Parser directives stand at the very top, before any comment. */
function escapeOf(lines: readonly string[]): string {
  for (const line of lines) {
    const directive = /^#\s*(\w+)\s*=\s*(\S+)\s*$/.exec(line);
    if (directive === null) break;
    if (directive[1]?.toLowerCase() === 'escape') return directive[2]!;
  }
  return '\\';
}

function isBlankOrComment(line: string): boolean {
  return /^\s*(#|$)/.test(line);
}

function heredocEnds(rest: string): readonly { readonly word: string; readonly indented: boolean }[] {
  return [...rest.matchAll(/(?:^|\s)\d*<<(-?)(["']?)([A-Za-z_]\w*)\2(?=\s|$)/g)].map((found) => ({
    word: found[3]!,
    indented: found[1] === '-',
  }));
}

/** Values of ARG and ENV, as far as the Dockerfile itself tells them. */
export type DockerVariables = ReadonlyMap<string, string>;

/**
 * `$NAME`, `${NAME}` and `${NAME:-default}` replaced; null when one can't be known from the Dockerfile alone, or when
 * a default holds another `${…}`.
 */
export function expand(text: string, variables: DockerVariables): string | null {
  let known = true;
  const expanded = text.replace(
    /\$(?:\{([A-Za-z_]\w*)(?:(:?-)((?:[^}$]|\$(?!\{))*))?\}|([A-Za-z_]\w*)|.?)/g,
    (
      _all,
      braced: string | undefined,
      operator: string | undefined,
      fallback: string | undefined,
      bare: string | undefined,
    ) => {
      const value = variables.get(braced ?? bare ?? '');
      if (value !== undefined && (value !== '' || operator !== ':-')) return value;
      const held = fallback === undefined ? null : expand(fallback, variables);
      if (held === null) known = false;
      return held ?? '';
    },
  );
  return known ? expanded : null;
}

/** The words of an instruction: a JSON list, or blanks outside quotes. Quotes are taken off. */
export function words(rest: string): readonly string[] {
  if (rest.startsWith('[')) {
    try {
      const list: unknown = JSON.parse(rest);
      if (Array.isArray(list) && list.every((word) => typeof word === 'string')) return list;
    } catch {
      // Docker, too, reads a list that is not JSON as plain words.
    }
  }
  return [...rest.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g)].map(([word]) => unquote(word));
}

/** Takes the quotes off a word, in whichever part of it they stand. */
export function unquote(word: string): string {
  return word.replace(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
    (_all, double: string | undefined, single: string | undefined, escaped: string | undefined) =>
      double?.replace(/\\(.)/g, '$1') ?? single ?? escaped ?? '',
  );
}
