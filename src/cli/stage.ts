import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from './io.ts';
import { stopOnSignals } from './signals.ts';
import type { Surface } from './surface.ts';
import { hasScreen, WATCHED_MS } from './terminal.ts';

/** Where a run will show itself: the surface, made as soon as it is wanted, and the signal of its orderly stop. */
export class Stage {
  private made: Promise<Surface> | null = null;
  readonly abort = new AbortController();
  /** There is a terminal that shows the live screen. */
  readonly isLive: boolean;

  constructor(
    private readonly io: Io,
    plain: boolean,
  ) {
    this.isLive = hasScreen(io, plain);
  }

  /** Milliseconds that the rehearsal's agent waits: where somebody watches it, a moment. */
  delayMs(wanted: number | undefined): number {
    return wanted ?? (this.isLive ? WATCHED_MS : 0);
  }

  /** Opens the surface, if it is not open yet. */
  surface(): Promise<Surface> {
    this.made ??= this.isLive ? this.screen() : this.lines();
    return this.made;
  }

  private async lines(): Promise<Surface> {
    const { plainSurface } = await import('./plain-surface.ts');
    return plainSurface(this.io);
  }

  /** Loaded only where there is a terminal. */
  private async screen(): Promise<Surface> {
    const { LiveScreen } = await import('./live-screen.tsx');
    const screen = new LiveScreen({ tell: this.io.line, stop: () => this.abort.abort() });
    await screen.shown();
    return screen;
  }

  /** The orderly stop, asked for by a signal. */
  private async stop(): Promise<void> {
    this.abort.abort();
    (await this.made)?.stopping();
  }

  /** Does a command's work; signals stop it in order, twice at once. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const release = stopOnSignals(() => {
      void this.stop();
    });
    try {
      return await work();
    } finally {
      await this.close('cut');
      release();
    }
  }

  /** Gives the terminal back, if it was taken. */
  async close(how: 'over' | 'cut'): Promise<void> {
    await (await this.made)?.close(how);
  }
}

/** A run that is new will need the screen whatever else is said: it is opened before the command line is read. */
export function beginsWithScreen(args: readonly string[]): boolean {
  const [command, ...rest] = args;
  if (rest.some((a) => ['-h', '--help', '-V', '--version'].includes(a))) return false;
  const named = rest.findLast((a, at) => !a.startsWith('-') && !rest[at - 1]?.startsWith('--'));
  if (rest.some((a) => a.includes('env.out_root='))) return false; // another directory tells whether it is
  const isNew = (dir: string) => !existsSync(join(dir, 'skillopt.jsonl'));
  if (command === 'demo') return isNew(named ?? 'skillopt-demo');
  return command === 'run' && existsSync(join(named ?? '.', 'skillopt.config.json')) && isNew(named ?? '.');
}
