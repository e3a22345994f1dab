import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RunState } from '../events/run-state.ts';
import { countText, editTitle, optimizedPart } from '../events/words.ts';
import { type Edit, editHash } from '../ports/edit.ts';
import { fail } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { applierOf } from '../skill/by-part.ts';
import { descriptionEditBetween, validateDescription } from '../skill/description-edits.ts';
import { diffStats } from '../skill/diff.ts';
import { readSkill } from '../skill/document.ts';
import { editsBetween } from '../skill/edits-between.ts';
import { toLf } from '../skill/lines.ts';
import type { CommandContext } from './context.ts';
import { flagsOf } from './layered-config.ts';
import type { OverrideOptions } from './override-options.ts';
import { readState, shownDir } from './read-state.ts';
import { search } from './search.ts';
import { sessionPlace } from './session-place.ts';
import type { Show } from './show.ts';
import { readSkillFile } from './skill-file.ts';

export type TryOptions = OverrideOptions &
  Show & {
    readonly cites?: string;
    readonly reason?: string;
    readonly goOn?: boolean;
    readonly allowUnsandboxed?: boolean;
  };

/** Hands a person's own edit of the skill in, and goes on until the gate has decided about it. */
export async function tryEdit(file: string, dir: string, options: TryOptions, context: CommandContext): Promise<void> {
  const given = flagsOf(options);
  const { dir: path, config, flags } = sessionPlace(dir, given);
  const { state } = readState(path);
  const edits = editsOf(resolve(file), state, path, options);
  const {
    report,
    lines,
    state: end,
  } = await search({
    io: context.io,
    dir: path,
    command: context.command,
    config,
    flags,
    notes: given.taken,
    finalize: false,
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    stage: context.stage,
    show: options,
    ownEdits: { edits, goOn: options.goOn ?? false },
  });
  const tried = edits.map((edit) => {
    const { fate, why } = end.edits.get(editHash(edit)) ?? { fate: 'handed-in', why: 'the search ended before it' };
    return { edit, fate, why };
  });
  context.io.result({ ...report, tried }, [
    ...lines,
    ...tried.map(
      ({ edit, fate, why }) => `your edit   ${editTitle({ edit })} · ${fate}${why === '' ? '' : `: ${why}`}`,
    ),
  ]);
}

/** What the file changes, against the text that it is nearest to. */
function editsOf(file: string, state: RunState, dir: string, options: TryOptions): readonly Edit[] {
  const shown = shownDir(dir);
  if (state.ended !== null)
    throw fail(
      'usage',
      'the search has ended, so nothing can be tried in it any more',
      dir,
      `go on in a fork: \`skillopt fork ${shellWord(shown)}\`, then \`skillopt try\` with its directory`,
    );
  if (options.cites !== undefined && !state.tasks.train.includes(options.cites))
    throw fail('usage', `${options.cites} is no train task`, '--cites', `name one of ${state.tasks.train.join(', ')}`);
  if (!existsSync(file)) throw fail('usage', 'there is no such file', file, 'name your edited copy of the skill');
  const text = readSkillFile(file);
  readSkill(text, file);
  const [nearest] = bases(state).toSorted((a, b) => size(a.text, text) - size(b.text, text));
  if (nearest === undefined)
    throw fail('usage', 'the session has not begun', dir, `begin it: skillopt run ${shellWord(shown)}`);
  const said = { cites: options.cites === undefined ? [] : [options.cites], reason: options.reason ?? 'by hand' };
  const edits = (optimizedPart(state) === 'description' ? ofDescription : ofBody)(nearest.text, text, said, file);
  if (edits.length === 0)
    throw fail('usage', `the file is the same as ${nearest.name}`, file, 'edit it, and try again');
  return edits;
}

type Between = (before: string, after: string, said: Pick<Edit, 'cites' | 'reason'>, file: string) => readonly Edit[];

const ofBody: Between = (before, after, said, file) => {
  if (headOf(after) !== headOf(before))
    throw fail('skill', 'the frontmatter differs, and this session changes the body alone', file, 'set it back');
  return editsBetween(before, after, said) ?? [];
};

const ofDescription: Between = (before, after, said, file) => {
  const validated = validateDescription(toLf(after), readSkill(toLf(before)));
  if (!validated.ok) throw fail('skill', validated.detail, file, 'change the description alone');
  const edit = descriptionEditBetween(before, after, said);
  return edit === null ? [] : [edit];
};

const size = (before: string, after: string): number => {
  const { added, removed } = diffStats(plain(before), plain(after));
  return added + removed;
};

/** Without what an editor changes by itself and nobody sees: line ends, blanks before them, a byte order mark. */
const plain = (text: string): string => toLf(text.replace(/^\uFEFF/, '')).replace(/[ \t]+$/gm, '');

const headOf = (text: string): string => {
  const { frontmatter } = readSkill(text);
  return plain(text.slice(0, frontmatter.end));
};

/** The texts that somebody may have begun with. */
function bases(state: RunState): readonly { readonly name: string; readonly text: string }[] {
  const best = state.skills.get(state.incumbent)?.text;
  const seed = state.session?.skill.text;
  if (best === undefined || seed === undefined) return [];
  const apply = applierOf(optimizedPart(state));
  let draft = best;
  for (const hash of state.draft) {
    const edit = state.edits.get(hash)?.edit;
    const applied = edit && apply(draft, edit);
    if (applied?.ok) draft = applied.text;
  }
  return [
    { name: `the draft (${countText(state.draft.length, 'edit')})`, text: draft },
    { name: 'best_skill.md', text: best },
    { name: 'the seed', text: seed },
  ];
}
