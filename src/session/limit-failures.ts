import type { LedgerLine } from '../ports/engine.ts';
import type { Failure } from '../ports/failure.ts';
import type { LimitKind } from '../ports/inputs.ts';
import type { ActualLedger } from './actual-ledger.ts';

/** Lines of a session; an eval has one alone. */
type SessionLine = Exclude<LedgerLine, 'eval'>;

/** Nothing can hold a limit on what nobody reports. */
export function cantHold(kind: 'usd' | 'tokens'): Failure {
  return {
    code: 'config',
    what: `the limit on ${kind === 'usd' ? 'money' : 'tokens'} can’t be held: the model does not say what a rollout ${kind === 'usd' ? 'costs' : 'takes'}`,
    where: `limits.${kind}`,
    fix:
      kind === 'usd'
        ? 'give the model’s "price", or set limits.usd to null and limit rollouts or tokens instead'
        : 'set limits.tokens to null and limit rollouts or minutes instead',
    retryable: false,
  };
}

const lines: Readonly<Record<SessionLine, string>> = {
  loop: 'search',
  confirmation: 'confirmation',
  finalize: 'sealed test',
};

/** The limit `kind` leaves too little for `line`. `measuring`: rollouts that measure the seed and try one edit. */
export function limitTooLow(ledger: ActualLedger, line: SessionLine, kind: LimitKind, measuring: number): Failure {
  const { limits, started, reserve } = ledger;
  const what = lines[line];
  const own = line === 'loop' ? measuring : reserve[line];
  if (kind === 'usd' || kind === 'tokens') {
    const needed = ledger.needs(kind, line, own);
    const [limit, enough] =
      kind === 'usd'
        ? [`$${limits.usd ?? 0}`, `$${(Math.ceil(needed * 100) / 100).toFixed(2)}`]
        : [`${limits.tokens ?? 0} tokens`, `${Math.ceil(needed)} tokens`];
    const why = line === 'loop' ? ': no edit could be tried yet' : '';
    return {
      code: 'config',
      what: `the limit of ${limit} leaves too little for the ${what}${why}`,
      where: `limits.${kind}`,
      fix: `raise it to about ${enough}${line === 'loop' ? ' or more' : ''} and start again: what is done is kept`,
      retryable: false,
    };
  }
  const enough = started + own + (line === 'confirmation' ? reserve.finalize : 0);
  return {
    code: 'config',
    what: `the limit of ${limits.rollouts ?? 0} rollouts leaves too few for the ${what} (${started} were started)`,
    where: 'limits.rollouts',
    fix: `raise it to ${enough} and start again: what is done is kept`,
    retryable: false,
  };
}

/** The limit `kind` ends an eval before its last `left` rollouts. */
export function evalLimitReached(ledger: ActualLedger, kind: LimitKind, left: number): Failure {
  const { limits } = ledger;
  const reached = (limit: string, enough: string): Failure => ({
    code: 'config',
    what: `the limit of ${limit} is reached, with ${left} ${left === 1 ? 'rollout' : 'rollouts'} left`,
    where: `--limit-${kind}`,
    fix: `raise it to ${enough} and give the same command again: what is done is kept`,
    retryable: false,
  });
  switch (kind) {
    case 'rollouts':
      return reached(
        limits.rollouts === 1 ? 'one rollout' : `${limits.rollouts ?? 0} rollouts`,
        `${ledger.started + left} or more`,
      );
    case 'minutes':
      return reached(`${limits.minutes ?? 0} minutes`, 'more minutes');
    case 'usd':
      return reached(
        `$${limits.usd ?? 0}`,
        `about $${(Math.ceil(ledger.needs('usd', 'eval', left) * 100) / 100).toFixed(2)}`,
      );
    case 'tokens':
      return reached(`${limits.tokens ?? 0} tokens`, `about ${Math.ceil(ledger.needs('tokens', 'eval', left))} tokens`);
    default:
      return kind satisfies never;
  }
}
