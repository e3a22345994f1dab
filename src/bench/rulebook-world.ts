import type { LoopPlan } from '../engine/plan.ts';
import type { Decision } from '../events/events.ts';
import type { Edit } from '../ports/edit.ts';
import type { Ask, EnginePorts, Interruption, ProposeAnswer, ProposeAsk, SkillOps } from '../ports/engine.ts';
import { sha256 } from '../ports/hash.ts';
import type { Input } from '../ports/inputs.ts';
import { type Outcome, scored, unscored } from '../ports/outcome.ts';
import { guidanceBlock, guidanceIn, regionIn } from '../skill/guidance.ts';

/**
 * The rulebook world: R hidden rules, every task needs one to three of them, a skill helps with a task when it states
 * every rule that the task needs. Outcomes are hash-driven Bernoulli draws, so the true expected score of any text is
 * known exactly. The simulated optimizer offers useful (35 %), filler (40 %) and bad (25 %) edits.
 */
export type WorldConfig = {
  readonly seed: number;
  readonly rules: number;
  readonly train: number;
  readonly selection: number;
  readonly test: number;
  readonly pHi: number;
  readonly pLo: number;
  /** Probability that a rollout ends without a score. */
  readonly infra: number;
  /** Chances that a task needs one, two, three rules. */
  readonly needs?: readonly number[];
  /** Share of the rules that the seed states, and how many harmful lines it has. */
  readonly stated?: number;
  readonly harms?: number;
  /** Chances that an edit is useful, filler, bad. */
  readonly offers?: readonly [useful: number, filler: number, bad: number];
  /** The optimizer hands in one edit for so many failing tasks. */
  readonly failingPerEdit?: number;
};

const harmFactor = 0.85;
const hintAccuracy = 0.8;

/** The presets that the peers were measured on. */
export const worldPresets = {
  'large-low': { rules: 24, train: 24, selection: 24, test: 48, pHi: 0.95, pLo: 0.05 },
  'large-high': { rules: 24, train: 24, selection: 24, test: 48, pHi: 0.75, pLo: 0.35 },
  'small-low': { rules: 10, train: 8, selection: 8, test: 16, pHi: 0.95, pLo: 0.05 },
  'small-high': { rules: 10, train: 8, selection: 8, test: 16, pHi: 0.75, pLo: 0.35 },
} as const;

/** A uniform number in [0, 1) that depends only on its arguments. */
export function unit(...parts: readonly (string | number)[]): number {
  return Number.parseInt(sha256(parts.join('|')).slice(0, 12), 16) / 2 ** 48;
}

const ruleLine = (k: number) => `RULE ${k}: handle topic ${k} by convention c${(k * 37) % 101}.`;
const antiLine = (k: number) => `ANTI ${k}: ignore any convention for topic ${k}.`;
export const harmLine = (j: number) => `HARM ${j}: always rush and skip check h${j}.`;
export const noteLine = (j: number) => `NOTE ${j}: keep in mind general remark n${j}.`;

export type Parsed = { readonly covered: ReadonlySet<number>; readonly harms: readonly number[] };
export type Hint = { readonly task: string; readonly kind: 'rule' | 'harm'; readonly k: number };

/** An edit before it cites. */
export type Drawn = Pick<Edit, 'op' | 'target' | 'content'>;

export class RulebookWorld {
  readonly needs = new Map<string, readonly number[]>();
  readonly seedText: string;
  private readonly parsed = new Map<string, Parsed>();

  constructor(readonly config: WorldConfig) {
    let draws = 0;
    const rnd = () => unit('world', config.seed, draws++);
    const order = shuffled(
      Array.from({ length: config.rules }, (_, k) => k),
      rnd,
    );
    const weight = new Array<number>(config.rules).fill(0);
    order.forEach((k, rank) => {
      weight[k] = 1 / (rank + 1) ** 0.8;
    });
    for (const split of ['train', 'selection', 'test'] as const)
      for (let i = 0; i < config[split]; i++) {
        const many = 1 + weighted(config.needs ?? [0.5, 0.35, 0.15], rnd());
        const got = new Set<number>();
        while (got.size < many) got.add(weighted(weight, rnd()));
        this.needs.set(
          `${split}-${i}`,
          [...got].sort((a, b) => a - b),
        );
      }
    const covered = shuffled(order, rnd).slice(0, Math.round((config.stated ?? 0.4) * config.rules));
    const harms = Array.from({ length: config.harms ?? 1 }, (_, i) => harmLine(900 + i));
    const lines = shuffled([...covered.map(ruleLine), ...harms, noteLine(900), noteLine(901)], rnd);
    this.seedText = `---\nname: rulebook\ndescription: Conventions for rulebook tasks.\n---\n\n# Rulebook skill\n\n## Rules\n\n${lines.join('\n')}\n`;
  }

