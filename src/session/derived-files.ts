import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import type { Head } from '../journal/journal.ts';
import { diskFailure } from '../journal/journal.ts';
import { writeWhole } from '../journal/texts.ts';
import { fail } from '../ports/failure.ts';
import type { SessionPaths } from './paths.ts';

/** Renders `skillopt.md` from a prefix of the log: the same prefix, the same bytes. */
export type RenderDocument = (state: RunState, head: Head) => string;

/** The prefix that a document names as its own, or null. */
export function documentHead(text: string): Head | null {
  const m = [...text.matchAll(/^log (\d+) lines, head ([0-9a-f]{32})/gm)].at(-1); // a skill may speak of logs too
  return m?.[1] && m[2] ? { lines: Number(m[1]), hash: m[2] } : null;
}

export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (e) {
    if ((e as { code?: string }).code === 'ENOENT') return null;
    throw diskFailure('a session file can’t be read', path, e);
  }
}

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
  /** The document as we wrote it last, or as the prefix that it names renders it. */
  private ourDocument: string | null = null;
  private prefix: Head | null = null;

  constructor(
    private readonly paths: SessionPaths,
    private readonly render: RenderDocument,
    /** Hears of a file that was set aside. */
    private readonly onSetAside: (from: string, to: string) => void,
  ) {}

  /** Before the log is read: which prefix does the document name? */
  beforeReading(): void {
    const existing = readIfThere(this.paths.document);
    this.prefix = existing === null ? null : documentHead(existing);
  }

  /** While the log is read, after each line. */
  whileReading(state: RunState, head: Head): void {
    if (this.prefix?.lines === head.lines && this.prefix.hash === head.hash)
      this.ourDocument = this.render(state, head);
  }

  /** After the log was read: a document that was written when the log was longer shows that its end is lost. */
  refuseLostTail(lines: number): void {
    if (this.prefix === null || this.prefix.lines <= lines) return;
    throw fail(
      'log-broken',
      `the log has ${lines} lines, but ${this.paths.document} was written when it had ${this.prefix.lines}: its end is lost`,
      this.paths.log,
      `restore the log from a copy; if its end is gone for good, move ${this.paths.document} away to go on from what is left`,
    );
  }

  /** Sets aside what is not ours; nothing else is touched. Before the first line of this process is written. */
  setForeignAside(state: RunState): void {
    const ours = [...state.skills.values()];
    this.keepForeign(this.paths.document, (text) => text === this.ourDocument);
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
    const document = this.render(state, head);
    writeWhole(this.paths.document, document);
    this.ourDocument = document;
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
    if (text === null || isOurs(text)) return;
    const dot = path.lastIndexOf('.');
    for (let n = 1; ; n++) {
      const to = `${path.slice(0, dot)}.yours-${n}${path.slice(dot)}`;
      if (existsSync(to)) continue;
      try {
        renameSync(path, to);
      } catch (cause) {
        throw diskFailure('a file of yours can’t be set aside', path, cause);
      }
      this.onSetAside(path, to);
      return;
    }
  }
}
