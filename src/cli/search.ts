import { agentName } from '../config/agent.ts';
import type { Layers, Override } from '../config/layers.ts';
import type { Estimate } from '../events/estimate.ts';
import type { RunState } from '../events/run-state.ts';
import { type Edit, editHash } from '../ports/edit.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { type AfterRun, afterRun, afterRunLines } from '../report/after-run.ts';
import { Control } from '../session/control.ts';
import { stopped } from '../session/foreign-ends.ts';
import { runSession } from '../session/run.ts';
import { Session } from '../session/session.ts';
import { begin } from './begin.ts';
import { removeUnmeasured } from './begin-anew.ts';
import { type Io, ReportedFailure } from './io.ts';
import { leaksOf } from './leaks.ts';
import { powerOf } from './power-of.ts';
import { preflight } from './preflight.ts';
import { installing } from './preloads.ts';
import { shownDir } from './read-state.ts';
import { redactor } from './secrets.ts';
import { sessionChecks } from './session-checks.ts';
import type { Show } from './show.ts';
import type { Stage } from './stage.ts';
import type { Surface } from './surface.ts';
import { sessionParts, wired, workersOf } from './wiring.ts';

export type SearchOptions = {
  readonly io: Io;
  /** The session's directory. */
  readonly dir: string;
  /** Where programs and files beside the config are looked for; absent = in `dir`. */
  readonly base?: string;
  /** As the user typed it. */
  readonly command: string;
  /** The config file, with the environment above it; null = there is none any more. */
  readonly config: Layers | null;
  /** What the command line sets. */
  readonly flags: readonly Override[];
  /** What is to be said once, before all else. */
  readonly notes?: readonly string[];
  /** A session is about to begin: all that can be refused was looked at. */
  readonly onBegin?: () => void;
  /** Goes on to the sealed test. */
  readonly finalize: boolean;
  readonly allowUnsandboxed: boolean;
  readonly stage: Stage;
  readonly show: Show;
  /** Edits of the user, and whether the search goes on when the gate has decided about them. */
  readonly ownEdits?: { readonly edits: readonly Edit[]; readonly goOn: boolean };
  /** The first line where there is no screen. */
  readonly title?: string;
  /** What is odd about this session, for people; stands in its log. */
  readonly warnings?: readonly string[];
};

/** The report after a run, as data and as lines; the command prints it. */
export type Searched = {
  readonly report: AfterRun;
  readonly lines: readonly string[];
  readonly state: RunState;
  /** What it was told to cost before it began; null = it was begun before, or no model takes part. */
  readonly estimate: Estimate | null;
};

/** Opens or resumes a session, runs it to its end and reports. The same for `demo`, `run` and `finalize`. */
export async function search(o: SearchOptions): Promise<Searched> {
  const { stage, io } = o;
  if (!stage.isLive && o.title !== undefined) io.line(o.title);
  const surface = await stage.surface();
  let left: Searched | null = null;
  try {
    for (const note of o.notes ?? []) surface.say(`taken       ${note}`);
    const searched = await searchOn(surface, o, (stands) => {
      left = stands;
    });
    await surface.close('over');
    return searched;
  } catch (e) {
    await surface.close('cut');
    const stands = left as Searched | null;
    for (const line of stands?.lines ?? []) io.line(line);
    throw stands !== null && e instanceof SkilloptError ? new ReportedFailure(e.failure, stands.report, e) : e;
  }
}

