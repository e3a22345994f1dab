import { type Instance, render } from 'ink';
import type { LoggedEvent } from '../events/events.ts';
import type { RunState } from '../events/run-state.ts';
import { SkilloptError } from '../ports/failure.ts';
import type { ModelWait } from '../ports/model.ts';
import type { SessionControl } from '../ports/session.ts';
import { App, Opening } from '../tui/app.tsx';
import { FrameStore } from '../tui/frame-store.ts';
import type { KeyName } from '../tui/keys.ts';
import type { Facts } from '../tui/screens/run/facts.ts';
import type { Size } from '../tui/screens/run/layout.ts';
import {
  opening,
  type RunIntent,
  type RunMessage,
  type RunModel,
  reduceRun,
  startModel,
} from '../tui/screens/run/model.ts';
import type { Start } from '../tui/screens/start.ts';
import type * as Views from '../tui/views.ts';
import { endAtOnce, onEnd, onTerminalGone } from './crash.ts';
import { Notices } from './notices.ts';
import type * as PowerOf from './power-of.ts';
import { Root, throwUncaught } from './screen-root.tsx';
import type { Beginning, Following, Surface } from './surface.ts';
import { Waits } from './waits.ts';

/** Milliseconds between two frames that events ask for; keys and resizes are answered at once. */
const FRAME_MS = 66;
/** Milliseconds between two frames while only clocks move; and after nothing else has moved for a while. */
const TICK_MS = 1_000;
const QUIET_TICK_MS = 5_000;
const QUIET_AFTER_MS = 15_000;

/** Exit code of Ctrl-C pressed twice. */
const INTERRUPTED = 130;

export type LiveOptions = {
  /** Asks for the orderly stop; there need not be a session yet. */
  readonly stop: () => void;
  /** What is told on the normal screen, once that is back. */
  readonly tell: (text: string) => void;
};

/**
 * The live screen of a run: draws the read model, turns keys into intents and carries those out. All time and all
 * terminal is here; `tui` is a function of what it is given.
 */
export class LiveScreen implements Surface {
  private ink: Instance;
  private readonly frame = new FrameStore();
  private drawnSize: Size = { columns: 0, rows: 0 };
  /** What draws a session; loaded behind the first frame. */
  private views: typeof Views | null = null;
  private powerOf: typeof PowerOf.powerOf | null = null;
  /** Null = the session is not open yet. */
  private state: RunState | null = null;
  private following: Following = { finalizes: false, slowedMs: 0 };
  private model: RunModel = startModel;
  private screen: 'resume' | 'run' = 'run';
  /** A session that has not begun: its question, or what is done before it runs. */
  private start: Start | null = null;
  private readonly notices = new Notices();
  private noticeDrawn = '';
  private readonly waiting = new Waits(() => performance.now());
  private control: SessionControl<LoggedEvent, RunState> | null = null;
  private answer: ((goOn: boolean) => void) | null = null;
  private closing: (() => void) | null = null;
  private drawnAtMs = 0;
  /** When the last event or key came. */
  private movedAtMs = performance.now();
  private drawTimer: ReturnType<typeof setTimeout> | null = null;
  private readonly tickTimer: ReturnType<typeof setInterval>;
  private readonly release: readonly (() => void)[];
  private closed = false;

  constructor(private readonly o: LiveOptions) {
    // before Ink's own listener: a frame of the old size must not be drawn on the new one
    process.stdout.prependListener('resize', this.resized);
    this.ink = this.mount();
    this.tickTimer = setInterval(() => this.tick(), TICK_MS);
    process.on('SIGTSTP', this.suspend);
    process.on('SIGCONT', this.awake);
    this.release = [onEnd(() => this.leave()), onTerminalGone(() => this.gone())];
  }

  /** The first frame stands in the terminal, and what draws the others is loaded behind it. */
  async shown(): Promise<void> {
    await this.ink.waitUntilRenderFlush();
    const [views, { powerOf }] = await Promise.all([import('../tui/views.ts'), import('./power-of.ts')]);
    this.powerOf = powerOf;
    this.views = views;
  }

  say(text: string): void {
    this.notices.say(text);
    this.drawSoon();
  }

  async mayGoOn(state: RunState, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    this.state = state;
    this.screen = 'resume';
    const goOn = await this.answered(signal);
    this.screen = 'run';
    this.draw();
    return goOn;
  }

  async mayBegin({ title, estimate }: Beginning, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    this.start = { title, estimate, busy: null };
    const begins = await this.answered(signal);
    this.start = { title, estimate, busy: begins ? 'asking each model once …' : 'nothing was begun' };
    this.draw();
    return begins;
  }

  /** Draws the question and waits for a key that answers it. */
  private async answered(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.answer = resolve;
    const stopped = () => resolve(false);
    signal.addEventListener('abort', stopped, { once: true });
    this.draw();
    const answer = await promise;
    signal.removeEventListener('abort', stopped);
    this.answer = null;
    return answer;
  }

