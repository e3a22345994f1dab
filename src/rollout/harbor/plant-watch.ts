import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { partsOf, type TrialPart, type TrialResult } from './trial.ts';

const isReward = (name: string) => /^reward\.(txt|json)$/.test(name);

/** A reward file was not there at one look and there at the next: between these times, in milliseconds since 1970. */
export type Sighting = { readonly from: number; readonly to: number };

/**
 * Sees a reward that an agent writes where only the verifier should. Harbor takes such files away before the verifier
 * begins, so that they don't count; that it was tried says what the rollout is worth. It is seen where Harbor keeps the
 * folder on this machine, and no sooner than the folder is first looked at. All times are of this machine's clock, which is
 * Harbor's, too: what a file says of its own age may be the agent's word, or that of another clock.
 */
export class PlantWatch {
  readonly #trials = new Map<string, { readonly seen: Sighting[]; isThere: boolean }>();
  readonly #watchers = new Map<string, FSWatcher>();

  /** Looks now, and from now on at each change. */
  look(trial: string): void {
    const folder = join(trial, 'verifier');
    if (!this.#watchers.has(trial)) {
      try {
        const watcher = watch(folder, () => this.#note(trial, folder));
        watcher.on('error', () => watcher.close());
        this.#watchers.set(trial, watcher);
      } catch {
        // it is not there yet
      }
    }
    this.#note(trial, folder);
  }

  /** What was planted, for people; null = nothing that was seen. Looks no more at this trial. */
  found(trial: string, result: TrialResult): string | null {
    this.#watchers.get(trial)?.close();
    const seen = this.#trials.get(trial)?.seen ?? [];
    return isPlanted(seen, result) ? 'the agent wrote a reward where only the verifier does' : null;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #note(trial: string, folder: string): void {
    const known = this.#trials.get(trial) ?? { seen: [], isThere: false };
    this.#trials.set(trial, known);
    const from = Date.now();
    const isThere = namesIn(folder).some(isReward);
    if (isThere && !known.isThere) known.seen.push({ from, to: Date.now() });
    known.isThere = isThere;
  }
}

/**
 * Did a reward appear while only the agent could have written it? From its start (in a first step: from ever) until the
 * verifier's; a verifier that never began leaves the agent's own end.
 */
export function isPlanted(seen: readonly Sighting[], result: TrialResult): boolean {
  return partsOf(result).some((part, index) => {
    const start = index === 0 ? Number.NEGATIVE_INFINITY : Date.parse(part.agent_execution?.started_at ?? '');
    const until = endOfAgent(part);
    return seen.some(({ from, to }) => from >= start && to < until);
  });
}

function endOfAgent({ verifier, agent_execution }: TrialPart): number {
  return Date.parse(verifier?.started_at ?? agent_execution?.finished_at ?? '');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
