import type { IBufferCell, Terminal as Model } from '@xterm/headless';
import { atEnd, binary, type Place, type RunOptions } from './binary.ts';
import { FrameWatch, SETTLE_MS } from './frame-watch.ts';
import { type Style, screenModel, styleOf } from './screen-model.ts';
import { type KeyName, keys } from './tty.ts';

// The built binary in a terminal, as tests use it: a real process on a PTY, and a model of the screen that it draws on.

/** Longest time that a test waits for something to appear, or for the end. */
const DEADLINE_MS = 60_000;

/** Programs tell a lone ESC from the beginning of a longer key by the time that passes until the next byte. */
const ESC_MS = 30;

/** How long a program may take to answer a key before the next one is pressed all the same. */
const KEY_MS = 100;

/** The flag of the tty by which it hands over whole lines. */
const ICANON = process.platform === 'darwin' ? 0x100 : 0x2;

export type TerminalOptions = RunOptions & {
  /** Default 80. */
  readonly columns?: number;
  /** Default 24. */
  readonly rows?: number;
  /** How long a frame that fits may take after a change of size, in ms. */
  readonly settleMs?: number;
};

/** How a process in a terminal came to its end. */
export type TerminalEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** What is to stand on the screen: a text, a pattern, or whatever a function makes of it. */
export type Wanted = string | RegExp | ((screen: string) => boolean);

/**
 * A process on a PTY of its own. `close` ends it with all that it has started in its group, and fails when a frame did
 * not fit the terminal (see `FrameWatch`); use it by `await using`.
 */
export class Terminal implements AsyncDisposable {
  readonly pid: number;
  readonly ended: Promise<TerminalEnd>;
  private readonly model: Model;
  private readonly watch: FrameWatch;
  private readonly child: Bun.Subprocess;
  private written = '';
  private isCursorVisible = true;
  private isOver = false;