  follow(state: RunState, control: SessionControl<LoggedEvent, RunState>, o: Following): void {
    this.following = o;
    this.control = control;
    this.state = state;
    this.start = null;
    control.subscribe(() => {
      this.movedAtMs = performance.now();
      this.drawSoon();
    });
    this.draw();
  }

  waits(wait: ModelWait): void {
    if (this.waiting.add(wait)) this.drawSoon();
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
    for (const text of this.notices.taken()) this.o.tell(text);
  }

  // -- the terminal ------------------------------------------------------------------------------------------------

  private mount(): Instance {
    const ink = render(this.app(), {
      alternateScreen: true,
      exitOnCtrlC: false,
      incrementalRendering: true,
      interactive: true,
      patchConsole: false,
    });
    ink.waitUntilExit().catch(throwUncaught);
    return ink;
  }

  /** Leaves the alternate screen; what is written from here on stands in the normal one. */
  private leave(): void {
    if (this.closed) return;
    this.closed = true;
    for (const release of this.release) release();
    clearInterval(this.tickTimer);
    if (this.drawTimer !== null) clearTimeout(this.drawTimer);
    process.stdout.off('resize', this.resized);
    process.off('SIGTSTP', this.suspend);
    process.off('SIGCONT', this.awake);
    this.ink.unmount();
  }

  /** The terminal was closed: nobody sees the run, so it stops in order. */
  private gone(): void {
    this.leave();
    this.o.stop();
    this.answer?.(false);
    this.closing?.();
  }

  /** Put to sleep by ctrl+z or from outside: the shell gets its terminal as it was, until the process is awake again. */
  private readonly suspend = (): void => {
    if (this.closed) return;
    process.off('SIGCONT', this.awake);
    this.ink.unmount();
    process.kill(0, 'SIGSTOP'); // the group, as the terminal itself would; it goes on behind this line
    this.ink = this.mount();
    process.on('SIGCONT', this.awake);
  };

  /** Awake after a stop that nobody could hear of: whatever was drawn in between is drawn over. */
  private readonly awake = (): void => {
    if (this.closed) return;
    this.ink.unmount();
    this.ink = this.mount();
  };

  // -- drawing -----------------------------------------------------------------------------------------------------

  private get size(): Size {
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
  }

  private facts(state: RunState): Facts {
    return {
      state,
      model: this.model,
      paused: this.control?.isPaused ?? false,
      resumesAtMs: this.control?.resumesAtMs ?? null,
      finalizes: this.following.finalizes,
      nowMs: Date.now(),
      slowedMs: this.following.slowedMs,
      power: this.powerOf?.(state) ?? null,
      notice: this.noticeNow,
      waiting: this.waiting.text,
    };
  }

  private get noticeNow(): string {
    return this.notices.now(this.control === null);
  }

  private app() {
    this.drawnSize = this.size;
    this.compose();
    const { columns } = this.drawnSize;
    const inside =
      this.views === null ? (
        <Opening columns={columns} onKey={this.onKey} />
      ) : (
        <App frame={this.frame} width={columns} height={this.frame.height} onKey={this.onKey} />
      );
    return <Root onFault={throwUncaught}>{inside}</Root>;
  }

  private compose(): void {
    this.noticeDrawn = this.noticeNow;
    const { views, state, screen, start } = this;
    if (views === null) return;
    if (start !== null) this.frame.set(views.startFrame(start, this.size));
    else if (state === null) this.frame.set(views.openingFrame(this.size));
    else this.frame.set(views.frameOf({ screen, facts: this.facts(state) }, this.size));
  }

  private readonly resized = (): void => this.draw();

  private get clocksMove(): boolean {
    const { state } = this;
    if (this.screen === 'resume' || this.control === null || state === null || this.model.ending === 'over')
      return false;
    const stands = this.control.isPaused && this.control.resumesAtMs === null;
    return state.running.size > 0 || state.reflecting !== null || !stands;
  }

  private tick(): void {
    if (!this.clocksMove && this.noticeDrawn === this.noticeNow) return;
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
    const asks = this.screen === 'resume' || this.answer !== null;
    const answer = asks ? (this.views?.answerOf(key) ?? null) : null;
    if (answer !== null) this.answer?.(answer);
    else if (!asks) this.send({ kind: 'key', key });
  };

  private send(message: RunMessage): void {
    const { views, state } = this;
    const at = views === null || state === null ? opening : views.contextOf(this.facts(state), this.size);
    const [model, intents] = reduceRun(this.model, message, at);
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
    const { control } = this;
    const does: { readonly [K in RunIntent['kind']]: () => void } = {
      pause: () => control?.pause(),
      resume: () => control?.resume(),
      'stop-after-step': () => control?.stopAfterStep(intent.kind === 'stop-after-step' && intent.wanted),
      finish: () => control?.send({ kind: 'finish' }),
      stop: () => this.o.stop(),
      suspend: () => this.suspend(),
      'end-now': () => endAtOnce(INTERRUPTED),
      close: () => this.closing?.(),
    };
    does[intent.kind]();
  }
}
