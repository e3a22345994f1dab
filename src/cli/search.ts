import type { Config } from '../config/schema.ts';
import { PlainLines } from '../plain/lines.ts';
import { type AfterRun, afterRun, afterRunLines } from '../report/after-run.ts';
import { Control } from '../session/control.ts';
import type { Flags } from '../session/effective-config.ts';
import { runSession } from '../session/run.ts';
import { Session } from '../session/session.ts';
import type { Io } from './io.ts';
import { shownDir } from './read-state.ts';
import { stopOnSignals } from './signals.ts';
import { backendOf, learner, optimizerOf, preflight, redactor, sessionParts, taskNotes, workersOf } from './wiring.ts';

export type SearchOptions = {
  readonly io: Io;
  /** The session's directory. */
  readonly dir: string;
  /** As the user typed it. */
  readonly command: string;
  /** The config file; null = there is none any more. */
  readonly config: Config | null;
  readonly flags: Flags;
  /** Goes on to the sealed test. */
  readonly finalize: boolean;
  readonly allowUnsandboxed: boolean;
};

/** The report after a run, as data and as lines; the command prints it. */
export type Searched = { readonly report: AfterRun; readonly lines: readonly string[] };

/** Opens or resumes a session, runs it to its end and reports. The same for `demo`, `run` and `finalize`. */
export async function search(o: SearchOptions): Promise<Searched> {
  const { io } = o;
  const odd: string[] = [];
  const session = await Session.open(
    o.dir,
    o.config,
    o.flags,
    sessionParts(o.dir, (w) => odd.push(w)),
  );
  const control = new Control(session);
  const release = stopOnSignals(io, control);
  try {
    const workers = workersOf(session.config);
    const rollouts = backendOf(session, o);
    const proposals = optimizerOf(session, o.dir);
    const findings = await preflight([rollouts, proposals, taskNotes(session.pack.tasks), learner(session.config)]);
    session.check({ versions: {}, workers });
    for (const left of await rollouts.sweep()) io.line(`swept       ${left}`);
    const plain = new PlainLines();
    control.subscribe((event, state) => {
      for (const line of plain.after(event, state)) io.line(line);
    });
    for (const w of odd) session.note(w);
    for (const f of findings) {
      if (f.level !== 'warning') continue;
      const text = `${f.what} (${f.where})${f.fix ? `; ${f.fix}` : ''}`;
      if (session.isNew) session.note(text);
      else io.line(`warning     ${text}`);
    }
    await runSession(session, {
      rollouts,
      proposals,
      redact: redactor(),
      inputs: control.inputs,
      signal: control.signal,
      hold: control.hold,
      workers,
      backoffMs: [1_000, 5_000],
      nowMs: () => control.hold.runningMs,
      finalize: o.finalize,
    });
    const report = afterRun(session.state, {
      command: o.command,
      dir: shownDir(o.dir),
      head: session.journal.position,
    });
    return { report, lines: ['', ...afterRunLines(report, session.state)] };
  } finally {
    release();
    session.close();
  }
}