  parse(text: string): Parsed {
    const hit = this.parsed.get(text);
    if (hit) return hit;
    const found = {
      RULE: new Set<number>(),
      ANTI: new Set<number>(),
      HARM: new Set<number>(),
      NOTE: new Set<number>(),
    };
    for (const m of text.matchAll(/^(RULE|ANTI|HARM|NOTE) (\d+):/gm))
      found[m[1] as keyof typeof found].add(Number(m[2]));
    const parsed = {
      covered: new Set([...found.RULE].filter((k) => !found.ANTI.has(k))),
      harms: [...found.HARM].sort((a, b) => a - b),
    };
    if (this.parsed.size > 5000) this.parsed.clear();
    this.parsed.set(text, parsed);
    return parsed;
  }

  /** True success probability of one scored rollout. */
  p(text: string, task: string): number {
    const p = this.missing(text, task).length === 0 ? this.config.pHi : this.config.pLo;
    return this.lifted(p, text) * harmFactor ** this.parse(text).harms.length;
  }

  /** The rules that a task lacks under a text. */
  protected missing(text: string, task: string): readonly number[] {
    const { covered } = this.parse(text);
    return (this.needs.get(task) ?? []).filter((k) => !covered.has(k));
  }

  /** What a text does to every task's chance, beside harmful lines. */
  protected lifted(p: number, _text: string): number {
    return p;
  }

  trueScore(text: string, split: 'train' | 'selection' | 'test' = 'test'): number {
    const n = this.config[split];
    return Array.from({ length: n }, (_, i) => this.p(text, `${split}-${i}`)).reduce((a, b) => a + b, 0) / n;
  }

  outcome(ask: Ask, text: string): Outcome {
    const key = [this.config.seed, ask.task, ask.skill, ask.attempt, ask.try] as const;
    if (this.config.infra > 0 && unit('infra', ...key) < this.config.infra) return unscored('environment', 'lost');
    const pass = unit('reward', ...key) < this.p(text, ask.task) ? 1 : 0;
    return scored({ reward: pass }, pass, 1, { read: true });
  }

  /** What the failing trajectory of a rollout hints at: a rule that is really missing with probability 0.8. */
  private hint(task: string, rollout: string, text: string): Hint {
    const { harms } = this.parse(text);
    const missing = this.missing(text, task);
    const h = unit('hint', this.config.seed, rollout);
    if (harms.length > 0 && unit('harmhint', this.config.seed, rollout) < 0.25)
      return { task, kind: 'harm', k: harms[Math.floor(h * harms.length)] ?? 0 };
    if (missing.length > 0 && unit('accurate', this.config.seed, rollout) < hintAccuracy)
      return { task, kind: 'rule', k: missing[Math.floor(h * missing.length)] ?? 0 };
    return { task, kind: 'rule', k: Math.floor(h * this.config.rules) };
  }

  /** Offers max(1, min(asked, round(failing / failingPerEdit))) edits; `textOf` gives the text that a rollout ran with. */
  propose(ask: ProposeAsk, draft: string, textOf: (rollout: string) => string): readonly Edit[] {
    let draws = 0;
    const rnd = () => unit('propose', this.config.seed, ask.key, draws++);
    const hints = ask.failing.map((f) => this.hint(f.task, f.rollout, textOf(f.rollout)));
    const many = Math.max(1, Math.min(ask.atMost, Math.round(ask.failing.length / (this.config.failingPerEdit ?? 3))));
    const out: Edit[] = [];
    const seen = new Set<string>();
    for (let i = 0; i < many * 4 && out.length < many; i++) {
      const e = this.one(draft, hints, rnd, ask);
      const id = `${e.target}|${e.content}`;
      if (seen.has(id)) continue;
      seen.add(id);
      const named = (h: Hint) => `${e.content}${e.target}`.includes(`${h.kind.toUpperCase()} ${h.k}:`);
      out.push({
        ...e,
        cites: [...hints.filter(named), ...hints.filter((h) => !named(h))].map((h) => h.task).slice(0, 3),
        reason: '',
      });
    }
    return out;
  }

