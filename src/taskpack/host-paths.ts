/** A folder of the container that a script must not name as it is when there is no container. */
export type ContainerRoot = {
  readonly path: string;
  /** The variable that tells where the folder is. */
  readonly variable: 'APP_DIR' | 'TESTS_DIR' | 'LOGS_DIR';
};

/** The folders that exist in a container alone: the workdir, Harbor's `/app`, `/tests` and `/logs`. Longest first. */
export function containerRoots(workdir: string): readonly ContainerRoot[] {
  const roots: ContainerRoot[] = [
    { path: '/app', variable: 'APP_DIR' },
    { path: '/tests', variable: 'TESTS_DIR' },
    { path: '/logs', variable: 'LOGS_DIR' },
  ];
  const known = roots.some((root) => root.path === workdir) || workdir === '/';
  const all: readonly ContainerRoot[] = known ? roots : [{ path: workdir, variable: 'APP_DIR' }, ...roots];
  return all.toSorted((a, b) => b.path.length - a.path.length);
}

/**
 * The roots that one line names as absolute paths of the machine, each once. Not counted: longer names
 * (`/application`, `/app.py`), parts of other paths (`./app`, `$ROOT/app`, `https://x/app`), and the default of the
 * root's own variable (`${APP_DIR:-/app}`, `environ.get("APP_DIR", "/app")`, `env.APP_DIR ?? '/app'`). When in doubt
 * a path counts: what slips through would touch the user's machine.
 */
export function hostPathsIn(line: string, roots: readonly ContainerRoot[]): readonly ContainerRoot[] {
  const found = new Set<ContainerRoot>();
  for (const slash of line.matchAll(/\/+/g)) {
    const before = line.slice(0, slash.index);
    const path = line.slice(slash.index + slash[0].length - 1);
    const root = roots.find((candidate) => startsWithRoot(path, candidate.path));
    if (root === undefined || !startsAbsolute(before, slash[0].length, path.slice(root.path.length))) continue;
    if (!isDefault(before, path.slice(root.path.length), root)) found.add(root);
  }
  return [...found];
}

/** The root as a whole name: not the beginning of a longer one. */
function startsWithRoot(path: string, root: string): boolean {
  return path.startsWith(root) && !/^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}_])/u.test(path.slice(root.length));
}

/** Whether slashes that follow `before` begin an absolute path. */
function startsAbsolute(before: string, slashes: number, after: string): boolean {
  if (slashes >= 2 && /[a-z][a-z0-9+.-]*:$/i.test(before)) return slashes >= 3; // https://app; file:///app
  if (/(?:^|[\s"'`=(,;|&])-[A-Za-z]$/.test(before)) return true; // tar -C/app
  if (/(?:^|\s)[*_]{1,3}$/.test(before)) return true; // **/app/x** in Markdown
  if (before.endsWith('<') && after.startsWith('>')) return false; // </app>
  if (/\$\{\w+(?:##?|%%?)$/.test(before)) return false; // ${file#/app}: a pattern
  if (endsQuotedExpansion(before)) return false; // "$ROOT"/app
  return !/[\p{L}\p{N}_.~})\]*?\\]$/u.test(before);
}

/** `before` ends with the closing quote of a text that holds a variable. */
function endsQuotedExpansion(before: string): boolean {
  if (!before.endsWith('"')) return false;
  const quotes = [...before.matchAll(/(?<!\\)"/g)].map((quote) => quote.index);
  const opening = quotes.at(-2);
  return quotes.length % 2 === 0 && opening !== undefined && before.slice(opening).includes('$');
}

/** The path is what the root's own variable falls back to, and nothing but it. */
function isDefault(before: string, after: string, root: ContainerRoot): boolean {
  const name = root.variable;
  const shell = new RegExp(`\\$\\{${name}:?[-=](["']?)$`).exec(before);
  if (shell !== null) return after.startsWith(`${shell[1]}}`);
  const argument = new RegExp(`["']${name}["']\\s*,\\s*(["'\`])$`).exec(before);
  const operator = new RegExp(`\\b${name}["']?[\\])]*\\s*(?:\\?\\?|\\|\\||\\bor\\b)\\s*(["'\`])$`).exec(before);
  const quote = argument?.[1] ?? operator?.[1];
  return quote !== undefined && after.startsWith(quote);
}
