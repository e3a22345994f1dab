import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The one table of rooms: who may import whom, and who alone may do what. */
const src = resolve(import.meta.dir, '..');

const everywhere = '*';
const mayImport: Readonly<Record<string, readonly string[]>> = {
  ports: [],
  skill: ['ports'],
  events: ['ports', 'skill'],
  engine: ['ports', 'skill', 'events'],
  config: ['ports', 'events'],
  journal: ['ports', 'events'],
  process: ['ports', 'events'],
  taskpack: ['ports', 'skill', 'process', 'config'],
  rollout: ['ports', 'skill', 'process', 'config'],
  gateway: ['ports', 'skill', 'process', 'config'],
  optimizer: ['ports', 'skill', 'process', 'config'],
  models: ['ports', 'skill', 'process', 'config'],
  session: ['ports', 'skill', 'events', 'engine', 'config', 'journal'],
  tui: ['ports', 'events', 'skill'],
  plain: ['ports', 'events', 'skill'],
  report: ['ports', 'events', 'skill'],
  cli: [everywhere],
  // the files directly under src: entry, first-imported environment, version
  '.': ['cli'],
};

/** Import closures of these rooms stay free of the world. `ports` may hash. */
const pure = ['skill', 'events', 'engine'];
const impure =
  /\bfrom 'node:|\bfrom 'bun|\bBun\.|\bprocess\.|\bconsole\.|\bDate\b(?!\.parse\()|Math\.random|setTimeout|setInterval|setImmediate|performance\.|\bfrom 'react|\bfrom 'ink|crypto\./;

type Ban = { readonly what: string; readonly pattern: RegExp; readonly allowed: (file: string) => boolean };
const bans: readonly Ban[] = [
  {
    what: 'opens a log',
    pattern: /Journal\.open|readLog\(/,
    allowed: (f) => f.startsWith('journal/') || f.startsWith('session/') || f === 'cli/read-state.ts',
  },
  {
    what: 'spawns',
    pattern: /from 'execa'|child_process|Bun\.spawn|Bun\.\$/,
    // the relay is a process of its own inside a sandbox, which starts one command and must load nothing else
    allowed: (f) => f.startsWith('process/') || f === 'gateway/relay.ts',
  },
  {
    what: 'opens sockets',
    pattern:
      /\bfetch\(|from 'node:(net|http|https|http2|tls|dgram|dns)|Bun\.(serve|listen|connect)|WebSocket|@anthropic-ai\/sdk|from 'openai'/,
    allowed: (f) => f.startsWith('models/') || f.startsWith('gateway/') || f === 'report/live-page.ts',
  },
  {
    what: 'reads the environment',
    pattern: /process\.env|Bun\.env/,
    // check-local only names it in a message
    allowed: (f) => f.startsWith('config/') || f === 'env.ts' || f === 'taskpack/check-local.ts',
  },
  {
    what: 'writes stdout or sets exit codes',
    pattern: /process\.stdout|process\.stderr|console\.|process\.exitCode|Bun\.stdout/,
    allowed: (f) => f.startsWith('cli/') || f === 'main.tsx',
  },
  {
    what: 'knows Harbor’s files and commands',
    pattern: /verifier_result|exception_info|n_concurrent_trials|harbor run\b|JobConfig/,
    allowed: (f) => f.startsWith('rollout/harbor'),
  },
  {
    what: 'calls a paid port method',
    pattern: /\.perform(Rollouts|Proposal|Derivation)\(/,
    allowed: (f) => f === 'session/reflections.ts' || f === 'session/pool.ts',
  },
  {
    what: 'loads code or evaluates text',
    pattern: /\beval\(|new Function\(/,
    allowed: () => false,
  },
];

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) => {
    const path = join(dir, e.name);
    return e.isDirectory() ? filesBelow(path) : /\.tsx?$/.test(e.name) ? [relative(src, path)] : [];
  });
}

/** Sources of the product: tests, fixtures and what serves only them are no part of a room. */
const isProduct = (file: string) => !/\.test\.tsx?$|-fixture\.ts$|^e2e\/|^bench\/|self-check/.test(file);
const product = filesBelow(src).filter(isProduct);
const text = (file: string) => readFileSync(join(src, file), 'utf8');
const code = (file: string) =>
  text(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '');
const roomOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '.');

type Import = { readonly from: string; readonly typeOnly: boolean };
function importsOf(file: string): Import[] {
  const found = code(file).matchAll(
    /(?:^|\n)\s*(import|export)\s+(type\s)?(?:[^;'"]*?\sfrom\s*)?'([^']+)'|import\(\s*'([^']+)'/g,
  );
  return [...found].map((m) => ({ from: m[3] ?? m[4] ?? '', typeOnly: m[2] !== undefined }));
}

/** The file of src that a relative import leads to; null for packages and for what lies outside. */
function target(file: string, from: string): string | null {
  if (!from.startsWith('.')) return null;
  const path = relative(src, resolve(src, dirname(file), from));
  return path.startsWith('..') ? null : path;
}

describe('rooms', () => {
  test('the table names every room', () => {
    const rooms = new Set(product.map(roomOf));
    expect([...rooms].filter((r) => !(r in mayImport))).toEqual([]);
  });

  test('nobody imports a room that the table does not give', () => {
    const wrong = product.flatMap((file) =>
      importsOf(file).flatMap(({ from }) => {
        const to = target(file, from);
        if (to === null) return [];
        const [here, there] = [roomOf(file), roomOf(to)];
        const allowed = mayImport[here] ?? [];
        return here === there ||
          (there === '.' && here === 'cli') ||
          // dispatched before anything else is loaded
          (file === 'main.tsx' && /^gateway\/relay(-word)?\.ts$/.test(to)) ||
          allowed.includes(everywhere) ||
          allowed.includes(there)
          ? []
          : [`${file} imports ${to}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('every import leads somewhere', () => {
    const lost = product.flatMap((file) =>
      importsOf(file)
        .filter(({ from }) => target(file, from) !== null && !existsSync(join(src, target(file, from) ?? '')))
        .map(({ from }) => `${file}: ${from}`),
    );
    expect(lost).toEqual([]);
  });

  test('no product file imports a test, a fixture or a bench', () => {
    const wrong = product.flatMap((file) =>
      importsOf(file)
        .filter(({ from }) => {
          const to = target(file, from);
          return to !== null && !isProduct(to);
        })
        .map(({ from }) => `${file}: ${from}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the pure rooms touch no clock, randomness, timer, file or process', () => {
    expect(product.filter((f) => pure.includes(roomOf(f)) && impure.test(code(f)))).toEqual([]);
  });

  test.each(bans.map((b) => [b.what, b] as const))('only its own room %s', (_what, ban) => {
    expect(product.filter((f) => !ban.allowed(f) && ban.pattern.test(code(f)))).toEqual([]);
  });

  test('the bans can fail', () => {
    const samples = [
      "Journal.open('x')",
      "import { execa } from 'execa'",
      "fetch('http://x')",
      'process.env.HOME',
      'process.stdout.write(x)',
      'n_concurrent_trials',
      'x.performRollouts([])',
      'eval(x)',
    ];
    expect(samples.map((s) => bans.filter((b) => b.pattern.test(s)).length)).toEqual(samples.map(() => 1));
  });
});

describe('verify', () => {
  /** Everything that the modules reach at run time; types are gone by then. */
  function closure(entry: string): Set<string> {
    const seen = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { from, typeOnly } of importsOf(file)) {
        const to = target(file, from);
        if (to === null) seen.add(from);
        else if (!typeOnly) visit(to);
      }
    };
    visit(entry);
    return seen;
  }

  test('reaches no rollout, optimizer, model, process or socket', () => {
    const entries = ['session/verify.ts', 'session/verify-evaluation.ts', 'cli/render-eval.ts', 'report/markdown.ts'];
    const reached = entries.flatMap((entry) => [...closure(entry)]);
    expect(reached).toContain('engine/loop.ts');
    expect(reached).toContain('engine/evaluate.ts');
    expect(
      reached.filter((f) => /^(rollout|optimizer|models|gateway|process|taskpack|cli(?!\/render-eval)|tui)\//.test(f)),
    ).toEqual([]);
    expect(reached.filter((f) => /^(execa|node:(net|http|https|tls|child_process))$|anthropic|openai/.test(f))).toEqual(
      [],
    );
  });
});
