import { type Instance, render } from 'ink';
import { type ReactNode, useInsertionEffect } from 'react';
import { Fold } from '../events/fold.ts';
import type { RunState } from '../events/run-state.ts';
import { SkilloptError } from '../ports/failure.ts';
import { endAllNow } from '../process/live.ts';
import type { Control } from '../session/control.ts';
import type { Session } from '../session/session.ts';
import { App, frameOf } from '../tui/app.tsx';
import { FrameStore } from '../tui/frame-store.ts';
import type { KeyName } from '../tui/keys.ts';
import { answerOf } from '../tui/screens/resume.ts';
import type { Facts } from '../tui/screens/run/facts.ts';
import { contextOf, type Size } from '../tui/screens/run/layout.ts';
import { type RunIntent, type RunMessage, type RunModel, reduceRun, startModel } from '../tui/screens/run/model.ts';
import { onCrash } from './crash.ts';
import type { Surface } from './surface.ts';

/** Milliseconds between two frames that events ask for; keys and resizes are answered at once. */
const FRAME_MS = 66;
/** Milliseconds between two frames while only clocks move; and after nothing else has moved for a while. */
const TICK_MS = 1_000;
const QUIET_TICK_MS = 5_000;
const QUIET_AFTER_MS = 15_000;

/** Moves the cursor to the first column of the first row. */
const HOME = '\x1b[H';

/** Exit code of Ctrl-C pressed twice. */
const INTERRUPTED = 130;

export type LiveOptions = {
  /** Milliseconds by which the rehearsal is slowed down. */
  readonly slowedMs: number;
  /** Goes on without a question. */
  readonly yes: boolean;
  /** What is told on the normal screen, once that is back. */
  readonly tell: (text: string) => void;
};

/** The alternate screen begins with the cursor where it stood on the normal one: behind what was typed, perhaps. */
function FromHome(p: { readonly children: ReactNode }) {
  // this effect alone runs before the first frame is written
  useInsertionEffect(() => {
    process.stdout.write(HOME);
  }, []);
  return p.children;
}

/**
 * The live screen of a run: draws the read model, turns keys into intents and carries those out. All time and all
 * terminal is here; `tui` is a function of what it is given.
 */
export class LiveScreen implements Surface {
  private readonly ink: Instance;
  private readonly frame = new FrameStore();
  private drawnSize: Size = { columns: 0, rows: 0 };
  private state: RunState = new Fold().state;
  private model: RunModel = startModel;
  private screen: 'resume' | 'run' = 'run';
  private notice = 'opening the session …';
  private control: Control | null = null;
  private stopWanted = false;
  private said: string[] = [];
  private answer: ((goOn: boolean) => void) | null = null;
  private closing: (() => void) | null = null;
  private drawnAtMs = 0;
  /** When the last event or key came. */
  private movedAtMs = performance.now();
  private drawTimer: ReturnType<typeof setTimeout> | null = null;
  private readonly tickTimer: ReturnType<typeof setInterval>;
  private readonly forgetCrash: () => void;
  private closed = false;

  constructor(private readonly o: LiveOptions) {
    // before Ink's own listener: a frame of the old size must not be drawn on the new one
    process.stdout.prependListener('resize', this.resized);
    this.ink = render(this.app(), {
      alternateScreen: true,
      exitOnCtrlC: false,
      incrementalRendering: true,
      interactive: true,
      patchConsole: false,
    });
    this.ink.waitUntilExit().catch((e: unknown) => {
      // a fault while drawing: the terminal is back already, the run must not go on unseen
      queueMicrotask(() => {
        throw e;
      });
    });
    this.tickTimer = setInterval(() => this.tick(), TICK_MS);
    this.forgetCrash = onCrash(() => this.leave());
  }

  say(text: string): void {
    this.said.push(text);
    this.notice = text;
    this.drawSoon();
  }

  async mayGoOn(session: Session): Promise<boolean> {
    if (this.o.yes || this.stopWanted) return true;
    this.state = session.state;
    this.screen = 'resume';
    const goOn = await new Promise<boolean>((resolve) => {
      this.answer = resolve;
      this.draw();
    });
    this.answer = null;
    this.screen = 'run';
    this.draw();
    return goOn;
  }

