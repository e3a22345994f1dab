import { tryReadSkill } from '../../../skill/document.ts';
import type { AgentRun } from '../agent.ts';
import type { Hands } from './hands.ts';
import skillsPrompt from './prompts/skills.md' with { type: 'text' };
import textPrompt from './prompts/text.md' with { type: 'text' };
import toolsPrompt from './prompts/tools.md' with { type: 'text' };
import { tellingLines } from './reading.ts';

/** How the model acts: by calls of tools, or by blocks of bash in its text. */
export type Form = 'tools' | 'text';

/** A skill as the model hears of it. */
type Offered = { readonly name: string; readonly description: string; readonly file: string };

/** What a rollout begins with. */
export type Opening = {
  /** The skill first, then the others. */
  readonly offered: readonly Offered[];
  /** Null: no skill is measured. */
  readonly skill: { readonly file: string; readonly telling: readonly string[] } | null;
  /** What is odd, for people. */
  readonly notes: readonly string[];
};

/** How it came out. `unreadable` = the skill is not where the backend said. */
export type Opened =
  | { readonly kind: 'opened'; readonly opening: Opening }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'over' };

/** The longest SKILL.md and the most of all others; what is beyond can be read, but is not looked at here. */
const SKILL_BYTES = 4_000_000;
const OTHERS_BYTES = 2_000_000;
/** Bytes of another skill that are looked at for its name and description. */
const HEAD_BYTES = 16_384;

const HEADS = `for d; do head -c ${HEAD_BYTES} "$d/SKILL.md"; printf '\\000'; done`;

/** Reads the skills as the agent's processes see them. */
export async function open(run: AgentRun, hands: Hands): Promise<Opened> {
  const notes: string[] = [];
  const others = await otherSkills(run.otherSkills ?? [], hands, notes);
  if (others === 'over') return { kind: 'over' };
  if (run.skillDir === null)
    return { kind: 'opened', opening: { offered: others.map((o) => o.offered), skill: null, notes } };

  const file = `${run.skillDir}/SKILL.md`;
  const handled = await hands.program(['cat', file], { maxOutputBytes: SKILL_BYTES });
  if (handled.kind === 'over') return { kind: 'over' };
  if (handled.kind !== 'ended' || handled.end.exitCode !== 0) {
    const why = handled.kind === 'ended' ? handled.end.stderr.trim() || `exit code ${handled.end.exitCode}` : '';
    return { kind: 'unreadable', detail: `${file} could not be read${why === '' ? '' : `: ${why}`}` };
  }
  const skill = offeredIn(run.skillDir, handled.end.stdout);
  const besides = others.filter(({ offered }) => offered.name !== skill.offered.name);
  for (const { offered } of others)
    if (!besides.some((o) => o.offered === offered))
      notes.push(`The other skill ${offered.file} was not offered: it has the name of the one that is measured.`);
  const shownAnyway = [run.instruction, skill.offered.description, ...besides.map((o) => o.text)];
  return {
    kind: 'opened',
    opening: {
      offered: [skill.offered, ...besides.map((o) => o.offered)],
      skill: { file, telling: tellingLines(skill.body, shownAnyway) },
      notes,
    },
  };
}

type Read = { readonly offered: Offered; readonly body: string; readonly text: string };

async function otherSkills(
  folders: readonly string[],
  hands: Hands,
  notes: string[],
): Promise<readonly Read[] | 'over'> {
  if (folders.length === 0) return [];
  const handled = await hands.program(['sh', '-c', HEADS, 'sh', ...folders], { maxOutputBytes: OTHERS_BYTES });
  if (handled.kind === 'over') return 'over';
  const texts = handled.kind === 'ended' ? handled.end.stdout.split('\0') : [];
  return folders.flatMap((folder, at) => {
    const text = texts[at] ?? '';
    if (text !== '') return [offeredIn(folder, text)];
    notes.push(`The other skill in ${folder} was not offered: its SKILL.md could not be read.`);
    return [];
  });
}

/** What a SKILL.md says of itself. One whose frontmatter can't be read is offered by the name of its folder. */
function offeredIn(folder: string, text: string): Read {
  const reading = tryReadSkill(text);
  const file = `${folder}/SKILL.md`;
  if (reading.ok) {
    const { name, description, body } = reading.document;
    return { offered: { name, description, file }, body: text.slice(body.start, body.end), text };
  }
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  return { offered: { name, description: 'no description', file }, body: text, text };
}

/** What the model is told before the task. */
export function systemText({ offered }: Pick<Opening, 'offered'>, form: Form): string {
  const told = (form === 'tools' ? toolsPrompt : textPrompt).trim();
  if (offered.length === 0) return told;
  const listed = offered.map(
    ({ name, description, file }) => `- ${name}: ${description.replace(/\s+/g, ' ').trim()}\n  File: ${file}`,
  );
  const values = { skills: listed.join('\n'), how: form === 'tools' ? '`read`' : '`cat`' };
  const skills = skillsPrompt.trim().replace(/\{\{(skills|how)\}\}/g, (_, key: keyof typeof values) => values[key]);
  return `${told}\n\n${skills}`;
}

/** What was offered, for the trajectory. */
export function offeredNote({ offered }: Pick<Opening, 'offered'>): string | null {
  if (offered.length === 0) return null;
  return `Offered to the model, by name and description:\n${offered.map(({ name, file }) => `- ${name} (${file})`).join('\n')}`;
}
