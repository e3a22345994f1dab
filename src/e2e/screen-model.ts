import xterm, { type IBufferCell, type Terminal as Model } from '@xterm/headless';

// The model of a terminal's screen, and how its cells look.

/** A screen of this size, with what has run through it. */
export function screenModel(columns: number, rows: number): Model {
  const model = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 10_000 });
  measureAsTerminalsDo(model);
  return model;
}

/** How a piece of the screen looks. */
export type Style = {
  readonly coloured: boolean;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly inverse: boolean;
};

export function styleOf(cell: IBufferCell): Style {
  return {
    coloured: !cell.isFgDefault() || !cell.isBgDefault(),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
  };
}

/** The model's own table of widths is that of 2010, in which an emoji is as wide as a letter. */
function measureAsTerminalsDo(model: Model): void {
  const widths = new Map<number, 0 | 1 | 2>();
  const wcwidth = (code: number): 0 | 1 | 2 => {
    const known = widths.get(code);
    if (known !== undefined) return known;
    const width = Math.min(2, Bun.stringWidth(String.fromCodePoint(code))) as 0 | 1 | 2;
    widths.set(code, width);
    return width;
  };
  model.unicode.register({
    version: 'now',
    wcwidth,
    // bit 0: joins the cell before; bits 1 and 2: the width
    charProperties(code, before) {
      const width = wcwidth(code);
      const widthBefore = (before >> 1) & 3;
      const joins = width === 0 && widthBefore > 0;
      return ((joins ? widthBefore : width) << 1) | (joins ? 1 : 0);
    },
  });
  model.unicode.activeVersion = 'now';
}
