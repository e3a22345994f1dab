import type { Damage } from './frontmatter.ts';

/** Agents that read skills, and the versions of theirs that were looked at. */
export const skillReaders = {
  'claude-code': '2.1.332',
  codex: '0.171.0',
  pi: '1.6.0',
  opencode: '1.18.33',
  'gemini-cli': '0.61.0',
} as const;
export type SkillReader = keyof typeof skillReaders;

/** What may be odd about a SKILL.md so that agents differ. */
export type Oddity =
  | Exclude<Damage, 'other'>
  | 'damaged'
  | 'name-folder'
  | 'name-missing'
  | 'description-missing'
  | 'description-long'
  | 'byte-order-mark'
  | 'not-for-models';

/** What an agent makes of a skill. `unknown`: nobody has looked at a frontmatter that is damaged in this way. */
export type AgentView = {
  readonly agent: SkillReader;
  readonly version: string;
  readonly sees: 'yes' | 'no' | 'unknown';
  /** What the model is told otherwise than the file says; of a skill that is not seen: why. Empty = nothing. */
  readonly how: string;
};

/** `true`: seen as it is; a text: seen, in this way; `false`: not loaded, mostly without a word. */
type Seen = boolean | string;

const bodyAsDescription = 'with the first line of the body as its description';

/** Measured with each agent against a scripted model: is the skill's description in the first request? */
const measured: Readonly<Record<Exclude<Oddity, 'damaged'>, Readonly<Record<SkillReader, Seen>>>> = {
  'no-frontmatter': {
    'claude-code': bodyAsDescription,
    codex: false,
    pi: false,
    opencode: false,
    'gemini-cli': false,
  },
  'colon-in-value': { 'claude-code': true, codex: true, pi: false, opencode: true, 'gemini-cli': true },
  'open-quote': {
    'claude-code': bodyAsDescription,
    codex: false,
    pi: false,
    opencode: false,
    'gemini-cli': 'with the raw text of the line as its description',
  },
  'name-folder': {
    'claude-code': 'under the folder’s name',
    codex: true,
    pi: true,
    opencode: true,
    'gemini-cli': true,
  },
  'name-missing': { 'claude-code': true, codex: true, pi: true, opencode: false, 'gemini-cli': false },
  'description-missing': {
    'claude-code': bodyAsDescription,
    codex: false,
    pi: false,
    opencode: false,
    'gemini-cli': false,
  },
  'description-long': {
    'claude-code': true,
    codex: 'with its description cut short',
    pi: true,
    opencode: true,
    'gemini-cli': true,
  },
  'byte-order-mark': { 'claude-code': true, codex: false, pi: true, opencode: true, 'gemini-cli': false },
  'not-for-models': { 'claude-code': false, codex: true, pi: false, opencode: true, 'gemini-cli': true },
};

const reasons: Readonly<Record<Oddity, string>> = {
  'no-frontmatter': 'there is no frontmatter',
  'colon-in-value': 'a value holds ": " without quotes',
  'open-quote': 'a quoted value is not closed',
  damaged: 'the frontmatter can’t be read',
  'name-folder': 'the name is not its folder’s',
  'name-missing': 'the name is missing',
  'description-missing': 'the description is missing',
  'description-long': 'the description is too long',
  'byte-order-mark': 'a byte order mark stands before the frontmatter',
  'not-for-models': 'disable-model-invocation is true',
};

/** What each agent makes of a SKILL.md that is odd in these ways; each way was measured by itself. */
export function agentViews(oddities: readonly Oddity[]): readonly AgentView[] {
  return (Object.keys(skillReaders) as SkillReader[]).map((agent) => {
    const of = (oddity: Oddity): Seen => oddity === 'damaged' || measured[oddity][agent];
    const hides = oddities.filter((oddity) => of(oddity) === false);
    const version = skillReaders[agent];
    if (hides.length > 0) return { agent, version, sees: 'no', how: hides.map((h) => reasons[h]).join('; ') };
    if (oddities.includes('damaged')) return { agent, version, sees: 'unknown', how: reasons.damaged };
    const ways = new Set(oddities.map(of).filter((seen) => typeof seen === 'string'));
    return { agent, version, sees: 'yes', how: [...ways].join(', ') };
  });
}
