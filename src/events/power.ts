/** Effects that surfaces name, in percentage points of the mean pass rate on selection. */
export const EFFECTS = [5, 10, 20] as const;

/** What one gate of a session can tell, worked out from the seed's outcomes. Chances are 0…1, points whole percentage points. */
export type Power =
  | {
      readonly kind: 'told';
      /** The rule that the first gate goes by. */
      readonly rule: string;
      /** Selection tasks, and those of them with a scored outcome of the seed. */
      readonly tasks: number;
      readonly scored: number;
      /** How much outcomes of one task differ among themselves: seen where tasks have several, else a middle is taken. */
      readonly noise: 'measured' | 'assumed';
      /** Chance that a draft is kept that passes each task exactly as often as the seed does. */
      readonly neutral: number;
      /** Chance that a draft is kept that is worth so many points; null = the seed leaves no room for them. */
      readonly effects: readonly { readonly points: number; readonly chance: number | null }[];
      /** Fewest points that are found with a chance of at least a half, and of at least 0.8; null = no draft is. */
      readonly half: number | null;
      readonly likely: number | null;
      /** Even 20 points (or all that there is room for) are found in fewer than half of the gates. */
      readonly underpowered: boolean;
      /** Of an underpowered one: tasks like these that find 20 points with a chance of 0.8; null = no number of them does. */
      readonly enough?: number | null;
    }
  | { readonly kind: 'untold'; readonly why: string };

/** `a neutral draft is kept in about 24 % of gates; +10 points are found in 69 %, +20 in 95 %; below +6 points …` */
export function powerText(p: Power): string {
  if (p.kind === 'untold') return `not told: ${p.why}`;
  const about = p.noise === 'assumed' && p.neutral >= 0.01 ? 'about ' : '';
  return [`a neutral draft is kept in ${about}${percent(p.neutral)} of gates`, foundText(p), limitText(p)]
    .filter(Boolean)
    .join('; ');
}

/** What the figures rest on; empty = there are none. */
export function powerBasis(p: Power): string {
  if (p.kind === 'untold') return '';
  const gate = `One gate by ${p.rule}, judged by the seed’s outcomes on ${p.scored} of ${p.tasks} selection tasks.`;
  return p.noise === 'measured'
    ? gate
    : `${gate} It ran once on each, so how noisy tasks are is assumed: figures may be up to about 10 points off.`;
}

type Told = Extract<Power, { readonly kind: 'told' }>;

/** The large effects that there is room for, else the largest one. */
function foundText(p: Told): string {
  const possible = p.effects.flatMap(({ points, chance }) => (chance === null ? [] : [{ points, chance }]));
  const large = possible.filter((e) => e.points >= 10);
  const [first, ...more] = large.length > 0 ? large : possible.slice(-1);
  if (first === undefined) return `the seed leaves no room for +${EFFECTS[0]} points`;
  return [
    `+${first.points} points are found in ${percent(first.chance)}`,
    ...more.map((e) => `+${e.points} in ${percent(e.chance)}`),
  ].join(', ');
}

function limitText(p: Told): string {
  if (!p.underpowered) return p.half === null || p.half <= 1 ? '' : `below +${p.half} points a gate mostly can’t tell`;
  const most = p.effects.findLast((e) => e.chance !== null);
  return most !== undefined && most.points === EFFECTS.at(-1)
    ? `underpowered: even +${most.points} points are mostly missed`
    : 'underpowered: even the most that there is room for is mostly missed';
}

function percent(chance: number): string {
  if (chance < 0.01) return 'under 1 %';
  if (chance > 0.99) return 'over 99 %';
  return `${Math.round(100 * chance)} %`;
}
