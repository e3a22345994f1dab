import { countLineFeeds } from './lines.ts';

/** One simple command of a shell text: its words as they stand, and the line (from 0) of the first. */
export type ShellCommand = { readonly words: readonly string[]; readonly line: number };

/**
 * The simple commands of a text of sh, in order. What stands in quotes, comments and here-documents is no command; the
 * words of a quoted text keep their quotes. Patterns of a `case` are left out. A reading for warnings, not a parser:
 * command substitutions inside of quotes are not looked at.
 */
export function shellCommands(text: string): readonly ShellCommand[] {
  const found: ShellCommand[] = [];
  const heredocs: string[] = [];
  let words: string[] = [];
  let word = '';
  let line = 0;
  let startLine = 0;
  let open = 0;

  /** Where the commands of the pipe at hand begin in `found`. */
  let pipe = 0;

  const endWord = (): void => {
    if (word === '') return;
    const brace = word === '{' || word === '}';
    if (!brace && words.length === 0) startLine = line;
    if (!brace) words.push(word);
    word = '';
    if (brace) endCommand();
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) found.push({ words, line: startLine });
    words = [];
  };
  const endPipe = (): void => {
    endCommand();
    pipe = found.length;
  };

  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '\\') {
      if (text[i + 1] === '\n') line++;
      else word += text.slice(i, i + 2);
      i++;
    } else if (c === "'" || c === '"') {
      const end = closingQuote(text, i);
      const quoted = text.slice(i, end + 1);
      if (words.length === 0 && word === '') startLine = line;
      word += quoted.replaceAll('\n', ' ');
      line += quoted.split('\n').length - 1;
      i = end;
    } else if (c === '#' && word === '') {
      const end = text.indexOf('\n', i);
      i = (end === -1 ? text.length : end) - 1;
    } else if (text.startsWith('<<', i) && text[i + 2] !== '<') {
      const [whole, , mark = ''] = /^<<-?\s*(["'\\]?)([\w.-]+)\1?/.exec(text.slice(i, i + 80)) ?? [];
      if (whole === undefined) word += c;
      else {
        heredocs.push(mark);
        i += whole.length - 1;
      }
    } else if (c === '\n') {
      endPipe();
      line++;
      for (const mark of heredocs.splice(0)) {
        const end = heredocEnd(text, i + 1, mark);
        line += countLineFeeds(text.slice(i + 1, end + 1));
        i = end;
      }
    } else if (c === '(') {
      open++;
      if (text[i + 1] === ')')
        word += c; // NAME() defines a function
      else if (/[^$<>=!]$/.test(word)) {
        // NAME(…) is of another language
        [word, words] = ['', []];
        while (i + 1 < text.length && text[i + 1] !== '\n' && text[i] !== ')') i++;
        open--;
      } else endPipe();
    } else if (c === ')') {
      if (word.endsWith('(')) word += c;
      else if (open > 0) endPipe();
      else {
        // the patterns of a case
        [word, words] = ['', []];
        found.length = pipe;
      }
      open = Math.max(0, open - 1);
    } else if (/[;|&`]/.test(c)) {
      // 2>&1 and &> belong to a word
      if (c === '&' && (/[<>]$/.test(word) || text[i + 1] === '>')) word += c;
      else if (c === '|' && text[i + 1] !== '|' && text[i - 1] !== '|') endCommand();
      else endPipe();
    } else if (/\s/.test(c)) endWord();
    else word += c;
  }
  endCommand();
  return found;
}

/** Where the quoted text that opens at `at` closes; its end when it does not. */
function closingQuote(text: string, at: number): number {
  const quote = text[at];
  for (let i = at + 1; i < text.length; i++) {
    if (quote === '"' && text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  return text.length - 1;
}

/** The line end behind the mark that closes a here-document; the text's end when nothing does. */
function heredocEnd(text: string, from: number, mark: string): number {
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const stop = end === -1 ? text.length : end;
    if (text.slice(at, stop).trim() === mark) return stop;
    at = stop + 1;
  }
  return text.length;
}
