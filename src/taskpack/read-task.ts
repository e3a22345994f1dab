import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printableName } from '../ports/printable.ts';
import type { FolderTask } from '../ports/task.ts';
import { MOST_INSTRUCTIONS, parseDockerfile } from './dockerfile.ts';
import { finalStage } from './dockerfile-stage.ts';
import { instructionHash, shownInstruction } from './instruction.ts';
import { idProblem } from './names.ts';
import type { PackProblem } from './pack-failure.ts';
import { cleanFolder, parseTaskToml, type TaskToml } from './task-toml.ts';
import { hashFiles, readTree, type Tree, type TreeLimits } from './tree.ts';

export type TaskReading =
  | { readonly ok: true; readonly task: FolderTask }
  | { readonly ok: false; readonly problems: readonly PackProblem[] };

/** A task is copied for every rollout, so it stays small: 50 MB. */
export const taskLimits: TreeLimits = { maxBytes: 50_000_000, maxFiles: 20_000 };

/** Reads one task folder; executes nothing. All that is wrong with it is told at once. */
export async function readTask(packDir: string, id: string): Promise<TaskReading> {
  const name = idProblem(id);
  if (name !== null) {
    return broken([
      { path: printableName(id), what: name, fix: 'rename the folder: letters, digits, - and _ will do' },
    ]);
  }
  const dir = join(packDir, id);
  const tree = await readTree(dir, taskLimits).catch(() => null);
  if (tree === null) return broken([{ path: id, what: 'not readable', fix: `allow it: chmod u+rx "${id}"` }]);
  if (tree.problems.length > 0) {
    return broken(tree.problems.map((p) => ({ ...p, path: p.path === '.' ? id : `${id}/${p.path}` })));
  }

  const config = await readConfig(id, tree);
  const instruction = await readInstruction(id, tree);
  const workdir = config.ok ? await readWorkdir(id, tree, config.value) : { ok: true as const, value: '/app' };
  const problems = [
    ...[config, instruction, workdir].flatMap((part) => (part.ok ? [] : part.problems)),
    ...missingParts(id, tree, config.ok ? config.value : null),
  ];
  if (problems.length > 0 || !config.ok || !instruction.ok || !workdir.ok) return broken(problems);
  return {
    ok: true,
    task: {
      kind: 'folder',
      id,
      dir,
      hash: await hashFiles(tree.files),
      instruction: instruction.value,
      instructionHash: instructionHash(instruction.value),
      agentTimeoutSec: config.value.agentTimeoutSec,
      shouldTrigger: config.value.shouldTrigger,
      verifierTimeoutSec: config.value.verifierTimeoutSec,
      workdir: workdir.value,
      commands: config.value.commands,
      env: config.value.env,
      hasSolution: has(tree, 'solution/solve.sh'),
    },
  };
}

type Part<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly PackProblem[] };

async function readConfig(id: string, tree: Tree): Promise<Part<TaskToml>> {
  const text = await readText(id, tree, 'task.toml', 'a task needs its task.toml: add it, or move the folder away');
  if (!text.ok) return text;
  const parsed = parseTaskToml(text.value);
  if (parsed.ok) return { ok: true, value: parsed.toml };
  return broken(
    parsed.problems.map(({ line, what, fix }) => ({
      path: line === null ? `${id}/task.toml` : `${id}/task.toml:${line}`,
      what,
      fix,
    })),
  );
}

async function readInstruction(id: string, tree: Tree): Promise<Part<string>> {
  const text = await readText(id, tree, 'instruction.md', 'write what the agent is to do into instruction.md');
  if (!text.ok) return text;
  const shown = shownInstruction(text.value);
  if (shown.trim() !== '') return { ok: true, value: shown };
  return broken([
    {
      path: `${id}/instruction.md`,
      what: 'an empty instruction',
      fix: 'write what the agent is to do into instruction.md',
    },
  ]);
}

async function readWorkdir(id: string, tree: Tree, config: TaskToml): Promise<Part<string>> {
  const path = 'environment/Dockerfile';
  if (!has(tree, path)) return { ok: true, value: config.workdir ?? '/app' };
  const text = await readText(id, tree, path, '');
  if (!text.ok) return text;
  if (parseDockerfile(text.value).length > MOST_INSTRUCTIONS) {
    return broken([
      {
        path: `${id}/${path}`,
        what: `a Dockerfile of more than ${MOST_INSTRUCTIONS} instructions`,
        fix: 'put them together, or move them into a script that RUN calls',
      },
    ]);
  }
  if (config.workdir !== null) return { ok: true, value: config.workdir };
  const stage = finalStage(text.value);
  switch (stage.workdir.kind) {
    case 'folder':
      return { ok: true, value: cleanFolder(stage.workdir.path) };
    case 'none':
      return { ok: true, value: '/app' };
    case 'unknown':
      return broken([
        {
          path: `${id}/${path}:${stage.workdirLine}`,
          what: 'a WORKDIR that depends on something outside of the Dockerfile',
          fix: 'say in task.toml where the agent works: [environment] workdir = "/app"',
        },
      ]);
  }
}

function missingParts(id: string, tree: Tree, config: TaskToml | null): readonly PackProblem[] {
  const problems: PackProblem[] = [];
  if (!has(tree, 'tests/test.sh')) {
    problems.push({
      path: `${id}/tests/test.sh`,
      what: 'missing: nothing would score the task',
      fix: 'add the script that writes a reward from 0 to 1 to verifier/reward.txt in LOGS_DIR (default /logs)',
    });
  }
  const defined = has(tree, 'environment/Dockerfile') || has(tree, 'environment/docker-compose.yaml');
  if (config !== null && config.dockerImage === null && !defined) {
    problems.push({
      path: `${id}/environment`,
      what: 'no environment: neither environment/Dockerfile nor environment/docker-compose.yaml nor a docker_image',
      fix: 'add environment/Dockerfile, or name an image in task.toml ([environment] docker_image)',
    });
  }
  return problems;
}

function has(tree: Tree, path: string): boolean {
  return tree.files.some((file) => file.path === path);
}

async function readText(id: string, tree: Tree, path: string, fixMissing: string): Promise<Part<string>> {
  const file = tree.files.find((entry) => entry.path === path);
  if (file === undefined) return broken([{ path: `${id}/${path}`, what: 'missing', fix: fixMissing }]);
  const bytes = await readFile(file.source);
  try {
    return { ok: true, value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return broken([
      { path: `${id}/${path}:${invalidLine(bytes)}`, what: 'not valid UTF-8', fix: 'save the file as UTF-8' },
    ]);
  }
}

/** Line of the first byte that is not UTF-8: the first line that can't be decoded by itself. */
function invalidLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(10, start);
    const stop = end < 0 ? bytes.length : end + 1;
    try {
      decoder.decode(bytes.subarray(start, stop));
    } catch {
      return line;
    }
    start = stop;
  }
  return line;
}

function broken(problems: readonly PackProblem[]): { readonly ok: false; readonly problems: readonly PackProblem[] } {
  return { ok: false, problems };
}
