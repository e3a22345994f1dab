import { join } from 'node:path';
import { fail, type SkilloptError } from '../ports/failure.ts';
import { printableName } from '../ports/printable.ts';
import { boundedList, MOST_LISTED } from './bounded-list.ts';

/** One thing wrong with a pack. `path` is relative to the pack, with the line where it is known (`a/task.toml:3`). */
export type PackProblem = { readonly path: string; readonly what: string; readonly fix: string };

/** Everything that is wrong with a pack, as one failure: `what` is the first problem, `where` has a line for each. */
export function packFailure(root: string, problems: readonly PackProblem[]): SkilloptError {
  const first = printed(problems[0]!);
  const more = problems.length - 1;
  const places = problems.map(({ path, what }) => `${join(root, printableName(path))}: ${printableName(what)}`);
  return fail(
    'pack',
    `${first.path}: ${first.what}${more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'problem' : 'problems'})`}`,
    more === 0 ? join(root, first.path) : boundedList(places).join('\n'),
    [...new Set(problems.slice(0, MOST_LISTED).map((problem) => printed(problem).fix))].join('\n'),
  );
}

function printed({ path, what, fix }: PackProblem): PackProblem {
  return { path: printableName(path), what: printableName(what), fix: printableName(fix) };
}
