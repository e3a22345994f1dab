import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import type { Head } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { OwnDocument, readIfThere, setAside } from './own-document.ts';
import type { SessionPaths } from './paths.ts';

/** Renders `skillopt.md` from a prefix of the log: the same prefix, the same bytes. */
export type RenderDocument = (state: RunState, head: Head) => string;

/** Events after which the files are written anew. They are on the disk by then: a file never tells of a line that could be lost. */
export const telling: ReadonlySet<LoggedEvent['type']> = new Set([
  'plan.fixed',
  'evaluation.finished',
  'gate.decided',
  'incumbent.changed',
  'confirmation.finished',
  'session.ended',
  'session.paused',
  'finalize.started',
  'finalize.finished',
]);

/** Of these, the ones that may follow each other within milliseconds: what they tell is written at most so often. */
export const frequent: ReadonlySet<LoggedEvent['type']> = new Set(['evaluation.finished', 'gate.decided']);

/** Milliseconds for which files may be behind the log while work goes on. */
export const BEHIND_MS = 1_000;

/**
 * `best_skill.md`, the snapshots and `skillopt.md`: written whole after their event, rebuilt at open. A file that is
 * not the rendering of some prefix of the log is the user's: it is set aside, never overwritten, at open and later.
 */
export class DerivedFiles {
  private readonly document: OwnDocument<RunState>;

  constructor(
    private readonly paths: SessionPaths,
    render: RenderDocument,
    /** Hears of a file that was set aside. */
    private readonly onSetAside: (from: string, to: string) => void,
  ) {
    this.document = new OwnDocument(paths.document, paths.log, render, onSetAside);
  }

  /** Before the log is read: which prefix does the document name? */
  beforeReading(): void {
    this.document.beforeReading();
  }

  /** While the log is read, after each line. */
  whileReading(state: RunState, head: Head): void {
    this.document.whileReading(() => state, head);
  }

  /** After the log was read: a document that was written when the log was longer shows that its end is lost. */
  refuseLostTail(lines: number): void {
    this.document.refuseLostTail(lines);
  }

  /** Sets aside what is not ours; nothing else is touched. Before the first line of this process is written. */
  setForeignAside(state: RunState): void {
    const ours = [...state.skills.values()];
    this.document.setForeignAside();
    this.keepForeign(this.paths.best, (text) => ours.some((s) => s.text === text));
    for (const { version, text } of ours) this.keepForeign(this.paths.snapshot(version), (found) => found === text);
  }

  /** Writes everything as the log says it is. */
  write(state: RunState, head: Head): void {
    if (state.session === null || state.plan === null) return;
    this.setForeignAside(state);
    for (const { version, text } of state.skills.values())
      if (!existsSync(this.paths.snapshot(version))) writeWhole(this.paths.snapshot(version), text);
    const best = state.skills.get(state.incumbent)?.text;
    if (best !== undefined && readIfThere(this.paths.best) !== best) writeWhole(this.paths.best, best);
    this.document.write(state, head);
  }

  /** Removes what a killed process of ours was writing when it died. */
  sweepHalfWritten(): void {
    for (const dir of [this.paths.dir, this.paths.snapshots])
      for (const name of existsSync(dir) ? readdirSync(dir) : [])
        if (/^(skillopt|best_skill|skill_v\d{4})\.md\.\d+-\d+\.tmp$/.test(name))
          rmSync(join(dir, name), { force: true });
  }

  /** Removes what is ours; what is not was set aside before. */
  remove(state: RunState): void {
    this.setForeignAside(state);
    this.sweepHalfWritten();
    for (const { version } of state.skills.values()) rmSync(this.paths.snapshot(version), { force: true });
    for (const own of [this.paths.document, this.paths.best]) rmSync(own, { force: true });
  }

  private keepForeign(path: string, isOurs: (text: string) => boolean): void {
    const text = readIfThere(path);
    if (text !== null && !isOurs(text)) setAside(path, this.onSetAside);
  }
}
