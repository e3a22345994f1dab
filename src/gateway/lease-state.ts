import type {
  GatewayLeaseOptions,
  GatewayReport,
  GatewayStop,
  SessionRoom,
  Upstream,
  UpstreamTrouble,
} from '../ports/gateway.ts';
import { ExchangeFile } from './exchange-file.ts';
import { ReadingProof } from './proof.ts';
import { type Amounts, plus, Spend } from './spend.ts';
import { WaitClock } from './wait-clock.ts';

/** What a refused request leaves behind until an answer follows. */
type Refused = {
  readonly trouble: UpstreamTrouble;
  /** The last request that had arrived by then. */
  readonly atRequest: number;
  readonly withTools: boolean;
  /** So many answers in a row have broken off on their way to the agent, each asked for after the one before. */
  readonly broken: number;
};

/** So often an agent may ask again for an answer that breaks off: most would do so for minutes. */
const mostBroken = 3;

/** What a gateway knows of one rollout: what it has spent, what it may spend, and what ended it. */
export class LeaseState {
  readonly spend: Spend;
  readonly clock = new WaitClock();
  readonly proof: ReadingProof;
  readonly exchange: ExchangeFile;
  /** Requests of the agent so far, refused ones too: numbers them. */
  arrived = 0;
  readonly #stopping = new AbortController();
  readonly #ending = new AbortController();
  #forwarded = 0;
  #stop: GatewayStop | null = null;
  #refused: Refused | null = null;

  constructor(
    readonly options: GatewayLeaseOptions,
    private readonly upstream: Upstream,
    private readonly room: () => Amounts,
    secrets: readonly string[],
  ) {
    this.spend = new Spend(upstream);
    this.proof = new ReadingProof(options.skill);
    this.exchange = new ExchangeFile(options.exchangeFile, secrets);
    options.signal.addEventListener('abort', this.#end, { once: true });
    if (options.signal.aborted) this.#end();
  }

  /** Aborted when the rollout can get no further. */
  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when nothing is answered any more. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  get stop(): GatewayStop | null {
    return this.#stop;
  }

  /** Cuts what is under way. */
  end(): void {
    this.options.signal.removeEventListener('abort', this.#end);
    this.#end();
  }

  readonly #end = (): void => this.#ending.abort(new Error('the rollout has ended'));

  /**
   * Whether one more request may go to the provider; `isFirstTry` = it has not been sent yet, and is counted if it may.
   * Else what keeps it, which ends the rollout.
   */
  admit(isFirstTry: boolean): GatewayStop | null {
    if (this.#stop !== null) return this.#stop;
    const reached = this.#reached(isFirstTry);
    if (reached !== null) {
      this.stopFor(reached);
      return reached;
    }
    if (isFirstTry) this.#forwarded += 1;
    return null;
  }

  #reached(isFirstTry: boolean): GatewayStop | null {
    const { limits } = this.options;
    if (isFirstTry && limits.requests !== null && this.#forwarded >= limits.requests)
      return { kind: 'limit', limit: 'requests', of: 'rollout' };
    const { tokens, usd } = this.spend.reckoned;
    const left = this.room();
    const over: readonly (readonly ['tokens' | 'usd', 'rollout' | 'session', boolean])[] = [
      ['tokens', 'rollout', limits.tokens !== null && tokens >= limits.tokens],
      ['usd', 'rollout', limits.usd !== null && usd >= limits.usd],
      ['tokens', 'session', left.tokens <= 0],
      ['usd', 'session', left.usd <= 0],
    ];
    const found = over.find(([, , isOver]) => isOver);
    return found === undefined ? null : { kind: 'limit', limit: found[0], of: found[1] };
  }

  /** Most tokens that an answer may have: what the settings allow, and what is left of the limits; null = unbounded. */
  get mostTokens(): number | null {
    const { tokens } = this.options.limits;
    const left = [
      this.upstream.maxOutputTokens ?? Number.POSITIVE_INFINITY,
      tokens === null ? Number.POSITIVE_INFINITY : tokens - this.spend.reckoned.tokens,
      this.room().tokens,
    ];
    const most = Math.floor(Math.min(...left));
    return Number.isFinite(most) ? Math.max(1, most) : null;
  }

  /** The rollout gets no further. The first reason stands. */
  stopFor(stop: GatewayStop): void {
    this.#stop ??= stop;
    this.#stopping.abort(this.#stop);
  }

  /**
   * A request got no answer. It stands as the reason for the rollout's end unless an answer follows. `isBroken`: a part
   * of one had reached the agent, which alone can ask again; that is let happen a few times.
   */
  refusedWith(trouble: UpstreamTrouble, atRequest: number, withTools: boolean, isBroken = false): void {
    const { broken = 0, atRequest: before = 0 } = this.#refused ?? {};
    const inARow = isBroken && trouble.again !== null && atRequest > before ? broken + 1 : broken;
    this.#refused = { trouble, atRequest: this.arrived, withTools, broken: inARow };
    if (inARow >= mostBroken) this.stopFor({ kind: 'provider', refusal: trouble.refusal });
  }

  /** A request that came after a refusal was answered; one without tools says nothing of one with. */
  answered(atRequest: number, withTools: boolean): void {
    const refused = this.#refused;
    if (refused !== null && atRequest > refused.atRequest && (withTools || !refused.withTools)) this.#refused = null;
  }

  report(): GatewayReport {
    const refused = this.#refused;
    const problem = this.exchange.problem;
    return {
      usage: this.spend.usage,
      visible: this.proof.visible,
      read: this.proof.read,
      stop: this.#stop ?? (refused === null ? null : { kind: 'provider', refusal: refused.trouble.refusal }),
      waitedMs: this.clock.totalMs,
      ...(problem === undefined ? {} : { exchangeProblem: problem }),
    };
  }
}

/** What is left for all leases together: the ledger's room less what they have spent that it does not count yet. */
export class SharedRoom {
  readonly #leases = new Set<LeaseState>();

  constructor(private readonly room: SessionRoom | null) {}

  add(lease: LeaseState): void {
    if (this.room !== null) this.#leases.add(lease);
  }

  /** Infinite where there is no limit. */
  readonly left = (): Amounts => {
    if (this.room === null) return unbounded;
    for (const lease of this.#leases)
      if (lease.ended.aborted && this.room.counts(lease.options.rollout)) this.#leases.delete(lease);
    const spent = [...this.#leases].reduce((sum, lease) => plus(sum, lease.spend.reckoned), { tokens: 0, usd: 0 });
    const { tokens, usd } = this.room.left();
    return { tokens: (tokens ?? unbounded.tokens) - spent.tokens, usd: (usd ?? unbounded.usd) - spent.usd };
  };
}

const unbounded: Amounts = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY };
