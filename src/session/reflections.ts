import { TASK_REF_LENGTH, taskRefOf } from '../events/rollout-key.ts';
import { redactFailure } from '../journal/redact.ts';
import type { ProposeAnswer, ProposeAsk } from '../ports/engine.ts';
import type { LeakOf } from '../ports/leak.ts';
import type { ModelCall, PassingRollout, ProposalOptions, ProposalRequest, ShownRollout } from '../ports/proposals.ts';
import type { Trajectory } from '../ports/trajectory.ts';
import { Interrupted, Paused } from './ends.ts';
import type { Live } from './live.ts';
import type { Logged } from './logged.ts';
import { isFar, untilRetryMs } from './resets.ts';

/** Asks the optimizer, again while its machinery fails, and writes its answer into the log. */
export async function performReflection(
  live: Live,
  logged: Logged,
  ask: ProposeAsk,
  texts: { readonly draft: string; readonly incumbent: string },
): Promise<ProposeAnswer> {
  const request: ProposalRequest = {
    key: ask.key,
    kind: ask.kind,
    round: ask.round,
    ...(live.optimizes === undefined ? {} : { optimizes: live.optimizes }),
    text: texts.draft,
    incumbentText: texts.incumbent,
    atMost: ask.atMost,
    failing: ask.failing.flatMap((f) => shown(live, logged, f)),
    passing: ask.passing,
    passes: passes(live, logged, ask.passing),
    tried: ask.tried,
    refused: ask.refused,
    notes: ask.notes,
    banned: ask.banned,
  };
  await mayAsk(live);
  const leakOf = remembering(await orInterrupted(live.signal, live.leaks()));
  const calls = new CallsTold(live);
  const options: ProposalOptions = {
    signal: live.signal,
    check: (edit) => {
      const detail = leakOf(edit, texts.draft);
      return detail === null ? live.ops.apply(texts.draft, edit) : { ok: false, reason: 'leak', detail };
    },
    onCall: (call) => calls.tell(call),
    mayCall: (running) => live.ledger.spentForCall(running) === null,
  };
  const kind = ask.kind === undefined ? {} : { kind: ask.kind };
  live.journal.append({
    type: 'reflection.started',
    key: ask.key,
    ...kind,
    round: ask.round,
    failing: live.proposals.reads?.(request) ?? request.failing.length,
  });
  for (let failures = 0; ; ) {
    await mayAsk(live);
    const result = await orInterrupted(live.signal, live.proposals.performProposal(request, options)).finally(() =>
      calls.told(),
    );
    if (result.kind === 'failed') {
      const failure = await redactFailure(result.failure, live.redact);
      if (isFar(failure)) {
        if (live.resets?.wait(failure) === true) continue;
        throw new Paused(failure, 'optimizer');
      }
      failures++;
      if (failures >= 3 || !failure.retryable) throw new Paused(failure, 'optimizer');
      const backoff = live.backoffMs[failures - 1] ?? live.backoffMs.at(-1) ?? 0;
      const waitMs = Math.max(backoff, untilRetryMs(failure) ?? 0);
      await orInterrupted(live.signal, new Promise((resolve) => setTimeout(resolve, waitMs)));
      continue;
    }
    live.resets?.answered();
    const answer: ProposeAnswer =
      result.kind === 'unusable'
        ? { kind: 'unusable', detail: await live.redact(result.detail) }
        : {
            kind: 'proposal',
            proposal: {
              summary: await live.redact(result.proposal.summary),
              edits: await Promise.all(
                result.proposal.edits.map(async (e) => ({
                  op: e.op,
                  // a secret becomes a mark in the log, and an edit with the mark is rejected by the rules
                  target: await live.redact(e.target),
                  content: await live.redact(e.content),
                  cites: await Promise.all(e.cites.map(live.redact)),
                  reason: await live.redact(e.reason),
                  ...leaked(leakOf(e, texts.draft)),
                })),
              ),
            },
          };
    const line = live.journal.append({
      type: 'reflection.finished',
      key: ask.key,
      ...kind,
      round: ask.round,
      atMost: ask.atMost,
      shown: ask.failing.map((f) => f.rollout),
      answer,
      usage: result.usage,
      durationMs: Math.round(result.durationMs),
    }).seq;
    logged.proposals.set(ask.key, { answer, line });
    return answer;
  }
}