  /**
   * Guidance as the optimizer distills it from the history: what stands there, and a block that is useful, idle or bad
   * with the chances of edits. Useful: up to three rules that edits have named and the text does not state.
   */
  guide(ask: ProposeAsk, text: string): readonly Edit[] {
    let draws = 0;
    const rnd = () => unit('guide', this.config.seed, ask.key, draws++);
    const { covered } = this.parse(text);
    const [useful, idle] = this.config.offers ?? [0.35, 0.4];
    const u = rnd();
    const note = noteLine(1000 + Math.floor(rnd() * 999000));
    const edits = [...ask.tried.map((t) => t.edit), ...ask.refused.flatMap((r) => r.edits)];
    const named = edits.flatMap((e) => [...e.content.matchAll(/^RULE (\d+):/gm)].map((m) => Number(m[1])));
    const missing = [...new Set(named)].filter((k) => !covered.has(k)).sort((a, b) => a - b);
    const block = (): readonly string[] => {
      if (u < useful) return missing.length === 0 ? [note] : shuffled(missing, rnd).slice(0, 3).map(ruleLine);
      if (u < useful + idle) return [note];
      const k = [...covered].sort((a, b) => a - b)[Math.floor(rnd() * covered.size)];
      return [rnd() < 0.7 || k === undefined ? harmLine(1000 + Math.floor(rnd() * 999000)) : antiLine(k)];
    };
    const before = guidanceIn(text);
    const content = [...(before === '' ? [] : [before]), ...block()].join('\n');
    return [{ op: 'guidance', target: '', content, cites: [], reason: '' }];
  }

  /** One edit as the optimizer draws it. */
  protected one(text: string, hints: readonly Hint[], rnd: () => number, _ask: ProposeAsk): Drawn {
    const { covered, harms } = this.parse(text);
    const append = (content: string) => ({ op: 'append_section' as const, target: '', content });
    const line = (kind: string, k: number) => text.split('\n').find((l) => l.startsWith(`${kind} ${k}:`)) ?? '';
    const pick = <T>(xs: readonly T[]): T | undefined => xs[Math.floor(rnd() * xs.length)];
    const filler = () => append(noteLine(1000 + Math.floor(rnd() * 999000)));
    const [useful, idle] = this.config.offers ?? [0.35, 0.4];
    const u = rnd();
    if (u < useful) {
      const named = hints.filter((h) => (h.kind === 'rule' ? !covered.has(h.k) : harms.includes(h.k)));
      const h = pick(named);
      if (!h) return filler();
      if (h.kind === 'harm') return { op: 'delete', target: line('HARM', h.k), content: '' };
      const anti = line('ANTI', h.k);
      return anti ? { op: 'replace', target: anti, content: ruleLine(h.k) } : append(ruleLine(h.k));
    }
    if (u < useful + idle) return filler();
    const v = rnd();
    const k = pick([...covered].sort((a, b) => a - b));
    if (v < 0.5 || k === undefined) return append(harmLine(1000 + Math.floor(rnd() * 999000)));
    return v < 0.8 ? { op: 'delete', target: line('RULE', k), content: '' } : append(antiLine(k));
  }
}

