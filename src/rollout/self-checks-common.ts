import { unscoredReasons } from '../ports/outcome.ts';
import type { MountedSkill, RolloutProgress, RolloutReport, Rollouts } from '../ports/rollouts.ts';
import type { Task } from '../ports/task.ts';
import type { Usage } from '../ports/usage.ts';
import { waitUntil } from '../process/wait.ts';
import { all, demand, never, request, type SelfCheck, same, selfCheck, sharedChecks } from './self-check-tools.ts';

/** To what end a task is to come. `broken`: no score, for a reason of the machinery. `endless`: until it is cancelled. */
export type Wish = 'pass' | 'fail' | 'half' | 'broken' | 'endless-agent' | 'endless-verifier';

/** Any backend under check, with a pass threshold of 1. */
export type CommonBench = {
  readonly backend: Rollouts;
  task(wish: Wish): Promise<Task>;
  skill(text: string, bundled: Readonly<Record<string, string>>): Promise<MountedSkill>;
  /** A value that stands in the host's environment and must not be handed back. */
  readonly secret: string;
  /** Processes, folders, containers of this bench that are there now, for people. */
  leftovers(): Promise<readonly string[]>;
  close(): Promise<void>;
};

const phases = ['prepare', 'agent', 'verifier', 'clean'] as const;

/**
 * What every backend does, whatever its tasks are. Each check makes a bench of its own; those that only look at what comes
 * of a rollout share one, and one call.
 */
