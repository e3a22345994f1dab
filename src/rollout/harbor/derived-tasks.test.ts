import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FolderTask } from '../../ports/task.ts';
import { DerivedTasks, layerProblem, withoutImage } from './derived-tasks.ts';
import { finalUser, type Layer, layerHash } from './layer.ts';
import { baseImage, taskEnvironment } from './task-environment.ts';

const root = mkdtempSync(join(tmpdir(), 'derived-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function task(files: Readonly<Record<string, string>>): FolderTask {
  const dir = join(root, `pack-${++count}`, 'task');
  for (const [name, text] of Object.entries({ 'instruction.md': 'Do it.\n', 'task.toml': '', ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return { id: 'task', dir, hash: `h${count}` } as FolderTask;
}
const none: Layer = { apt: [], npm: [], pip: [], setup: [], commands: [], files: new Map() };
const read = (t: FolderTask, name: string) => readFileSync(join(t.dir, name), 'utf8');

/** All files below a folder, with their texts. */
function tree(dir: string): Readonly<Record<string, string>> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
  return Object.fromEntries(
    files
      .map((e) => join(e.parentPath, e.name))
      .sort()
      .map((f) => [f, readFileSync(f, 'utf8')]),
  );
}

describe('a derived task', () => {
  const layer: Layer = {
    ...none,
    apt: ['jq'],
    npm: ['a b'],
    pip: ['x==1'],
    setup: ['echo "$PREFIX"'],
    commands: ['jq'],
  };

  test('is a copy with the layer at the end of its Dockerfile; the user’s own stays as it was', async () => {
    const own = task({ 'environment/Dockerfile': 'FROM debian:12\nUSER app', 'tests/test.sh': 'exit 0\n' });
    const before = tree(own.dir);
    const derived = await new DerivedTasks(join(root, 'a'), layer).of(own);
    expect(tree(own.dir)).toEqual(before);
    expect({ ...derived, dir: '' }).toEqual({ ...own, dir: '' });
    expect(read(derived, 'tests/test.sh')).toBe('exit 0\n');
    const lines = read(derived, 'environment/Dockerfile')
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.slice(0, 4)).toEqual(['FROM debian:12', 'USER app', '# what the session preloads', 'USER root']);
    expect(lines.at(-1)).toBe('USER app');
    const text = lines.join('\n');
    for (const part of ['apt-get update', 'install -g', "'a b'", 'x==1', 'echo \\"$PREFIX\\"', 'for c in jq'])
      expect(text).toContain(part);
  });

  test('is made once, also when it is asked for side by side', async () => {
    const own = task({ 'environment/Dockerfile': 'FROM debian:12\n' });
    const derived = new DerivedTasks(join(root, 'b'), layer);
    const [one, two] = await Promise.all([derived.of(own), derived.of(own)]);
    expect(one.dir).toBe(two.dir);
    writeFileSync(join(one.dir, 'mark'), '');
    expect((await new DerivedTasks(join(root, 'b'), layer).of(own)).dir).toBe(one.dir);
    expect(read(one, 'mark')).toBe('');
    expect((await new DerivedTasks(join(root, 'b'), { ...layer, apt: ['vim'] }).of(own)).dir).not.toBe(one.dir);
  });

  test('of a task with an image is built from that image, with the files that Harbor would have laid out', async () => {
    const toml = '[environment]\ndocker_image = "own:1"\nworkdir = "/w"\ncpus = 1\n';
    const own = task({ 'task.toml': toml, 'environment/data/x.txt': 'x' });
    const derived = await new DerivedTasks(join(root, 'c'), layer).of(own);
    expect(taskEnvironment(derived.dir)).toMatchObject({ dockerImage: null, workdir: '/w' });
    expect(read(derived, 'environment/Dockerfile')).toStartWith('FROM own:1\nCOPY [".","/w/"]\n');
    expect(read(derived, 'environment/.dockerignore')).toContain('Dockerfile');
    expect(read(derived, 'task.toml')).toContain('cpus = 1');
    expect(read(own, 'task.toml')).toBe(toml);
  });

  test('brings packages of this machine along, which its own .dockerignore does not hide', async () => {
    const pack = join(root, 'pack.tgz');
    writeFileSync(pack, 'bytes');
    const files = new Map([['./pack.tgz', { path: pack, hash: 'h' }]]);
    const own = task({ 'environment/Dockerfile': 'FROM debian:12\n', 'environment/.dockerignore': '*\n' });
    const derived = await new DerivedTasks(join(root, 'd'), { ...none, npm: ['./pack.tgz'], files }).of(own);
    const dockerfile = read(derived, 'environment/Dockerfile');
    const folder = /COPY \["([^"]+)\/"/.exec(dockerfile)?.[1] ?? '';
    expect(read(derived, `environment/${folder}/0/pack.tgz`)).toBe('bytes');
    expect(read(derived, 'environment/.dockerignore')).toContain(`!${folder}`);
    expect(dockerfile).toContain('/opt/skillopt-layer/0/pack.tgz');
  });

  test.each([
    [
      'an image of its compose file',
      { 'environment/Dockerfile': 'FROM a\n', 'environment/docker-compose.yaml': 'services: {main: {image: x}}' },
    ],
    [
      'a compose file that can’t be read',
      { 'environment/Dockerfile': 'FROM a\n', 'environment/docker-compose.yaml': '{{' },
    ],
    ['nothing to build', {}],
    ['an image in an inline table', { 'task.toml': 'environment = { docker_image = "i" }\n' }],
  ])('is refused for %s', async (_, files) => {
    const own = task(files as unknown as Record<string, string>);
    expect(layerProblem(own)).not.toBeNull();
    const failed = await new DerivedTasks(join(root, 'e'), layer).of(own).then(
      () => null,
      (error) => error,
    );
    expect(failed).toMatchObject({ failure: { code: 'config', where: 'task task' } });
  });

  test('takes a compose file that leaves the image to the Dockerfile', () => {
    const files = {
      'environment/Dockerfile': 'FROM a\n',
      'environment/docker-compose.yaml': 'services: {main: {environment: {A: b}}, db: {image: x}}',
    };
    expect(layerProblem(task(files))).toBeNull();
  });
});

test('a layer is known by its words and the bytes of its packages, not by where they lie', () => {
  const at = (path: string, hash: string): Layer => ({
    ...none,
    npm: ['./p'],
    files: new Map([['./p', { path, hash }]]),
  });
  expect(layerHash(at('/a', 'h'))).toBe(layerHash(at('/b', 'h')));
  expect(layerHash(at('/a', 'h'))).not.toBe(layerHash(at('/a', 'i')));
});

test.each([
  ['FROM a\n', null],
  ['FROM a\nUSER x\n', 'x'],
  ['FROM a AS b\nUSER x\nFROM b\nRUN y\n', 'x'],
  ['FROM a\nUSER x\nFROM b\n', null],
  ['from a\nuser x\nUSER 10:10\n', '10:10'],
])('who %j ends with: %j', (dockerfile, user) => {
  expect(finalUser(dockerfile)).toBe(user);
});

test.each([
  ['FROM --platform=linux/amd64 a:1 AS x\nFROM b\n', 'b'],
  ['FROM a:1 AS x\nRUN y\nFROM x\n', 'a:1'],
])('what %j is made from: %s', (dockerfile, image) => {
  expect(baseImage({ dockerImage: null, dockerfile, compose: false, workdir: null })).toBe(image);
});

test.each([
  ['[environment]\ndocker_image = "a"\ncpus = 1\n', '[environment]\ncpus = 1\n'],
  ['environment.docker_image = "a"\nx = 1\n', 'x = 1\n'],
  [
    '[verifier.environment]\ndocker_image = "v"\n[environment]\n docker_image = "a" # why\n',
    '[verifier.environment]\ndocker_image = "v"\n[environment]\n',
  ],
  ['environment = { docker_image = "a" }\n', null],
  ['[environment]\ncpus = 1\n', null],
  ['[environment]\ndocker_image = """\na"""\n', null],
])('%j without its image', (toml, left) => {
  expect(withoutImage(toml)).toBe(left);
});
