/** What a piece of text means; the one place that says how it looks. Meaning never hangs on the colour alone. */
export type Tone = 'plain' | 'strong' | 'quiet' | 'accent' | 'good' | 'bad' | 'warn' | 'live' | 'added' | 'removed';

export type Look = {
  readonly color?: 'cyan' | 'green' | 'red' | 'yellow';
  readonly bold?: true;
  readonly dimColor?: true;
};

export const looks: Readonly<Record<Tone, Look>> = {
  plain: {},
  strong: { bold: true },
  quiet: { dimColor: true },
  accent: { color: 'cyan' },
  good: { color: 'green' },
  bad: { color: 'red' },
  warn: { color: 'yellow' },
  live: { color: 'cyan', bold: true },
  added: { color: 'green' },
  removed: { color: 'red' },
};
