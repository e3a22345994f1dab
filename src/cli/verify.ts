import { resolve } from 'node:path';
import type { Command } from 'commander';
import { renderDocument } from '../report/markdown.ts';
import { type VerifyReport, verifySession } from '../session/verify.ts';
import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { shownDir } from './read-state.ts';

export function verifyCommand(program: Command, context: CommandContext): void {
  program
    .command('verify')
    .summary('recompute every number and every verdict of a session from its log, offline')
    .description(
      'Replays the log without performing anything: every decision must follow again from the outcomes that stand there, every line from the one before, every text from its hash. A changed byte of the log, of a text that it names or of a derived file is found. Writes nothing.',
    )
    .argument('[dir]', 'directory of the session', '.')
    .action(async (dir: string) => {
      const path = resolve(dir);
      const report = await verifySession(path, renderDocument);
      const { state: _state, ...data } = report;
      context.io.result({ ok: report.problems.length === 0, ...data }, verifyLines(report, shownDir(path)));
      if (report.problems.length > 0) process.exitCode = exitCodes['log-diverged'];
    });
}

function verifyLines(r: VerifyReport, dir: string): string[] {
  const reach = r.finalized
    ? 'through the sealed test'
    : r.complete
      ? 'through the search'
      : 'as far as the run has come';
  const { unreadOutcomes, markers } = r.chainOnly;
  return [
    ...r.problems.map(
      (p) => `${p.kind.padEnd(18)} ${p.where}\n                   ${p.what.split('\n').join('\n                   ')}`,
    ),
    r.problems.length === 0
      ? `verified    ${dir}: ${r.decisions} decisions follow from ${r.effects} effects, ${reach}`
      : `NOT VERIFIED ${dir}: ${r.problems.length} ${r.problems.length === 1 ? 'thing is' : 'things are'} not as the log says`,
    `vouched for by chain and head alone: ${unreadOutcomes} outcomes that no decision read, ${markers} markers, and what no decision reads (times, spend, versions, paths)${r.torn ? ', and a torn last line that will be dropped' : ''}`,
    `log         ${r.lines} lines, head ${r.head}`,
  ];
}
