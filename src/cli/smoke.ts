import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configOfLayers, fileLayers, type Layers, withOverrides } from '../config/layers.ts';
import { readConfigFile } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { costText, estimateTexts, roleText } from '../events/estimate-words.ts';
import type { RunState } from '../events/run-state.ts';
import { countText } from '../events/words.ts';
import { diskFailure } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { shellWord } from '../ports/printable.ts';
import { rebasedPaths } from '../session/fork-config.ts';
import { sessionPaths } from '../session/paths.ts';
import { removeSession } from '../session/session-files.ts';
import type { CommandContext } from './context.ts';
import { estimateFrom, type Job, rolesOf } from './estimate-of.ts';
import { exitCodes } from './exit-codes.ts';
import { flagsOf } from './layered-config.ts';
import { shownDir } from './read-state.ts';
import { renderSession } from './render-session.ts';
import type { RunOptions } from './run.ts';
import { search } from './search.ts';
import { sessionPlace } from './session-place.ts';
import { type SmokeTasks, smokeTasks } from './smoke-splits.ts';
import { workersOf } from './wiring.ts';

/** The folder of a smoke test within that of its job, and the file by which it is known to be one. */
const FOLDER = 'skillopt.smoke';
const MARK = 'smoke';
/** Rollouts of a smoke test: start and confirmation take 8 of them, and a step finds room. */
const ROLLOUTS = 24;

/**
 * The smallest honest version of a job: two tasks a split and one step, in a session of its own that is begun anew each
 * time, through the confirmation. Then what the whole job would cost, by what this one took. The job's sealed test is
 * not touched.
 */
export async function smoke(dir: string, options: RunOptions, context: CommandContext): Promise<void> {
  for (const flag of ['finalize', 'exitCode'] as const)
    if (options[flag])
      throw fail(
        'usage',
        `a smoke test has no result, so --${flag === 'exitCode' ? 'exit-code' : flag} says nothing`,
        'the command line',
        'leave it out',
      );
  const given = flagsOf(options);
  const place = sessionPlace(dir, given);
  const path = place.dir;
  if (place.config === null) readConfigFile(sessionPaths(path).config); // says that there is none
  const file = configOfLayers(withOverrides(place.config as Layers, place.flags));
  const there = join(path, FOLDER);
  const drawn = await smokeTasks(path, file);
  const kept = begunAnew(there);
  const own = sessionPaths(there).config;
  writeWhole(own, `${JSON.stringify(smokeConfig(file, drawn, path, there), null, 2)}\n`);
  const said = `a smoke test on tasks of the job’s ${drawn.from}, 2 a split and 1 step: it shows whether all of it works, and its numbers are no result`;
  const { report, lines, state } = await search({
    io: context.io,
    dir: there,
    base: path,
    command: context.command,
    config: fileLayers(own),
    flags: [],
    finalize: false,
    allowUnsandboxed: options.allowUnsandboxed ?? false,
    stage: context.stage,
    show: options,
    title: `skillopt run --smoke · session ${shownDir(there)}`,
    notes: given.taken,
    warnings: [said, ...kept],
  });
  const job: Job = {
    config: file,
    tasks: drawn.tasks,
    skillText: state.session?.skill.text ?? '',
    splits: { train: drawn.job.train.length, test: drawn.job.test.length },
    consumed: 0,
    finalize: true,
    workers: workersOf(file),
  };
  const over = state.ended !== null;
  const estimate = over ? await estimateFrom(job, rolesOf(file), state) : null;
  const at = shownDir(path) === '.' ? '' : ` ${shellWord(shownDir(path))}`;
  const broken = state.ended?.cause === 'optimizer-failed' || state.ended?.cause === 'measurement-broken';
  const cost = estimate === null ? '' : `: ${costText(estimate)}`;
  const next = broken ? `${report.next}; then skillopt run${at} --smoke` : `skillopt run${at}   (the whole job${cost})`;
  if (broken) process.exitCode = exitCodes.preflight;
  const optimizer = estimate?.roles.find((r) => r.role === 'optimizer');
  const unasked = over && state.calls === 0 && optimizer !== undefined;
  context.io.result(
    { smoke: { ...report, next }, works: over && !broken, from: drawn.from, splits: drawn.splits, job: estimate },
    [
      '',
      `smoke       ${said}`,
      ...(broken ? ['broken      not all of it works: mend it before the whole job'] : []),
      ...(over ? [workedLine(state)] : []),
      ...lines.filter((line) => line !== '' && !/^(result|power|next) /.test(line)),
      ...(unasked
        ? [
            `unasked     ${optimizer.isAgent ? 'the agent was not run as the optimizer' : 'the optimizer was asked for one word alone'}${state.seed.train?.passed === 2 ? ': both train tasks passed with the seed' : ''}`,
          ]
        : []),
      ...(estimate === null
        ? []
        : [
            '',
            ...estimateTexts(estimate).map((text, at) => `${at === 0 ? 'whole job   ' : '            '}${text}`),
            ...estimate.roles.map((r) => `${r.role.padEnd(12)}${roleText(r)}`),
          ]),
      `next        ${next}`,
    ],
  );
}

/** What took part, in numbers. */
function workedLine({ rollouts, calls, edits, steps, confirmation }: RunState): string {
  const parts = [
    `${rollouts.scored} of ${countText(rollouts.finished, 'rollout')} scored`,
    ...(calls > 0 ? [`${countText(calls, 'reflection')} with ${countText(edits.size, 'edit')}`] : []),
    ...(steps.length > 0 ? [countText(steps.length, 'gate')] : []),
    ...(confirmation === null ? [] : ['a confirmation']),
  ];
  return `worked      ${parts.join(', ')}`;
}

/** The job with two tasks a split, one step and a gate as soon as an edit is kept. */
function smokeConfig(config: Config, { splits }: SmokeTasks, from: string, to: string): object {
  return {
    ...config,
    ...rebasedPaths(config, from, to),
    splits,
    budget: { rollouts: ROLLOUTS },
    limits: { ...config.limits, rollouts: null },
    search: { ...config.search, steps: 1, draftSize: 1, dryRounds: Math.min(2, config.search.dryRounds) },
  };
}

/** Makes room for a smoke test: one of before is removed, and what is none is refused. Returns what was set aside. */
function begunAnew(dir: string): readonly string[] {
  const paths = sessionPaths(dir);
  const mark = join(paths.hidden, MARK);
  if (existsSync(dir) && readdirSync(dir).length > 0 && !existsSync(mark))
    throw fail(
      'session-mismatch',
      'the folder of the smoke test holds something else',
      dir,
      'move it away: a smoke test is begun anew each time',
    );
  let asides: readonly string[] = [];
  try {
    asides = removeSession(dir, renderSession, () => {});
  } catch (e) {
    if (!(e instanceof SkilloptError) || e.failure.code === 'session-busy') throw e;
    throw fail(
      'session-mismatch',
      `the smoke test of before can’t be removed: ${e.failure.what}`,
      dir,
      'remove that folder',
    );
  }
  try {
    rmSync(paths.config, { force: true });
    mkdirSync(paths.hidden, { recursive: true });
    writeFileSync(mark, 'This session is a smoke test; the next one removes it.\n');
  } catch (cause) {
    throw diskFailure('the folder of the smoke test can’t be made', dir, cause);
  }
  return asides;
}