export function commonSelfChecks(make: () => Promise<CommonBench>): readonly SelfCheck[] {
  const check = selfCheck(make);
  const wished = sharedChecks(make, async (bench) => {
    const told: RolloutProgress[] = [];
    const onProgress = (progress: RolloutProgress) => told.push(progress);
    const wishes = ['pass', 'fail', 'half', 'broken'] as const;
    const requests = await Promise.all(wishes.map(async (wish) => request(wish, await bench.task(wish))));
    const reports = await all(bench.backend.performRollouts(requests, { signal: never(), onProgress }));
    return {
      report: (wish: Wish) => reports.find((report) => report.key === wish),
      told: (wish: Wish) => told.filter(({ key }) => key === wish).map(({ phase }) => phase),
    };
  });
  return [
    ...(
      [
        ['pass', 1, 1],
        ['fail', 0, 0],
        ['half', 0, 0.5],
      ] as const
    ).map(([wish, hard, soft]) =>
      wished(`a task that comes to ${wish} is scored so, its work kept and the phases told in order`, (all) => {
        const { outcome, trajectory } = finished(all.report(wish));
        same(outcome.status === 'scored' ? [outcome.hard, outcome.soft, outcome.read] : outcome, [hard, soft, null]);
        demand(trajectory !== null, 'no trajectory');
        same(all.told(wish), phases);
      }),
    ),
    wished('what the machinery is at fault for is unscored, with a reason of the list and a detail', (all) => {
      const { outcome } = finished(all.report('broken'));
      demand(outcome.status === 'unscored', `scored: ${JSON.stringify(outcome)}`);
      if (outcome.status === 'scored') return;
      demand(unscoredReasons.includes(outcome.reason) && outcome.detail !== '', JSON.stringify(outcome));
    }),
    check('exactly one report for each request, under its key', async (bench) => {
      const good = await bench.task('pass');
      const bad = await bench.task('broken');
      const requests = [request('a/1', good), request('b', bad), request('c', good), request('d', good)];
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      same(reports.map((report) => report.key).sort(), ['a/1', 'b', 'c', 'd']);
      same([...new Set(reports.map((report) => report.kind))], ['finished']);
    }),
    check('no request, no report', async (bench) => {
      same(await all(bench.backend.performRollouts([], { signal: never() })), []);
    }),
    check('spend, time and versions are told, and nothing of the host’s secrets', async (bench) => {
      const skill = await bench.skill('---\nname: s\ndescription: d\n---\nbody\n', {});
      const requests = [
        request('a', await bench.task('pass'), skill),
        request('b', await bench.task('fail'), skill),
        request('c', await bench.task('broken')),
      ];
      const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
      for (const report of reports) {
        const { usage, durationMs, versions } = finished(report);
        demand(isUsage(usage), JSON.stringify(usage));
        demand(Number.isFinite(durationMs) && durationMs >= 0, `${durationMs} ms`);
        // an outcome may name what is known only once it has run, such as the version of an agent in a container
        const known = Object.entries(await bench.backend.versions());
        same(Object.fromEntries(known.map(([name]) => [name, versions[name]])), Object.fromEntries(known));
      }
      demand(!JSON.stringify(reports).includes(bench.secret), 'a secret of the host was handed back');
    }),
    check('cancelling one leaves the others alone', async (bench) => {
      const one = new AbortController();
      const requests = [
        request('slow', await bench.task('endless-agent'), null, one.signal),
        request('quick', await bench.task('pass')),
      ];
      const onProgress = (progress: RolloutProgress) => {
        if (progress.key === 'slow' && progress.phase === 'agent') one.abort();
      };
      const reports = await all(bench.backend.performRollouts(requests, { signal: never(), onProgress }));
      same(kinds(reports), { quick: 'finished', slow: 'cancelled' });
    }),
    ...phases.map((phase) =>
      check(`cancelling all at the beginning of the phase ${phase} ends all`, async (bench) => {
        const task = await bench.task('pass');
        const stop = new AbortController();
        let reached = 0;
        const onProgress = (progress: RolloutProgress) => {
          if (progress.phase === phase && ++reached === 2) stop.abort();
        };
        const requests = [request('a', task), request('b', task)];
        const reports = await all(bench.backend.performRollouts(requests, { signal: stop.signal, onProgress }));
        same(reports.map((report) => report.key).sort(), ['a', 'b']);
        // What was finished when the stop came is paid and may be handed over.
        if (phase === 'prepare') same([...new Set(reports.map((report) => report.kind))], ['cancelled']);
      }),
    ),
    ...(['agent', 'verifier'] as const).map((phase) =>
      check(`cancelling a ${phase} that goes on and on ends it`, async (bench) => {
        const stop = new AbortController();
        let reached = false;
        const onProgress = (progress: RolloutProgress) => {
          reached ||= progress.phase === phase;
        };
        const requests = [request('a', await bench.task(`endless-${phase}`))];
        const running = all(bench.backend.performRollouts(requests, { signal: stop.signal, onProgress }));
        demand(await waitUntil(() => reached, 300_000), `the phase ${phase} was not reached`);
        stop.abort();
        same(kinds(await running), { a: 'cancelled' });
      }),
    ),
    check('cancelled before the start, nothing starts', async (bench) => {
      const told: string[] = [];
      const reports = await all(
        bench.backend.performRollouts([request('a', await bench.task('pass'))], {
          signal: AbortSignal.abort(),
          onProgress: ({ phase }) => told.push(phase),
        }),
      );
      same(kinds(reports), { a: 'cancelled' });
      same(told, []);
    }),
    check('whoever stops reading ends what still runs', async (bench) => {
      const requests = [request('a', await bench.task('pass')), request('b', await bench.task('endless-agent'))];
      for await (const report of bench.backend.performRollouts(requests, { signal: never() })) {
        same(report.key, 'a');
        break;
      }
    }),
    check('before a start nothing is wrong and nothing is swept', async (bench) => {
      const findings = await bench.backend.preflight();
      same(
        findings.filter((finding) => finding.level === 'error'),
        [],
      );
      same(await bench.backend.sweep(), []);
    }),
  ];
}

function finished(report: RolloutReport | undefined) {
  if (report?.kind !== 'finished') throw new Error(`not finished: ${JSON.stringify(report)}`);
  return report.result;
}

function kinds(reports: readonly RolloutReport[]): Readonly<Record<string, string>> {
  return Object.fromEntries(reports.map((report) => [report.key, report.kind]).sort());
}

function isUsage(usage: Usage): boolean {
  const values = [usage.inputTokens, usage.outputTokens, usage.costUsd, usage.requests];
  return values.every((value) => value === null || (Number.isFinite(value) && value >= 0));
}
