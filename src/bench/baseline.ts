import { readFileSync } from 'node:fs';
import { sessionPaths } from '../session/paths.ts';
import { plainEnvironment } from './scratch.ts';
import type { SlowSession } from './slow-pack.ts';

type Line = { readonly type: string; readonly at: string; readonly split?: string; readonly task?: string };

/**
 * Runs a session by the binary until its seed has met selection, and stops it. Milliseconds from the first start of a
 * rollout to the end of the last one, by the stamps in the log.
 */
export async function baselineMs(
  binary: string,
  session: SlowSession,
  workers: number,
  folder: string,
): Promise<number> {
  const child = Bun.spawn([binary, 'run', session.dir, '--allow-unsandboxed', '--workers', String(workers)], {
    cwd: folder,
    env: plainEnvironment(folder),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const errors = new Response(child.stderr).text();
  // the program says so when the baseline stands; its log need not be looked at meanwhile
  let said = '';
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += piece;
    if (said.includes('baseline    selection')) child.kill('SIGINT');
  }
  await child.exited;
  const lines = readFileSync(sessionPaths(session.dir).log, 'utf8').trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as Line);
  const over = events.findIndex((e) => e.type === 'evaluation.finished' && e.split === 'selection');
  const before = events.slice(0, over);
  const started = before.filter((e) => e.type === 'rollout.started');
  const finished = before.filter((e) => e.type === 'rollout.finished');
  if (over < 0 || finished.length !== session.selection.length || started.length !== finished.length)
    throw new Error(`the baseline was not measured:\n${said}\n${await errors}`);
  return Date.parse(finished.at(-1)!.at) - Date.parse(started[0]!.at);
}
