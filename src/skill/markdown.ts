import MarkdownIt, { type Token } from 'markdown-it';
import { countLineFeeds } from './lines.ts';

const parser = new MarkdownIt('commonmark');

/** The block structure of a body. */
export type Blocks = {
  readonly source: string;
  readonly tokens: readonly Token[];
  /** Targets of link definitions (`[a]: target`). */
  readonly definitions: readonly string[];
};

/** A heading that opens a section of the document; headings inside lists and quotes open none. Lines count from 0 in the body. */
export type Heading = { readonly level: number; readonly line: number; readonly lineCount: number };

/** Parses a body whose line ends are LF. Inline content is left unparsed, since most of it is never looked at. */
export function parseBlocks(lfBody: string): Blocks {
  const source = lfBody.endsWith('\n') ? lfBody : `${lfBody}\n`;
  const tokens: Token[] = [];
  const env: { references?: Record<string, { href: string }> } = {};
  parser.block.parse(source, parser, env as Parameters<typeof parser.block.parse>[2], tokens);
  return { source, tokens, definitions: Object.values(env.references ?? {}).map((r) => r.href) };
}

export function headings(blocks: Blocks): readonly Heading[] {
  const found: Heading[] = [];
  for (const token of blocks.tokens) {
    if (token.type !== 'heading_open' || token.level !== 0 || token.map === null) continue;
    const [line, end] = token.map;
    found.push({ level: Number(token.tag.slice(1)), line, lineCount: end - line });
  }
  return found;
}

/** False when no line of the text can open a code fence, so that it need not be parsed to know. */
export function mayHoldFence(text: string): boolean {
  return text.includes('```') || text.includes('~~~');
}

/** Lines (from 0 in the body) that open a code fence which nothing closes. */
export function unclosedFences(blocks: Blocks): readonly number[] {
  const found: number[] = [];
  for (const token of blocks.tokens) {
    if (token.type !== 'fence' || token.map === null) continue;
    const [line, end] = token.map;
    // A closed fence spans two lines more than its content, an open one only one.
    if (end - line - 1 === countLineFeeds(token.content)) found.push(line);
  }
  return found;
}

/** Where a run of inline content points: the targets of its links and images, and the contents of its inline code. */
export type InlineParts = { readonly targets: readonly string[]; readonly code: readonly string[] };

/** Inline content as it stands in a block. Reference links count by their definitions, which are `Blocks.definitions`. */
export function parseInline(content: string): InlineParts {
  const targets: string[] = [];
  const code: string[] = [];
  const visit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.type === 'code_inline') code.push(token.content);
      const target = token.attrGet(token.type === 'image' ? 'src' : 'href');
      if (target !== null) targets.push(String(target));
      if (token.children !== null) visit(token.children);
    }
  };
  visit(parser.parseInline(content, {}));
  return { targets, code };
}