/** `onStop` is given the report of a run that is stopped by the user, or paused by what it can't go on with. */
async function searchOn(surface: Surface, o: SearchOptions, onStop: (left: Searched) => void): Promise<Searched> {
  const delayMs = o.stage.delayMs(o.show.delay);
  const odd: string[] = [];
  const parts = { ...sessionParts(o.dir, (w) => odd.push(w)), command: await redactor()(o.command) };
  const open = () => Session.open(o.dir, o.config, o.flags, parts);
  const session = await open().catch((why: unknown) => {
    for (const line of removeUnmeasured(o.dir, why)) surface.say(line);
    return open();
  });
  const control = new Control(session, o.stage.abort, { waitsForReset: o.show.waitForReset });
  let close: (() => Promise<void> | undefined) | null = null;
  try {
    if (o.show.delay !== undefined && session.config.agent !== 'rehearsal')
      throw fail(
        'usage',
        `--delay is for the rehearsal; the agent here is ${agentName(session.config.agent)}`,
        'the command line',
        'leave it out',
      );
    const workers = workersOf(session.config);
    const made = await wired(session, o.base ?? o.dir, {
      ...o,
      rehearsalDelayMs: delayMs,
      onWait: (wait, model) => surface.waits(wait, model),
    });
    const { rollouts, proposals, roles, oneShot, gateway, asksTarget } = made;
    close = () => gateway?.close();
    const findings = await preflight(sessionChecks(session, made));
    const { splits } = session.check({ versions: {}, workers });
    const report = () =>
      afterRun(session.state, {
        command: o.command,
        dir: shownDir(o.dir),
        head: session.journal.position,
        power: powerOf(session.state),
      });
    if (
      isCutShort(session.state) &&
      o.show.yes !== true &&
      !(await surface.mayGoOn(session.state, o.stage.abort.signal))
    ) {
      if (o.stage.abort.signal.aborted) throw stopped(o.dir);
      const left = report();
      const lines = ['left        as it was; the same command goes on any time', ...afterRunLines(left, session.state)];
      return { report: left, lines, state: session.state, estimate: null };
    }
    const begun = await begin(surface, session, {
      dir: o.dir,
      finalize: o.finalize,
      workers,
      roles,
      asksTarget,
      preloads: installing(rollouts, surface.say.bind(surface)),
      splits: { train: splits.train.length, test: splits.test.length },
      isLive: o.stage.isLive,
      yes: o.show.yes === true,
      signal: o.stage.abort.signal,
    });
    if (begun.kind === 'left') return { report: report(), state: session.state, ...begun };
    for (const left of await rollouts.sweep()) surface.say(`swept       ${left}`);
    if (session.isNew) o.onBegin?.();
    const slowedMs = session.config.agent === 'rehearsal' ? delayMs : 0;
    surface.follow(session.state, control, { finalizes: o.finalize, slowedMs });
    for (const w of [...(o.warnings ?? []), ...odd, ...begun.warnings]) session.note(w);
    for (const f of findings) {
      if (f.level !== 'warning') continue;
      const text = `${f.what} (${f.where})${f.fix ? `; ${f.fix}` : ''}`;
      if (session.isNew) session.note(text);
      else surface.say(`warning     ${text}`);
    }
    const decided = o.ownEdits === undefined ? null : handIn(o.ownEdits, control);
    const run = runSession(session, {
      rollouts,
      proposals: begun.oneShot && oneShot !== null ? oneShot() : proposals,
      redact: redactor(),
      leaks: leaksOf(session, o.base ?? o.dir),
      inputs: control.inputs,
      signal: control.signal,
      hold: control.hold,
      resets: control.resets,
      workers,
      backoffMs: [1_000, 5_000],
      nowMs: () => control.hold.runningMs,
      finalize: o.finalize,
    });
    await run.catch((e: unknown) => {
      if (decided?.() && e instanceof SkilloptError && e.failure.code === 'interrupted') return;
      const held = session.state.paused !== null; // by what the failure says: what is there is worth telling
      if (e instanceof SkilloptError && (held || e.failure.code === 'interrupted'))
        onStop(withLines(report(), session.state, ''));
      throw e;
    });
    return { ...withLines(report(), session.state), estimate: begun.estimate };
  } finally {
    await close?.();
    session.close();
  }
}

/** Hands the user's edits in; the search is stopped when nothing of them is left to be decided. Says whether it was. */
function handIn({ edits, goOn }: NonNullable<SearchOptions['ownEdits']>, control: Control): () => boolean {
  const open = new Set(edits.map(editHash));
  let decided = false;
  for (const edit of edits) control.send({ kind: 'edit', edit });
  control.subscribe((event) => {
    if (event.type === 'gate.decided') for (const edit of event.edits) open.delete(edit);
    else if (event.type === 'screening.decided' && !event.kept) open.delete(event.edit);
    else if (event.type === 'edit.rejected' && event.edit !== null && event.reason !== 'in-draft')
      open.delete(event.edit);
    else return;
    if (open.size > 0 || decided || goOn) return;
    decided = true;
    control.stop();
  });
  return () => decided;
}

/** The report below a blank line. */
function withLines(report: AfterRun, state: RunState, ...below: readonly string[]): Searched {
  return { report, lines: ['', ...afterRunLines(report, state), ...below], state, estimate: null };
}

/** Something was performed here before, and it stopped on the way. */
function isCutShort(state: RunState): boolean {
  if (state.session === null || state.rollouts.started === 0) return false;
  return state.ended === null || (state.finalizeStarted && state.finalized === null);
}
