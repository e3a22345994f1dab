import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { sha256 } from '../../ports/hash.ts';
import { runProcess } from '../../process/run-process.ts';
import { harborIsHere } from './bench-fixture.ts';
import { isInjected, laySkill, skillDigest } from './skills.ts';

let work = '';
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'harbor-skills-'));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

let folders = 0;
function folderOf(files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}): string {
  const folder = join(work, String(folders++));
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path));
  return folder;
}

const skillOf = (text: string, bundleDir: string | null) => ({ name: 'greeter', hash: sha256(text), text, bundleDir });

/** Digests of folders by Harbor itself. */
async function digestsByHarbor(dirs: readonly string[]): Promise<readonly string[]> {
  const python = join(dirname(realpathSync(Bun.which('harbor') ?? '')), 'python');
  const code =
    'import sys, json; from pathlib import Path; from harbor.skills import compute_skill_digest as d; print(json.dumps([d(Path(p)) for p in json.load(open(sys.argv[1]))]))';
  const list = join(work, 'list.json');
  writeFileSync(list, JSON.stringify(dirs));
  const env = { PATH: process.env.PATH ?? '', HOME: work, PYTHONUTF8: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const end = await runProcess({ command: [python, '-c', code, list], cwd: work, env, timeoutMs: 120_000 });
  if (end.exitCode !== 0) throw new Error(end.stderr);
  return JSON.parse(end.stdout);
}

/** Names whose order depends on how texts are compared: by bytes, by halves of characters, by parts of paths. */
const name = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'a.b',
    'a b',
    'a-b',
    '.hidden',
    '_',
    'é',
    'e\u0301',
    'ｱ',
    '😀',
    '\uFFFD',
    '文',
    'SKILL.md',
    '%41',
    "it's",
    '"',
    '\\',
  ),
  fc.stringMatching(/^[!-.0-~]{1,6}$/).filter((text) => text !== '.' && text !== '..'),
);
const tree = fc.dictionary(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
  fc.string({ unit: 'binary', maxLength: 20 }),
  { maxKeys: 12 },
);

/** Of paths of which one would be a file and a folder at once only the first. */
function possible(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [path, text] of Object.entries(files)) {
    const clashes = Object.keys(kept).some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
    if (!clashes) kept[path] = text;
  }
  return kept;
}

(harborIsHere ? describe : describe.skip)('with Harbor', () => {
  test('a folder’s digest is the one that Harbor gives it, whatever its files are called', async () => {
    const dirs = fc.sample(tree, { numRuns: 150, seed: 7 }).map((files) => folderOf(possible(files)));
    dirs.push(
      folderOf({}),
      folderOf({ 'SKILL.md': 'x', 'in/a.txt': 'y' }, { 'to-file': 'in/a.txt', 'to-folder': 'in', broken: 'nowhere' }),
      folderOf({ 'a/b': '1', 'a.b': '2', 'a b': '3', 'a-b/c': '4', 'A/b': '5' }),
    );
    const own = await Promise.all(dirs.map(skillDigest));
    expect(own).toEqual([...(await digestsByHarbor(dirs))]);
    expect(new Set(own).size).toBeGreaterThan(100);
  }, 180_000);
});

test('a skill is laid out with its text, its files and its name, once', async () => {
  const bundle = folderOf(
    { 'SKILL.md': 'the seed’s', 'scripts/run.sh': 'echo', '.hidden': 'h' },
    { link: 'scripts/run.sh' },
  );
  const root = join(work, 'laid');
  const laid = await laySkill(skillOf('the draft’s', bundle), root);
  expect(laid.dir).toEndWith('/greeter');
  const read = (path: string) => readFileSync(join(laid.dir, path), 'utf8');
  expect([read('SKILL.md'), read('scripts/run.sh'), read('.hidden'), read('link')]).toEqual([
    'the draft’s',
    'echo',
    'h',
    'echo',
  ]);
  expect(readlinkSync(join(laid.dir, 'link'))).toBe('scripts/run.sh');
  expect(readFileSync(join(bundle, 'SKILL.md'), 'utf8')).toBe('the seed’s');
  expect(await laySkill(skillOf('the draft’s', bundle), root)).toEqual(laid);
  const other = await laySkill(skillOf('another', bundle), root);
  expect([other.dir === laid.dir, other.digest === laid.digest]).toEqual([false, false]);
  // what was half written is written again
  writeFileSync(join(laid.dir, 'SKILL.md'), 'the dra');
  expect(await laySkill(skillOf('the draft’s', bundle), root)).toEqual(laid);
  expect(read('SKILL.md')).toBe('the draft’s');
});

test('a trial’s lock says whether the skill was there, or nothing', async () => {
  const laid = { dir: '/s', digest: 'sha256:1' };
  const lockOf = (lock: string | null) => isInjected(folderOf(lock === null ? {} : { 'lock.json': lock }), laid);
  const entry = { name: 'greeter', source: '/s', digest: 'sha256:1' };
  expect(await lockOf(JSON.stringify({ skills: [{ ...entry, digest: 'sha256:2' }, entry] }))).toBe(true);
  expect(await lockOf(JSON.stringify({ skills: [{ ...entry, digest: 'sha256:2' }] }))).toBe(false);
  expect(await lockOf(JSON.stringify({ skills: [] }))).toBe(false);
  for (const odd of [null, '', '{', '{}', '{"skills":null}', '{"skills":7}', '[]', '{"skills":[{}]}'])
    expect(await lockOf(odd)).toBeNull();
});
