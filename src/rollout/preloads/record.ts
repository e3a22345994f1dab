import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { mcpServer } from '../../config/preloads.ts';

const named = z.object({ name: z.string(), description: z.string(), from: z.string(), hash: z.string() });

/** Where a variable's value comes from: another variable of this machine, or a plain text. */
const variableSource = z.union([z.object({ from: z.string() }), z.object({ value: z.string() })]);
export type VariableSource = z.output<typeof variableSource>;

/** What was preloaded, as it stands in a session: by it the same is told from another, and made again alike. */
const recordShape = z.object({
  v: z.literal(1),
  /** Hash of what the config wants. */
  wanted: z.string(),
  /** Absolute path of the prefix when it was made: what is installed holds it. Null = nothing is installed. */
  at: z.string().nullable(),
  /** Digest of the prefix. */
  digest: z.string().nullable(),
  skills: z.array(named),
  /** Packages of this machine, in the order of the config: what is installed, below `kept/sources`. */
  sources: z.array(z.object({ name: z.string(), kept: z.string(), hash: z.string() })),
  /** The user's instructions: `to` below the home, kept in `kept/home`. */
  memory: z.array(z.object({ to: z.string(), from: z.string(), hash: z.string() })),
  /** Servers that were taken over from this machine, and the variables that they are given. */
  mcp: z.record(z.string(), mcpServer),
  mcpEnv: z.record(z.string(), variableSource),
  /** The interpreter of this machine that the venv is made of; null = there is none. */
  python: z.string().nullable(),
  /** Further folders that rollouts have to see: interpreters of what is installed. */
  show: z.array(z.string()),
  versions: z.record(z.string(), z.string()),
});
export type PreloadRecord = z.output<typeof recordShape>;

/** Where preloads lie in a session: `dir` is its `.skillopt/preloads`. */
export function preloadPlaces(dir: string, wanted: string) {
  const kept = join(dir, 'kept');
  const prefix = join(dir, wanted);
  return {
    dir,
    record: join(dir, 'ready.json'),
    log: join(dir, 'build.log'),
    /** What the user's own files, and the resolved versions, were: all that is needed to make the rest again. */
    kept,
    skills: join(kept, 'skills'),
    sources: join(kept, 'sources'),
    home: join(kept, 'home'),
    npmLock: join(kept, 'npm'),
    pipLock: join(kept, 'pip.txt'),
    /** `$PREFIX`. It never moves: what is installed names it. */
    prefix,
    bin: join(prefix, 'bin'),
    npm: join(prefix, 'npm'),
    python: join(prefix, 'python'),
    pythonBin: join(prefix, 'python', 'bin'),
    /** For what is only needed while it is made. */
    scratch: join(prefix, '.making'),
  };
}
export type PreloadPlaces = ReturnType<typeof preloadPlaces>;

/** What lies in a folder of preloads and is made again from what is kept: prefixes, of now and of before, and the log. */
export function remakable(dir: string): readonly string[] {
  const isKept = (name: string) => name === 'kept' || name === 'ready.json';
  try {
    return readdirSync(dir).flatMap((name) => (isKept(name) ? [] : [join(dir, name)]));
  } catch {
    return [];
  }
}

/** The record of a session; null = there is none that can be read. */
export function readRecord(path: string): PreloadRecord | null {
  try {
    const parsed = recordShape.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Written last, and whole: what it tells of stands. */
export function writeRecord(path: string, record: PreloadRecord): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const sibling = `${path}.${process.pid}.tmp`;
  writeFileSync(sibling, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(sibling, path);
}
