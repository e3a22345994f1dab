import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunState } from '../events/run-state.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import { shortHash } from '../ports/hash.ts';
import { decodeSkill } from '../skill/document.ts';
import { exampleName } from './bundled.ts';
import type { CommandContext } from './context.ts';
import { flagsOf } from './layered-config.ts';
import type { OverrideOptions } from './override-options.ts';
import { readState, shown, shownDir } from './read-state.ts';
import { search } from './search.ts';
import { sessionPlace } from './session-place.ts';
import type { Show } from './show.ts';
import { withSource } from './source-moved.ts';
import { skillFolder } from './sources.ts';

export type FinalizeOptions = OverrideOptions &
  Show & { readonly apply?: boolean; readonly allowUnsandboxed?: boolean };

/** Opens the sealed test, or shows what it has said; with `apply` writes the result over its source. */
export async function finalize(dir: string, options: FinalizeOptions, context: CommandContext): Promise<void> {
  const given = flagsOf(options);
  const { dir: path, config, flags } = sessionPlace(dir, given);
  const { state } = readState(path);
  if (!state.ended)
    throw fail(
      'usage',
      'the search has not ended, so there is nothing to finalize',
      path,
      `go on with \`skillopt run ${shownDir(path)}\``,
    );
  const { report, lines } =
    state.finalized || !hasResult(state)
      ? shown(path, context)
      : await search({
          io: context.io,
          dir: path,
          command: context.command,
          config,
          flags,
          notes: given.taken,
          finalize: true,
          allowUnsandboxed: options.allowUnsandboxed ?? false,
          stage: context.stage,
          show: options,
        });
  const { data, lines: told } = withSource(path, report, lines);
  if (!options.apply) return context.io.result(data, told);
  // the next step that they name is this one
  if (!context.io.json)
    context.io.result(
      data,
      told.filter((line) => !line.startsWith('next ')),
    );
  const applied = apply(path);
  context.io.result({ ...data, applied }, [`applied     ${applied}`]);
}

/** Is there a skill to measure and to hand over? Otherwise the seed is the result, and the test stays sealed. */
function hasResult(state: RunState): boolean {
  return state.skills.get(state.incumbent)?.version !== 0;
}

/** Writes the result over the source, if the source still has the hash that the session began with; returns its path. */
function apply(dir: string): string {
  const { state } = readState(dir);
  const { session } = state;
  const best = state.skills.get(state.incumbent);
  if (!session || !best || best.version === 0)
    throw fail('usage', 'there is no result to apply: the seed is the result', dir, 'nothing to do');
  if (!state.finalized) throw fail('usage', 'the session is not finalized', dir, 'run `skillopt finalize` first');
  if (exampleName(session.skill.from) !== null)
    throw fail(
      'usage',
      'the skill is a bundled example: there is no source to write to',
      session.skill.from,
      `copy ${shownDir(dir)}/best_skill.md where you want it`,
    );
  // a link stays a link, and the file keeps its mode
  const source = realpathSync(join(skillFolder(dir, session.skill.from), 'SKILL.md'));
  const now = decodeSkill(readFileSync(source), source);
  if (now === best.text) return source;
  if (shortHash(now) !== session.skill.hash)
    throw fail(
      'source-moved',
      'the source skill was changed since the session began',
      source,
      `merge by hand: the diff stands in ${shownDir(dir)}/skillopt.md, the result in ${shownDir(dir)}/best_skill.md`,
    );
  writeWhole(source, best.text, statSync(source).mode & 0o777);
  return source;
}