/** Writes each call of the optimizer's model into the log. What a provider or a program said of a problem is redacted. */
class CallsTold {
  private readonly pending: Promise<void>[] = [];

  constructor(private readonly live: Live) {}

  tell({ model, key, usage, durationMs, problem }: ModelCall): void {
    const { live } = this;
    live.ledger.spending.add(usage, 'call');
    const write = (text: string | null): void => {
      const whole = Math.round(durationMs);
      live.journal.append({
        type: 'model.called',
        ...(key === undefined ? {} : { key }),
        role: 'optimizer',
        model,
        problem: text,
        usage,
        durationMs: whole,
      });
    };
    // one that is stopped is told on the spot, in words of this program
    if (problem === null || live.signal.aborted) {
      write(problem);
      return;
    }
    const writing = live.redact(problem).then(write);
    writing.catch(() => {}); // heard below
    this.pending.push(writing);
  }

  /** All of it stands in the log; throws when it could not be written. */
  async told(): Promise<void> {
    await Promise.all(this.pending.splice(0));
  }
}

/** A pause holds every paid call back, also one that is tried again. */
async function mayAsk(live: Live): Promise<void> {
  await live.hold.open(live.signal);
  if (live.signal.aborted) throw new Interrupted();
}

/** An edit is looked at when it is judged and when it is written down: scanned once. */
function remembering(leakOf: LeakOf): LeakOf {
  const known = new Map<string, string | null>();
  return (edit, text) => {
    const key = JSON.stringify([edit.op, edit.target, edit.content, text]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const leak = leakOf(edit, text);
    known.set(key, leak);
    return leak;
  };
}

const leaked = (leak: string | null): { leak?: string } => (leak === null ? {} : { leak });

/** A failing rollout as the optimizer sees it: without what the verifier said. */
function shown(
  live: Live,
  logged: Logged,
  f: { readonly task: string; readonly rollout: string },
): readonly ShownRollout[] {
  const hash = logged.outcomes.get(f.rollout)?.trajectory;
  if (!hash) return [];
  const { instruction, shouldTrigger } = live.task(f.task);
  return [{ task: f.task, instruction, shouldTrigger, rollout: f.rollout, trajectory: readTrajectory(live, hash) }];
}

/** The newest rollout of each task that passed, whatever text it ran with. */
function passes(live: Live, logged: Logged, tasks: readonly string[]): readonly PassingRollout[] {
  const wanted = new Map(tasks.map((id) => [live.task(id).hash.slice(0, TASK_REF_LENGTH), id]));
  const newest = new Map<string, PassingRollout>();
  for (const [rollout, { outcome, trajectory }] of [...logged.outcomes].reverse()) {
    if (newest.size === wanted.size) break;
    if (outcome.status !== 'scored' || outcome.hard === 0 || trajectory === null) continue;
    const task = wanted.get(taskRefOf(rollout));
    if (task === undefined || newest.has(task)) continue;
    const read = () => readTrajectory(live, trajectory);
    const { instruction, shouldTrigger } = live.task(task);
    newest.set(task, { task, instruction, shouldTrigger, rollout, read });
  }
  return tasks.flatMap((task) => newest.get(task) ?? []);
}

/** What the agent did, without what the verifier said. */
function readTrajectory(live: Live, hash: string): Trajectory {
  return { ...(JSON.parse(live.texts.get(hash)) as Trajectory), verifier: null };
}

/** The work, unless the process is told to stop first. */
async function orInterrupted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(new Interrupted());
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