  follow(session: Session, control: Control): void {
    this.control = control;
    this.state = session.state;
    this.notice = '';
    control.subscribe(() => {
      this.movedAtMs = performance.now();
      this.drawSoon();
    });
    if (this.stopWanted) control.stop();
    this.draw();
  }

  stopping(): void {
    this.send({ kind: 'stopping' });
  }

  async close(how: 'over' | 'cut'): Promise<void> {
    if (how === 'over' && !this.closed)
      await new Promise<void>((resolve) => {
        this.closing = resolve;
        this.send({ kind: 'over' });
      });
    this.leave();
    for (const text of this.said.splice(0)) this.o.tell(text);
  }

  // -- drawing -----------------------------------------------------------------------------------------------------

  private get size(): Size {
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
  }

  private get facts(): Facts {
    return {
      state: this.state,
      model: this.model,
      nowMs: Date.now(),
      slowedMs: this.o.slowedMs,
      notice: this.notice,
    };
  }

  private app() {
    this.drawnSize = this.size;
    this.compose();
    return (
      <FromHome>
        <App frame={this.frame} width={this.drawnSize.columns} height={this.frame.height} onKey={this.onKey} />
      </FromHome>
    );
  }

  private compose(): void {
    this.frame.set(frameOf({ screen: this.screen, facts: this.facts }, this.size));
  }

  private readonly resized = (): void => this.draw();

  private get clocksMove(): boolean {
    if (this.screen === 'resume' || this.control === null || this.model.ending === 'over') return false;
    return this.state.running.size > 0 || this.state.reflecting !== null || !this.model.held;
  }

  private tick(): void {
    if (!this.clocksMove) return;
    const nowMs = performance.now();
    if (nowMs - this.movedAtMs < QUIET_AFTER_MS || nowMs - this.drawnAtMs >= QUIET_TICK_MS - 100) this.draw();
  }

  private draw(): void {
    if (this.closed) return;
    if (this.drawTimer !== null) clearTimeout(this.drawTimer);
    this.drawTimer = null;
    this.drawnAtMs = performance.now();
    const { columns, rows } = this.size;
    const height = this.frame.height;
    this.compose();
    const sameShape =
      columns === this.drawnSize.columns && rows === this.drawnSize.rows && height === this.frame.height;
    if (!sameShape) this.ink.rerender(this.app());
  }

  private drawSoon(): void {
    if (this.closed || this.drawTimer !== null) return;
    const waitMs = Math.max(0, this.drawnAtMs + FRAME_MS - performance.now());
    this.drawTimer = setTimeout(() => this.draw(), waitMs);
  }

  // -- keys and intents --------------------------------------------------------------------------------------------

  private readonly onKey = (key: KeyName): void => {
    this.movedAtMs = performance.now();
    const answer = this.screen === 'resume' ? answerOf(key) : null;
    if (answer !== null) this.answer?.(answer);
    else if (this.screen === 'run') this.send({ kind: 'key', key });
  };

  private send(message: RunMessage): void {
    const [model, intents] = reduceRun(this.model, message, contextOf(this.facts, this.size));
    this.model = model;
    for (const intent of intents) this.perform(intent);
    this.draw();
  }

  private perform(intent: RunIntent): void {
    try {
      this.carryOut(intent);
    } catch (e) {
      if (!(e instanceof SkilloptError)) throw e;
      this.say(`${e.failure.what}; ${e.failure.fix}`); // the log can't be written: the run ends by itself
    }
  }

  private carryOut(intent: RunIntent): void {
    switch (intent.kind) {
      case 'pause':
        this.control?.pause();
        break;
      case 'resume':
        this.control?.resume();
        break;
      case 'stop-after-step':
        this.control?.stopAfterStep(intent.wanted);
        break;
      case 'finish':
        this.control?.send({ kind: 'finish' });
        break;
      case 'stop':
        this.stopWanted = true;
        this.control?.stop();
        break;
      case 'end-now':
        endAllNow();
        this.leave();
        process.exit(INTERRUPTED);
        break;
      case 'close':
        this.closing?.();
        break;
      default:
        intent satisfies never;
    }
  }

  /** Leaves the alternate screen; what is written from here on stands in the normal one. */
  private leave(): void {
    if (this.closed) return;
    this.closed = true;
    this.forgetCrash();
    clearInterval(this.tickTimer);
    if (this.drawTimer !== null) clearTimeout(this.drawTimer);
    process.stdout.off('resize', this.resized);
    this.ink.unmount();
  }
}