  private constructor(command: readonly string[], options: Required<TerminalOptions>) {
    const { columns: cols, rows, cwd } = options;
    this.model = screenModel(cols, rows);
    this.watch = new FrameWatch(this.model, options.settleMs);
    for (const [final, visible] of [
      ['h', true],
      ['l', false],
    ] as const)
      this.model.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
        if (params.includes(25)) this.isCursorVisible = visible;
        return false;
      });
    const decoder = new TextDecoder();
    const hungUp = Promise.withResolvers<void>();
    this.child = Bun.spawn([...command], {
      cwd,
      env: { TERM: 'xterm-256color', LANG: 'C.UTF-8', ...options.env },
      terminal: {
        cols,
        rows,
        data: (_pty, bytes) => {
          const piece = decoder.decode(bytes, { stream: true });
          this.written += piece;
          this.model.write(piece);
        },
        exit: () => hungUp.resolve(),
      },
    });
    this.pid = this.child.pid;
    this.model.onData((answer) => this.send(answer)); // a terminal answers when it is asked where its cursor is
    this.ended = this.end(hungUp.promise);
    this.ended.catch(() => {}); // told to whoever awaits it
    atEnd(() => this.killAll());
  }

  /** Starts `skillopt ARGS` in a place. */
  static open(place: Place, args: readonly string[], options: TerminalOptions = {}): Terminal {
    return Terminal.command(place, [binary, ...args], options);
  }

  /** Starts a line of sh in a place, with the binary as `$SKILLOPT`. */
  static shell(place: Place, line: string, options: TerminalOptions = {}): Terminal {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TMPDIR: place.temp, SKILLOPT: binary, ...options.env };
    return Terminal.command(place, ['/bin/sh', '-c', line], { ...options, env });
  }

  static command(place: Place, command: readonly string[], options: TerminalOptions = {}): Terminal {
    const defaults = { columns: 80, rows: 24, settleMs: SETTLE_MS, cwd: place.dir, env: { TMPDIR: place.temp } };
    return new Terminal(command, { ...defaults, ...options });
  }

  private async end(hungUp: Promise<void>): Promise<TerminalEnd> {
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      this.killAll();
    }, DEADLINE_MS);
    const code = await this.child.exited;
    await hungUp; // all that it wrote has come
    clearTimeout(deadline);
    this.isOver = true;
    await this.parsed();
    if (late) throw new Error(`it did not end in time\n${await this.text()}`);
    const signal = this.child.signalCode as NodeJS.Signals | null;
    return { code: signal === null ? code : null, signal };
  }

  /** Has it ended? */
  readonly over = (): boolean => this.isOver;

  /** All that it has written so far, escape sequences and all. */
  get output(): string {
    return this.written;
  }

  get columns(): number {
    return this.model.cols;
  }

  get rows(): number {
    return this.model.rows;
  }

  /** The rows of the visible screen, without blanks at their ends. */
  async lines(): Promise<readonly string[]> {
    await this.parsed();
    const { active } = this.model.buffer;
    return Array.from(
      { length: this.model.rows },
      (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '',
    );
  }

  /** The visible screen as one text, without empty rows at its end. */
  async text(): Promise<string> {
    return (await this.lines()).join('\n').trimEnd();
  }

  /** What has run through the primary screen and what stands on it, a long line as one. */
  async history(): Promise<string> {
    await this.parsed();
    const { normal } = this.model.buffer;
    let text = '';
    for (let y = 0; y < normal.length; y++) {
      const line = normal.getLine(y);
      text += `${y === 0 || line?.isWrapped ? '' : '\n'}${line?.translateToString(!normal.getLine(y + 1)?.isWrapped) ?? ''}`;
    }
    return text.trimEnd();
  }

  /** Waits until the visible screen holds it, and returns that screen. */
  async waitFor(wanted: Wanted, deadlineMs = DEADLINE_MS): Promise<string> {
    const holds = holdsFor(wanted);
    const end = performance.now() + deadlineMs;
    for (;;) {
      const wasOver = this.isOver;
      const screen = await this.text();
      if (holds(screen)) return screen;
      if (wasOver || performance.now() > end)
        throw new Error(
          `${wasOver ? 'it ended' : 'waited in vain'} before the screen held ${String(wanted)}\n--- ${this.columns}×${this.rows} ---\n${screen}\n---`,
        );
      await soon();
    }
  }

  /** Presses keys by name, one after the other. */
  async press(...names: readonly KeyName[]): Promise<void> {
    for (const name of names) {
      await this.stroke(keys[name]);
      if (name === 'esc') await new Promise((next) => setTimeout(next, ESC_MS));
    }
  }

  /** Types a text letter by letter, as a hand does. */
  async type(text: string): Promise<void> {
    for (const letter of text) await this.stroke(letter);
  }

  /** One key, and the answer to it if there is one: keys that come together are read as one piece. */
  private async stroke(bytes: string): Promise<void> {
    const startMs = performance.now();
    // a screen is drawn before its program listens: until then the system itself would answer the key
    while (this.onAlternateScreen && this.isCanonical && performance.now() - startMs < DEADLINE_MS) await soon();
    const { length } = this.written;
    this.send(bytes);
    const sentMs = performance.now();
    while (this.written.length === length && performance.now() - sentMs < KEY_MS) await soon();
  }

  /** Does the system still put lines together before the program sees them? */
  private get isCanonical(): boolean {
    return !this.isOver && ((this.child.terminal?.localFlags ?? 0) & ICANON) !== 0;
  }

  /** Hands over a text in one piece, as a terminal does when something is pasted. */
  paste(text: string): void {
    const inner = text.replaceAll('\n', '\r');
    this.send(this.model.modes.bracketedPasteMode ? `\x1b[200~${inner}\x1b[201~` : inner);
  }

  private send(bytes: string): void {
    if (!this.isOver) this.child.terminal?.write(bytes);
  }

  /** Gives the terminal another size; the program is told by the system. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.parsed();
    this.model.resize(columns, rows);
    this.watch.resized();
    this.child.terminal?.resize(columns, rows);
  }

  /** Resolves when a frame of the size has come. */
  settled(): Promise<void> {
    return this.watch.settled(this.over);
  }

  get onAlternateScreen(): boolean {
    return this.model.buffer.active.type === 'alternate';
  }

  get cursorVisible(): boolean {
    return this.isCursorVisible;
  }

  /** False: the mouse is the terminal's own. */
  get mouseTaken(): boolean {
    return this.model.modes.mouseTrackingMode !== 'none';
  }

  get takesPastes(): boolean {
    return this.model.modes.bracketedPasteMode;
  }

  /** How the first place of a text on the screen looks; null = it does not stand there. */
  async styleOf(text: string): Promise<Style | null> {
    const rows = await this.cells();
    for (const row of rows) {
      const at = row
        .map((cell) => cell.chars || ' ')
        .join('')
        .indexOf(text);
      if (at < 0) continue;
      let length = 0;
      for (const cell of row) {
        if (length >= at) return cell.style;
        length += (cell.chars || ' ').length;
      }
    }
    return null;
  }

  /** Does any cell of the visible screen have a colour? */
  async isColoured(): Promise<boolean> {
    return (await this.cells()).some((row) => row.some((cell) => cell.style.coloured));
  }

  private async cells(): Promise<readonly (readonly { readonly chars: string; readonly style: Style }[])[]> {
    await this.parsed();
    const { active } = this.model.buffer;
    return Array.from({ length: this.model.rows }, (_, y) => {
      const line = active.getLine(active.baseY + y);
      return Array.from({ length: this.model.cols }, (_, x) => line?.getCell(x))
        .filter((cell) => cell !== undefined && cell.getWidth() > 0)
        .map((cell) => ({ chars: cell?.getChars() ?? '', style: styleOf(cell as IBufferCell) }));
    });
  }

  private parsed(): Promise<void> {
    return new Promise((done) => this.model.write('', done));
  }

  /** Closes the terminal, as a user closes a window: the system tells whoever sits at it. */
  hangUp(): void {
    this.child.terminal?.close();
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  private killAll(): void {
    if (this.isOver) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // it is gone already
    }
  }

  /** Ends what still runs; fails when a frame did not fit the terminal. */
  async close(): Promise<void> {
    await this.settled();
    this.killAll();
    await this.ended;
    this.child.terminal?.close();
    this.model.dispose();
    const { faults } = this.watch;
    if (faults.length > 0) throw new Error(`a frame did not fit the terminal\n${faults.join('\n')}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const soon = () => new Promise<void>((next) => setTimeout(next, 2));

function holdsFor(wanted: Wanted): (screen: string) => boolean {
  if (typeof wanted === 'string') return (screen) => screen.includes(wanted);
  return wanted instanceof RegExp ? (screen) => wanted.test(screen) : wanted;
}
