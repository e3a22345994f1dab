import type { KeyFound } from './key-forms.ts';
import type { Range } from './spellings.ts';

/** The names under which the linter's findings are redacted; what a newer linter finds besides is a `key`. */
export const linterNames = [
  ...['1password', 'anthropic', 'aws', 'basicauth', 'cloudflare', 'database-connection-string', 'databricks'],
  ...[
    'docker',
    'figma',
    'gcp',
    'github',
    'gitlab',
    'grafana',
    'groq',
    'hashicorp-vault',
    'huggingface',
    'key',
    'linear',
  ],
  ...['notion', 'npm', 'openai', 'privatekey', 'sendgrid', 'shopify', 'slack', 'stripe', 'tailscale', 'vercel'],
];

/** The linter's time grows with the square of what it finds, so it gets long texts in pieces of this length. */
const PIECE = 50_000;
/** Pieces overlap by this much: a key at a seam is whole in one of them. */
const OVERLAP = 2000;

/**
 * The keys that the linter knows, in the view of a text; none that touches a range of `kept`. Its ranges may be short
 * of the key's end, so each takes its whole word. Pieces that look harmless are not handed to it.
 */
export async function keysByLinter(view: string, kept: readonly Range[]): Promise<readonly KeyFound[]> {
  const keys: KeyFound[] = [];
  for (let start = 0; start < view.length; start += PIECE) {
    const piece = view.slice(start, start + PIECE + OVERLAP);
    if (looksHarmless(piece)) continue;
    for (const { range, ruleId } of await lint(piece)) {
      const from = start + range[0];
      const to = start + range[1];
      const rule = ruleId.replace(/^.*secretlint-rule-/, '');
      if (from < to) keys.push({ from, to, name: linterNames.includes(rule) ? rule : 'key', word: true });
    }
  }
  let at = 0;
  return keys
    .toSorted((a, b) => a.from - b.from)
    .filter((key) => {
      while (at < kept.length && kept[at]!.to <= key.from) at++;
      return at === kept.length || kept[at]!.from >= key.to;
    });
}

async function lint(content: string) {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const { messages } = await lintSource({
    source: { content, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }] },
    },
  });
  return messages;
}

/** Nothing in it could be a key: no unbroken run of 16 characters, but for hexadecimal sums, mixes letters with digits. */
export function looksHarmless(view: string): boolean {
  for (const [run] of view.matchAll(/[A-Za-z0-9+/=_-]{16,}/g)) {
    if (/\d/.test(run) && /[A-Za-z]/.test(run) && !/^[0-9a-fA-F-]+$/.test(run)) return false;
  }
  return true;
}