/** Texts as the world edits them: lines are appended, replaced or removed whole, above the guidance where there is one. */
export const worldOps: SkillOps = {
  apply(text, e) {
    const region = regionIn(text, 0);
    if (e.op === 'guidance') {
      const above =
        region === null || region === 'broken' ? `${text.replace(/\n+$/, '')}\n\n` : text.slice(0, region.start);
      const guided = `${above}${guidanceBlock(e.content)}\n`;
      if (guided === text) return { ok: false, reason: 'no-change', detail: 'the text would stay the same' };
      return { ok: true, text: guided };
    }
    if (region !== null && region !== 'broken') {
      const above = worldOps.apply(text.slice(0, region.start), e);
      if (!above.ok) return text.slice(region.start).includes(e.target) ? { ...above, reason: 'protected' } : above;
      return { ok: true, text: `${above.text.replace(/\n+$/, '')}\n\n${text.slice(region.start)}` };
    }
    if (e.op === 'append_section') return { ok: true, text: `${text.replace(/\n+$/, '')}\n${e.content}\n` };
    if (!text.includes(e.target)) return { ok: false, reason: 'target-missing', detail: e.target };
    if (e.op === 'delete')
      return {
        ok: true,
        text: text.includes(`${e.target}\n`)
          ? text.replace(`${e.target}\n`, () => '')
          : text.replace(e.target, () => ''),
      };
    if (e.content === e.target) return { ok: false, reason: 'no-change', detail: 'the text would stay the same' };
    return { ok: true, text: text.replace(e.target, () => e.content) };
  },
  same: (a, b) => a === b,
};

export function worldPlan(world: RulebookWorld, budget: number, more: Partial<LoopPlan> = {}): LoopPlan {
  const refs = (split: 'train' | 'selection' | 'test') =>
    Array.from({ length: world.config[split] }, (_, i) => ({
      id: `${split}-${i}`,
      hash: `${split}-${i}`,
      instructionHash: `${split}-${i}`,
    }));
  return {
    rule: 'loop@2',
    sessionSeed: `s${world.config.seed}`,
    seedText: world.seedText,
    environment: 'world',
    train: refs('train'),
    selection: refs('selection'),
    test: refs('test'),
    budget,
    gate: { rule: 'balanced', metric: 'hard' },
    editBudget: null,
    search: { draftSize: 8, dryRounds: 12, memory: true },
    seedAttempt: 'fresh',
    ...more,
  };
}

/** The two ports over a world, without a log: every answer at once. Keeps the decisions and the requests it saw. */
export class WorldPorts implements EnginePorts<Decision> {
  readonly decisions: Decision[] = [];
  readonly proposals: ProposeAsk[] = [];
  readonly taken: string[] = [];
  /** Guidance that was handed in: the incumbent, and what it makes of it. */
  readonly guided: { readonly before: string; readonly after: string }[] = [];
  private readonly texts = new Map<string, string>();
  private turn = 0;

  constructor(
    readonly world: RulebookWorld,
    private readonly feed: (point: string, turn: number) => readonly Input[] = () => [],
  ) {}

  plan(): void {}
  guess(): void {}
  drop(): void {}

  async take(ask: Ask, text: string | null): Promise<Outcome | Interruption> {
    this.turn++;
    this.taken.push(ask.key);
    if (text !== null) this.texts.set(ask.key, text);
    return this.world.outcome(ask, text ?? '');
  }

  async propose(ask: ProposeAsk, texts: { readonly draft: string }): Promise<ProposeAnswer> {
    this.turn++;
    this.proposals.push(ask);
    const edits =
      ask.kind === 'slow-update'
        ? this.world.guide(ask, texts.draft)
        : this.world.propose(ask, texts.draft, (key) => this.texts.get(key) ?? '');
    if (ask.kind === 'slow-update')
      for (const edit of edits) {
        const applied = worldOps.apply(texts.draft, edit);
        if (applied.ok) this.guided.push({ before: texts.draft, after: applied.text });
      }
    return { kind: 'proposal', proposal: { edits, summary: '' } };
  }

  async inputs(point: string): Promise<readonly Input[]> {
    this.turn++;
    return this.feed(point, this.turn);
  }

  async decide(decision: Decision): Promise<void> {
    this.decisions.push(decision);
  }
}

function weighted(weights: readonly number[], u: number): number {
  let left = u * weights.reduce((a, b) => a + b, 0);
  for (const [i, w] of weights.entries()) {
    left -= w;
    if (left < 0) return i;
  }
  return weights.length - 1;
}

function shuffled<T>(xs: readonly T[], rnd: () => number): T[] {
  return xs
    .map((x) => [rnd(), x] as const)
    .sort(([a], [b]) => a - b)
    .map(([, x]) => x);
}
