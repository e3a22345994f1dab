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

/** How far before a path its surroundings are looked at, in UTF-16 units: a longer lead is taken for a use. */
const REACH = 200;

/**
 * The roots that one line names as absolute paths of the machine, each once. Not counted: longer names
 * (`/application`, `/app.py`), parts of other paths (`./app`, `$ROOT/app`, `https://x/app`), and the default of the
 * root's own variable (`${APP_DIR:-/app}`, `environ.get("APP_DIR", "/app")`, `env.APP_DIR ?? '/app'`). When in doubt
 * a path counts: what slips through would touch the user's machine. Takes time in proportion to the line's length.
 */
export function hostPathsIn(line: string, roots: readonly ContainerRoot[]): readonly ContainerRoot[] {
  const found = new Set<ContainerRoot>();
  const quotes = new QuotesBefore(line);
  for (const run of line.matchAll(/\/+/g)) {
    const at = run.index + run[0].length - 1;
    const root = roots.find((candidate) => startsWithRoot(line, at, candidate.path));
    if (root === undefined || found.has(root)) continue;
    const before = line.slice(Math.max(0, run.index - REACH), run.index);
    const after = line.slice(at + root.path.length, at + root.path.length + 3);
    if (!startsAbsolute(before, run[0].length, after)) continue;
    if (before.endsWith('"') && quotes.closeExpansion(run.index)) continue;
    if (isDefault(before, after, root)) continue;
    found.add(root);
    if (found.size === roots.length) break;
  }
  return [...found];
}

/** The root as a whole name: not the beginning of a longer one. */
function startsWithRoot(line: string, at: number, root: string): boolean {
  if (!line.startsWith(root, at)) return false;
  const end = at + root.length;
  return !/^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}_])/u.test(line.slice(end, end + 3));
}

/** Whether slashes that follow `before` begin an absolute path. */
function startsAbsolute(before: string, slashes: number, after: string): boolean {
  if (slashes >= 2 && before.endsWith(':') && /[a-z][0-9+.-]*:$/i.test(before)) return slashes >= 3; // https://app; file:///app
  if (/(?:^|[\s"'`=(,;|&])-[A-Za-z]$/.test(before.slice(-3))) return true; // tar -C/app
  if (/(?:^|\s)[*_]{1,3}$/.test(before.slice(-4))) return true; // **/app/x** in Markdown
  if (before.endsWith('<') && after.startsWith('>')) return false; // </app>
  if (/[#%]$/.test(before.slice(-1)) && /\$\{\w+(?:##?|%%?)$/.test(before)) return false; // ${file#/app}: a pattern
  return !/[\p{L}\p{N}_.~})\]*?\\]$/u.test(before.slice(-2));
}

/** The double quotes of a line up to a place that only moves on, those behind a backslash left out. */
class QuotesBefore {
  readonly #line: string;
  #count = 0;
  #last = -1;
  #lastButOne = -1;
  #next: number;

  constructor(line: string) {
    this.#line = line;
    this.#next = line.indexOf('"');
  }

  /** The quote right before `at` closes a text that holds a variable: `"$ROOT"`. */
  closeExpansion(at: number): boolean {
    for (; this.#next >= 0 && this.#next < at; this.#next = this.#line.indexOf('"', this.#next + 1)) {
      if (this.#line[this.#next - 1] === '\\') continue;
      this.#count++;
      this.#lastButOne = this.#last;
      this.#last = this.#next;
    }
    const closes = this.#last === at - 1 && this.#count % 2 === 0 && this.#lastButOne >= 0;
    return closes && this.#line.slice(this.#lastButOne, at).includes('$');
  }
}

const defaults = {
  APP_DIR: defaultsOf('APP_DIR'),
  TESTS_DIR: defaultsOf('TESTS_DIR'),
  LOGS_DIR: defaultsOf('LOGS_DIR'),
};

function defaultsOf(name: ContainerRoot['variable']) {
  return {
    shell: new RegExp(`\\$\\{${name}:?[-=](["']?)$`),
    argument: new RegExp(`["']${name}["']\\s*,\\s*(["'\`])$`),
    operator: new RegExp(`\\b${name}["']?[\\])]*\\s*(?:\\?\\?|\\|\\||\\bor\\b)\\s*(["'\`])$`),
  };
}

/** The path is what the root's own variable falls back to, and nothing but it. */
function isDefault(before: string, after: string, root: ContainerRoot): boolean {
  const { shell, argument, operator } = defaults[root.variable];
  const opening = shell.exec(before);
  if (opening !== null) return after.startsWith(`${opening[1]}}`);
  const quote = argument.exec(before)?.[1] ?? operator.exec(before)?.[1];
  return quote !== undefined && after.startsWith(quote);
}
