import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileLayers } from '../config/layers.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { REHEARSAL } from '../events/words.ts';
import { diskFailure } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import { sessionPaths } from '../session/paths.ts';
import { removeSession } from '../session/session-files.ts';
import { exampleText } from './bundled.ts';
import type { CommandContext } from './context.ts';
import type { Io } from './io.ts';
import { shown, shownDir } from './read-state.ts';
import { renderSession } from './render-session.ts';
import { search } from './search.ts';
import type { Show } from './show.ts';

const EXAMPLE = 'hello-harbor';

/** Runs the rehearsal, or shows the report of one that has finished. */
export async function demo(
  dir: string,
  options: Show & { readonly fresh?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  if (dir.trim() === '') throw fail('usage', 'the directory has no name', 'demo DIR', 'name a directory');
  const path = resolve(dir);
  const files = sessionPaths(path);
  if (options.fresh) startFresh(path, io);
  const text = exampleText(EXAMPLE, 'skillopt.config.json');
  if (!existsSync(files.config)) {
    if (existsSync(files.log))
      throw fail(
        'session-mismatch',
        'a session lies there without its config',
        path,
        'use another directory, or put its config back',
      );
    mkdirHere(path);
    writeWhole(files.config, text);
  }
  const config = loadConfig(files.config);
  if (!isDemo(config))
    throw fail(
      'session-mismatch',
      'another session lies in that directory',
      path,
      'give the demo a directory of its own: skillopt demo DIR',
    );
  if (existsSync(files.log)) {
    const { report, lines } = shown(path, context);
    if (report.phase === 'finished')
      return io.result(report, ['this demo has run before; --fresh starts it anew', '', ...lines]);
  }
  const { report, lines } = await search({
    io,
    dir: path,
    command: context.command,
    config: fileLayers(files.config), // a rehearsal of its own, whatever the environment sets
    flags: [],
    finalize: true,
    allowUnsandboxed: false,
    stage: context.stage,
    show: options,
    title: `skillopt demo · ${REHEARSAL} · session ${shownDir(path)}`,
  });
  io.result(report, lines);
}

function mkdirHere(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw diskFailure('the demo’s directory can’t be made', path, cause);
  }
}

/** Removes what an earlier demo wrote, and nothing else. A session that is not a demo is refused. */
function startFresh(path: string, io: Io): void {
  const config = sessionPaths(path).config;
  const notOurs = () =>
    fail(
      'session-mismatch',
      'the session in that directory is not a demo',
      path,
      'give the demo a directory of its own: skillopt demo DIR',
    );
  const asides = removeSession(path, renderSession, (state) => {
    const ours = `example:${EXAMPLE}`;
    if (state.session && (state.session.skill.from !== ours || state.session.pack.from !== ours)) throw notOurs();
    if (existsSync(config) && !isDemo(loadConfig(config))) throw notOurs();
  });
  for (const aside of asides) io.line(`kept        ${aside}`);
  try {
    rmSync(config, { force: true });
  } catch (cause) {
    throw diskFailure('the demo’s config can’t be removed', config, cause);
  }
}

function isDemo(config: Config): boolean {
  return config.skill === `example:${EXAMPLE}` && config.pack === `example:${EXAMPLE}`;
}
