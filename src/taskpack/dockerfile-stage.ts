import { posix } from 'node:path';
import { type DockerInstruction, type DockerVariables, expand, parseDockerfile, unquote, words } from './dockerfile.ts';

/** An instruction of the final image, with what holds where it stands. */
export type DockerStep = {
  readonly instruction: DockerInstruction;
  /** Absolute; null = it depends on something that the Dockerfile does not tell. */
  readonly workdir: string | null;
  readonly variables: DockerVariables;
};

/** The final image, as far as its Dockerfile tells. */
export type FinalStage = {
  /** What the last WORKDIR says: a folder; `none` without one; `unknown` when it depends on something outside. */
  readonly workdir: { readonly kind: 'folder'; readonly path: string } | { readonly kind: 'none' | 'unknown' };
  /** Line of that WORKDIR. */
  readonly workdirLine: number | null;
  /** The instructions that shape the final image: of its stage and the stages that it is built upon. */
  readonly steps: readonly DockerStep[];
};

type Stage = {
  readonly name: string | null;
  readonly steps: readonly DockerStep[];
  readonly variables: DockerVariables;
  readonly workdir: string | null | 'none';
  readonly workdirLine: number | null;
};

const emptyStage: Stage = { name: null, steps: [], variables: new Map(), workdir: 'none', workdirLine: null };

/** Follows WORKDIR, ENV and ARG through the stages of a Dockerfile. A base image is taken to work in `/` and to set nothing. */
export function finalStage(text: string): FinalStage {
  const stages: Stage[] = [];
  const globals = new Map<string, string>();
  for (const instruction of parseDockerfile(text)) {
    const current = stages.at(-1);
    if (instruction.name === 'FROM') stages.push(openStage(instruction, stages, globals));
    else if (current !== undefined) stages[stages.length - 1] = extend(current, instruction, globals);
    else if (instruction.name === 'ARG') assign(globals, 'ARG', instruction.rest, globals);
  }
  const last = stages.at(-1) ?? emptyStage;
  return {
    workdir:
      last.workdir === 'none'
        ? { kind: 'none' }
        : last.workdir === null
          ? { kind: 'unknown' }
          : { kind: 'folder', path: last.workdir },
    workdirLine: last.workdirLine,
    steps: last.steps,
  };
}

function openStage(from: DockerInstruction, stages: readonly Stage[], globals: DockerVariables): Stage {
  const parts = words(from.rest).filter((word) => !word.startsWith('--'));
  const base = expand(parts[0] ?? '', globals);
  const name = /^as$/i.test(parts[1] ?? '') ? (parts[2] ?? null) : null;
  const parent = stages.findLast((stage) => stage.name !== null && stage.name.toLowerCase() === base?.toLowerCase());
  return { ...(parent ?? emptyStage), name };
}

function extend(stage: Stage, instruction: DockerInstruction, globals: DockerVariables): Stage {
  const workdir = stage.workdir === 'none' ? '/' : stage.workdir;
  const step: DockerStep = { instruction, workdir, variables: stage.variables };
  const steps = [...stage.steps, step];
  switch (instruction.name) {
    case 'WORKDIR':
      return { ...stage, steps, workdir: enter(workdir, instruction, stage.variables), workdirLine: instruction.line };
    case 'ENV':
    case 'ARG': {
      const variables = new Map(stage.variables);
      assign(variables, instruction.name, instruction.rest, globals);
      return { ...stage, steps, variables };
    }
    default:
      return { ...stage, steps };
  }
}

function enter(from: string | null, instruction: DockerInstruction, variables: DockerVariables): string | null {
  const path = expand(unquote(instruction.rest), variables);
  if (path === null || path === '') return null;
  if (path.startsWith('/')) return tidy(path);
  return from === null ? null : tidy(posix.join(from, path));
}

function tidy(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/+$/, '');
}

/** `A=1 B=2`, ENV's old form `A 1`, or a bare `ARG A` (which takes the value given before the first FROM). */
function assign(variables: Map<string, string>, name: 'ENV' | 'ARG', rest: string, globals: DockerVariables): void {
  const before = new Map(variables);
  const old = name === 'ENV' ? /^(\w+)\s+(.*)$/s.exec(rest) : null;
  const pairs = old === null ? words(rest) : [`${old[1]}=${unquote(old[2]!)}`];
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = at < 0 ? pair : pair.slice(0, at);
    const value = at < 0 ? (globals.get(key) ?? null) : expand(pair.slice(at + 1), before);
    if (value === null) variables.delete(key);
    else variables.set(key, value);
  }
}
