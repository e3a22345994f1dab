import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * Builds the one binary: `bun build.ts [--target=bun-linux-arm64] [--outfile=dist/skillopt]`. With `--entry=FILE` the
 * same is made of another program, to compare with.
 * The examples are embedded, each with the pack of its name from `tasks/`; modes get lost on the way, so a list of what is
 * executable goes with them.
 */
const arg = (name: string) => process.argv.find((a) => a.startsWith(`--${name}=`))?.split('=')[1];
const out = resolve(arg('outfile') ?? 'dist/skillopt');
const target = arg('target') as Bun.Build.CompileTarget | undefined;
const root = import.meta.dir;

mkdirSync(dirname(out), { recursive: true });
// Source maps land beside the output, and assets are named by their folder: both in a scratch folder.
const scratch = mkdtempSync(join(dirname(out), '.build-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const assets = join(scratch, 'examples');
cpSync(join(root, 'examples'), assets, { recursive: true });
for (const pack of readdirSync(join(root, 'tasks'), { withFileTypes: true }).filter((entry) => entry.isDirectory()))
  cpSync(join(root, 'tasks', pack.name), join(assets, pack.name, 'tasks'), { recursive: true });
const executables = readdirSync(assets, { recursive: true, encoding: 'utf8' })
  .filter((path) => statSync(join(assets, path)).isFile() && (statSync(join(assets, path)).mode & 0o100) !== 0)
  .sort();
writeFileSync(join(assets, '.executables.json'), JSON.stringify(executables));

const result = await Bun.build({
  entrypoints: [resolve(root, arg('entry') ?? 'src/main.tsx')],
  minify: true,
  sourcemap: 'linked',
  bytecode: true,
  format: 'esm',
  splitting: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  compile: {
    outfile: join(scratch, basename(out)),
    ...(target ? { target } : {}),
    // otherwise a .env or a bunfig.toml of the folder where it is started would run
    autoloadDotenv: false,
    autoloadBunfig: false,
    assets: [assets],
  },
  plugins: [
    {
      name: 'ink without its development tools',
      setup(build) {
        build.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'none', namespace: 'none' }));
        build.onLoad({ filter: /.*/, namespace: 'none' }, () => ({
          contents: 'export default { initialize() {}, connectToDevTools() {} }',
          loader: 'js',
        }));
      },
    },
    {
      name: 'the client of OpenAI with nothing but its chat',
      setup(build) {
        build.onLoad({ filter: /[\\/]node_modules[\\/]openai[\\/]resources[\\/].+\.mjs$/ }, async ({ path }) => {
          const text = await Bun.file(path).text();
          if (/[\\/]resources[\\/](index|shared|chat[\\/].+)\.mjs$/.test(path)) return { contents: text, loader: 'js' };
          // the client makes one of each when it is made: empty classes do
          const names = [...text.matchAll(/^export (?:class|const|var|let|function) (\w+)/gm)].map((m) => m[1]);
          return { contents: names.map((n) => `export class ${n} {}`).join('\n'), loader: 'js' };
        });
      },
    },
    {
      name: 'the price list as data',
      setup(build) {
        build.onLoad({ filter: /[\\/]@pydantic[\\/]genai-prices[\\/]dist[\\/]index\.js$/ }, async ({ path }) => {
          const text = await Bun.file(path).text();
          const [whole, name, list] = /^const (\w+) = (\[[\s\S]*?\n\])[,;]/.exec(text) ?? [];
          if (whole === undefined) throw new Error('the price list is not where it was');
          // compiled, a literal of this size takes three times its size; packed, a tenth of it
          const file = join(scratch, 'prices.json.gz');
          writeFileSync(file, gzipSync(JSON.stringify(new Function(`return ${list}`)())));
          const head = [
            `import { readFileSync } from 'node:fs';`,
            `import { gunzipSync } from 'node:zlib';`,
            `import pricesFile from ${JSON.stringify(file)} with { type: 'file' };`,
            `const ${name} = JSON.parse(gunzipSync(readFileSync(pricesFile)).toString())`,
          ];
          return { contents: head.join('\n') + text.slice(whole.length - 1), loader: 'js' };
        });
      },
    },
  ],
});
for (const log of result.logs) console.error(log);
const built = result.outputs.find((o) => o.kind === 'entry-point');
if (!result.success || !built) process.exit(1);
renameSync(built.path, out);
console.log(`${out} ${(statSync(out).size / 1e6).toFixed(1)} MB`);
