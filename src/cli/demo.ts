import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig, parseConfig } from '../config/load.ts';
import { diskFailure } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import { sessionPaths } from '../session/paths.ts';
import { exampleText } from './bundled.ts';
import type { CommandContext } from './context.ts';
import { shown, shownDir } from './read-state.ts';
import { search } from './search.ts';

const EXAMPLE = 'hello-harbor';

export function demoCommand(program: Command, context: CommandContext): void {
  program
    .command('demo')
    .summary('the whole job in seconds, without a model: a rehearsal of the bundled example')
    .description(
      'Runs a rehearsal of examples/hello-harbor: real tasks, real workspaces, real verifiers, the real gate and the real files; only agent and optimizer are small deterministic programs. Needs no key, no Docker and no network. A finished demo shows its report again.',
    )
    .argument('[dir]', 'where the session lies', 'skillopt-demo')
    .option('--fresh', 'start anew: removes the session files of an earlier demo in that directory')
    .action(async (dir: string, options: { fresh?: boolean }) => {
      const { io } = context;
      const path = resolve(dir);
      const files = sessionPaths(path);
      if (options.fresh) startFresh(path);
      const text = exampleText(EXAMPLE, 'skillopt.config.json');
      if (!existsSync(files.config)) {
        if (existsSync(files.log))
          throw fail(
            'session-mismatch',
            'a session lies there without its config',
            path,
            'use another directory, or --fresh',
          );
        mkdirHere(path);
        writeWhole(files.config, text);
      }
      const config = loadConfig(files.config);
      const wanted = parseConfig(text, `example:${EXAMPLE}`);
      if (config.skill !== wanted.skill || config.pack !== wanted.pack)
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
      io.line(`skillopt demo · REHEARSAL (no model is called) · session ${shownDir(path)}`);
      const { report, lines } = await search({
        io,
        dir: path,
        command: context.command,
        config,
        finalize: true,
        allowUnsandboxed: false,
        delayMs: 0,
      });
      io.result(report, lines);
    });
}

function mkdirHere(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw diskFailure('the demo’s directory can’t be made', path, cause);
  }
}

/** Removes what an earlier demo wrote, and nothing else. Refuses a directory whose config is not the demo's. */
function startFresh(path: string): void {
  const files = sessionPaths(path);
  if (!existsSync(path)) return;
  if (existsSync(files.config) && !loadConfig(files.config).skill.startsWith('example:'))
    throw fail(
      'usage',
      'the session in that directory is not a demo',
      path,
      'give the demo a directory of its own: skillopt demo DIR',
    );
  for (const own of [files.log, files.document, files.best, files.config]) rmSync(own, { force: true });
  if (existsSync(files.snapshots))
    for (const name of readdirSync(files.snapshots))
      if (/^skill_v\d{4}\.md$/.test(name)) rmSync(join(files.snapshots, name));
  rmSync(files.hidden, { recursive: true, force: true });
}
