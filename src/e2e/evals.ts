import { existsSync } from 'node:fs';
import type { LogLine, Place } from './binary.ts';

// What tests ask of an eval.

/** The default directory of an eval of the bundled example, and the arguments that all its evals share. */
export const evalDir = 'skillopt-eval-hello-harbor';
export const example = [
  'eval',
  '--skill',
  'example:hello-harbor',
  '--pack',
  'example:hello-harbor',
  '--agent',
  'rehearsal',
] as const;

/** The lines of an eval's log so far. */
export function evalEvents(place: Place, dir: string): readonly LogLine[] {
  if (!existsSync(place.path(dir, 'skillopt-eval.jsonl'))) return [];
  const whole = place.read(dir, 'skillopt-eval.jsonl').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as LogLine);
}

/** What must be the same however an eval was cut: its one decision. */
export function decisionOf(place: Place, dir: string): unknown {
  const found = evalEvents(place, dir).filter((e) => e.type === 'eval.finished');
  return found.map(({ seq, at, prev, ...rest }) => rest);
}

/** The report that the file holds: the lines between its fences. */
export const reportIn = (place: Place, dir: string): string =>
  place
    .read(dir, 'skillopt-eval.md')
    .split('```')[1]
    ?.replace(/^text\n/, '') ?? '';

export type EvalJson = {
  readonly headline: string;
  readonly command: string;
  readonly preflight: { readonly calls: number; readonly tokens: number | null; readonly costUsd: number | null };
  readonly failure: { readonly where: string; readonly what: string; readonly line: number | null } | null;
  readonly complete: boolean;
  readonly arms: readonly {
    readonly arm: string;
    readonly passed: number;
    readonly scored: number;
    readonly interval: readonly [number, number] | null;
    readonly read: readonly [number, number];
    readonly keptShut: { readonly shut: number; readonly told: number; readonly of: number } | null;
    readonly passAt: readonly { readonly k: number; readonly any: number; readonly all: number }[];
    readonly tokens: number | null;
    readonly costUsd: number | null;
    readonly turns: number | null;
    readonly durationMs: number;
  }[];
  readonly comparisons: readonly { readonly wins: number; readonly losses: number; readonly evidence: number }[];
  readonly tasks: readonly { readonly task: string; readonly trajectories: Readonly<Record<string, string[]>> }[];
  readonly session: { readonly split: string; readonly look: number | null } | null;
  readonly notes: readonly string[];
  readonly files: { readonly report: string; readonly log: string };
};
