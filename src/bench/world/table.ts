import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bySeed, type Cell, cellName, cells, type Mean, meanOf, paired, type Run, room } from './cells.ts';
import type { WorldRun } from './run.ts';

/** A recorded run of a peer, as `peers.json` keeps it. */
type PeerRow = readonly [who: string, preset: string, budget: number, infra: number, seed: number, number, number];

/** The peers' runs, one by one: their names, and start, final and best test score of each run. */
export function readPeers(): readonly Run[] {
  const rows = JSON.parse(readFileSync(join(import.meta.dir, 'peers.json'), 'utf8')) as readonly PeerRow[];
  return rows.map(([who, preset, budget, infra, seed, start, final]) => {
    const best = preset.endsWith('low') ? 0.95 : 0.75;
    return { who, preset, budget, infra, seed, start, final, best };
  });
}

/** Our table beside theirs: final test score by cell, room closed, runs below the seed, and paired differences. */
export function tableLines(ours: readonly WorldRun[], peers: readonly Run[], infra: number): readonly string[] {
  const all = [...peers.filter((p) => p.infra === infra), ...ours];
  const names = [...new Set(all.map((r) => r.who))];
  const width = Math.max(...names.map((n) => n.length), 'best possible'.length);
  const row = (name: string, values: readonly string[]) =>
    `${name.padEnd(width)}  ${values.map((v) => v.padStart(16)).join('')}`.trimEnd();
  const of = (who: string, cell: Cell) =>
    all.filter((r) => r.who === who && r.preset === cell.preset && r.budget === cell.budget);
  const table = names.map((who) => {
    const runs = all.filter((r) => r.who === who);
    const perCell = cells.map((c) => score(meanOf(of(who, c).map((r) => r.final))));
    const closed = meanOf([...bySeed(runs, room).values()]);
    const below = runs.filter((r) => r.final < r.start - 1e-9).length / Math.max(1, runs.length);
    return row(who, [...perCell, score(closed), `${(100 * below).toFixed(1)} %`, String(closed.n)]);
  });
  return [
    `final true test score, ± standard error; ${infra === 0 ? 'no rollout fails' : `${100 * infra} % of the rollouts end without a score`}`,
    row('', [...cells.map(cellName), 'room closed', 'below the seed', 'seeds']),
    ...table,
    '',
    ...ourNames(ours).flatMap((who) => differences(who, ours, peers, infra)),
    ...ourNames(ours).map((who) => workLine(who, ours)),
  ];
}

const ourNames = (ours: readonly Run[]): readonly string[] => [...new Set(ours.map((r) => r.who))];

/** Room closed, ours minus each peer's, on the seeds that both ran, mean over the cells. */
function differences(who: string, ours: readonly Run[], peers: readonly Run[], infra: number): readonly string[] {
  const mine = bySeed(
    ours.filter((r) => r.who === who),
    room,
  );
  const texts = ourNames(peers).map((peer) => {
    const theirs = bySeed(
      peers.filter((p) => p.who === peer && p.infra === infra),
      room,
    );
    const d = paired(mine, theirs);
    return d.n < 2 ? null : `${d.mean > 0 ? '+' : ''}${score(d)} against ${peer}`;
  });
  const said = texts.filter((t) => t !== null);
  return said.length === 0 ? [] : [`${who}: room closed, paired on the same seeds: ${said.join(', ')}`];
}

function workLine(who: string, ours: readonly WorldRun[]): string {
  const runs = ours.filter((r) => r.who === who);
  const mean = (of: (r: WorldRun) => number) => meanOf(runs.map(of)).mean;
  return `${who}: a run takes ${mean((r) => r.planned).toFixed(0)} rollouts in decisions and ${mean((r) => r.stats.rollouts.total).toFixed(0)} in all, ${mean((r) => r.calls).toFixed(0)} reflections, ${mean((r) => r.accepted).toFixed(1)} accepted drafts`;
}

function score({ mean, se, n }: Mean): string {
  if (n === 0) return '–';
  return n === 1 ? mean.toFixed(3) : `${mean.toFixed(3)} ±${se.toFixed(3)}`;
}
