import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dir, '../..');

/** Time of the last change below a path; what is no part of the binary is passed over. */
function newest(path: string): number {
  if (/\/(e2e|bench)$|\.test\.tsx?$|-fixture\.ts$/.test(path)) return 0;
  const info = statSync(path);
  if (!info.isDirectory()) return info.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Path of the binary that the build left; built here when it is missing or older than what it is made of. */
export function builtBinary(): string {
  const path = join(root, 'dist/skillopt');
  const builtMs = existsSync(path) ? statSync(path).mtimeMs : 0;
  if (builtMs < Math.max(...['build.ts', 'examples', 'src', 'tasks'].map((name) => newest(join(root, name))))) build();
  return path;
}

/** Runs the build, with further arguments. Throws with what it printed. */
export function build(...args: readonly string[]): void {
  const end = Bun.spawnSync([process.execPath, 'build.ts', ...args], { cwd: root, stdout: 'pipe', stderr: 'pipe' });
  if (!end.success) throw new Error(`the build failed:\n${end.stdout}\n${end.stderr}`);
}
