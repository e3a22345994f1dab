import type { Edit } from '../ports/edit.ts';
import type { Ask, ProposeAsk } from '../ports/engine.ts';
import { type Outcome, scored, unscored } from '../ports/outcome.ts';
import { type Drawn, type Hint, harmLine, noteLine, RulebookWorld, unit, type WorldConfig } from './rulebook-world.ts';

/** A habit that departs from the plain world: of its tasks, of its machinery, or of its optimizer. */
export type Habit =
  /** A third of the rules work only together with another one. */
  | 'partner rules'
  /** The same needs in groups of three tasks. */
  | 'tasks in threes'
  /** An edit cites failing tasks at random. */
  | 'random citations'
  /** With this chance an edit is one that failed its screening before. */
  | 'repeats 0.3'
  | 'repeats 0.6'
  /** Half of the useless edits fix exactly the train task that they were drawn from. */
  | 'overfitting'
  /** Half of the useful edits cut every task's failures by a tenth. */
  | 'general advice'
  /** Remarks and harmful lines come from small sets, and so come again word for word. */
  | 'fillers repeat'
  /** Of every 160 rollouts 20 in a row end without a score, or 12 in a row fail. */
  | 'bursts lost'
  | 'bursts failed'
  /** A bad removal names one of the same two rules each time. */
  | 'bad removals alike'
  /** No removal is asked for twice. */
  | 'removals once';

/** The worlds on which a rule has to hold: a name, what differs in the numbers, and a habit. */
export const variants: readonly (readonly [string, Partial<WorldConfig>, Habit?])[] = [
  ['default', {}],
  ['one rule per task', { needs: [1] }],
  ['two or three rules per task', { needs: [0, 0.6, 0.4] }],
  ['seed already 70 %', { stated: 0.7 }],
  ['seed without harm', { harms: 0 }],
  ['seed with three harmful lines', { harms: 3 }],
  ['good optimizer', { offers: [0.5, 0.4, 0.1] }],
  ['poor optimizer', { offers: [0.2, 0.4, 0.4] }],
  ['an edit per failing task', { failingPerEdit: 1 }],
  ['10 % errors', { infra: 0.1 }],
  ['noise 0.85/0.2', { pHi: 0.85, pLo: 0.2 }],
  ...(
    [
      'partner rules',
      'tasks in threes',
      'random citations',
      'repeats 0.3',
      'repeats 0.6',
      'overfitting',
      'general advice',
      'fillers repeat',
      'bursts lost',
      'bursts failed',
      'bad removals alike',
      'removals once',
    ] as const
  ).map((habit) => [habit, {}, habit] as const),
];

const adviceLine = (j: number) => `ADVICE ${j}: look twice at point ${j}.`;
const fixLine = (task: string) => `FIX ${task}: its answer is known.`;

/** The rulebook world with a habit. Answers depend on the order of rollouts only where a habit says so. */
export class VariantWorld extends RulebookWorld {
  private rollouts = 0;
  private readonly removed = new Set<string>();

  constructor(
    config: WorldConfig,
    private readonly habit?: Habit,
  ) {
    super(config);
    if (habit !== 'tasks in threes') return;
    for (const split of ['train', 'selection', 'test'] as const)
      for (let i = 0; i < config[split]; i++)
        this.needs.set(`${split}-${i}`, this.needs.get(`${split}-${i - (i % 3)}`) ?? []);
  }

  protected override missing(text: string, task: string): readonly number[] {
    if (this.habit === 'overfitting' && text.includes(fixLine(task))) return [];
    if (this.habit !== 'partner rules') return super.missing(text, task);
    const { covered } = this.parse(text);
    const needs = this.needs.get(task) ?? [];
    return [...new Set([...needs, ...needs.flatMap((k) => this.partner(k))])].filter((k) => !covered.has(k));
  }

  private partner(k: number): number[] {
    const { seed, rules } = this.config;
    return unit('partnered', seed, k) < 1 / 3 ? [Math.floor(unit('partner', seed, k) * rules)] : [];
  }

  protected override lifted(p: number, text: string): number {
    if (this.habit !== 'general advice') return p;
    return 1 - (1 - p) * 0.9 ** (text.match(/^ADVICE /gm)?.length ?? 0);
  }

  override outcome(ask: Ask, text: string): Outcome {
    const at = this.rollouts++ % 160;
    if (this.habit === 'bursts lost' && at >= 140) return unscored('environment', 'lost');
    if (this.habit === 'bursts failed' && at >= 148) return scored({ reward: 0 }, 0, 1, { read: true });
    return super.outcome(ask, text);
  }

  override propose(ask: ProposeAsk, draft: string, textOf: (rollout: string) => string): readonly Edit[] {
    const edits = super.propose(ask, draft, textOf);
    if (this.habit !== 'random citations') return edits;
    const order = (i: number) => (a: string, b: string) =>
      unit('cite', this.config.seed, ask.key, i, a) - unit('cite', this.config.seed, ask.key, i, b);
    return edits.map((e, i) => ({
      ...e,
      cites: ask.failing
        .map((f) => f.task)
        .sort(order(i))
        .slice(0, 3),
    }));
  }

  protected override one(text: string, hints: readonly Hint[], rnd: () => number, ask: ProposeAsk): Drawn {
    const e = super.one(text, hints, rnd, ask);
    const append = (content: string): Drawn => ({ op: 'append_section', target: '', content });
    const isFiller = e.content.startsWith('NOTE ');
    switch (this.habit) {
      case 'repeats 0.3':
      case 'repeats 0.6': {
        const failed = ask.tried.filter((t) => t.fate === 'failed-screening');
        const again = failed[Math.floor(rnd() * failed.length)]?.edit;
        return again && rnd() < (this.habit === 'repeats 0.3' ? 0.3 : 0.6) ? again : e;
      }
      case 'overfitting':
        return isFiller && rnd() < 0.5 ? append(fixLine(hints[Math.floor(rnd() * hints.length)]?.task ?? '')) : e;
      case 'general advice': {
        const isUseful = e.content.startsWith('RULE ') || e.target.startsWith('HARM ');
        return isUseful && rnd() < 0.5 ? append(adviceLine(Math.floor(rnd() * 999000))) : e;
      }
      case 'fillers repeat':
        if (isFiller) return append(noteLine(2000 + Math.floor(rnd() * 20)));
        return e.content.startsWith('HARM ') ? append(harmLine(3000 + Math.floor(rnd() * 10))) : e;
      case 'bad removals alike': {
        const two = text.split('\n').filter((line) => line.startsWith('RULE '));
        const target = two[Math.floor(rnd() * Math.min(2, two.length))];
        return e.op === 'delete' && e.target.startsWith('RULE ') && target ? { ...e, target } : e;
      }
      case 'removals once':
        if (e.op !== 'delete') return e;
        if (this.removed.has(e.target)) return append(noteLine(1000 + Math.floor(rnd() * 999000)));
        this.removed.add(e.target);
        return e;
      default:
        return e;
    }
  }
}
