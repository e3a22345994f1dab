import { dirname } from 'node:path';
import { runProcess } from '../../process/run-process.ts';

/** The Node that commands of npm packages run by. */
export type Node = {
  /** The folder that holds all of it, and the program. */
  readonly base: string;
  readonly executable: string;
  readonly version: string;
};

/** The `node` of this machine, with npm beside it; else what is missing. */
export async function findNode(
  env: Readonly<Record<string, string>>,
): Promise<Node | { readonly missing: string; readonly fix: string }> {
  const fix = 'install Node.js, which brings npm, or take preloads.npm out';
  const ask = (command: readonly [string, ...string[]]) => runProcess({ command, cwd: '/', env, timeoutMs: 60_000 });
  const [node, npm] = await Promise.all([askNode(env), ask(['npm', '--version'])]);
  if (node === null) return { missing: 'node is not on this machine', fix };
  if (npm.exitCode !== 0) return { missing: 'npm is not on this machine', fix };
  return node;
}

/** The `node` of this machine alone; null = there is none. */
export async function askNode(env: Readonly<Record<string, string>>): Promise<Node | null> {
  const command = ['node', '-p', 'process.execPath + "\\n" + process.versions.node'] as const;
  const end = await runProcess({ command, cwd: '/', env, timeoutMs: 60_000 });
  const [path, version] = end.stdout.trim().split('\n');
  if (end.exitCode !== 0 || path === undefined || version === undefined) return null;
  return { base: dirname(dirname(path)), executable: path, version };
}
