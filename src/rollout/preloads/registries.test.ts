import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { SkilloptError } from '../../ports/failure.ts';
import { PreloadBench } from './preload-fixture.ts';

// What is fetched: these tests need the registries of npm and of Python.

describe('packages of a registry', () => {
  let bench: PreloadBench;
  const wanted = { npm: ['semver@7.7.2'], pip: ['cowsay==6.1'], setup: ['python3 -m pip install --quiet six==1.17.0'] };
  beforeAll(() => {
    bench = new PreloadBench();
  });
  afterAll(() => bench.close());

  test('come in the version that is named, and what a setup line installs lands beside them', async () => {
    const { prepared } = await bench.prepare(wanted);
    expect(prepared.versions).toMatchObject({ 'npm semver': '7.7.2', 'pip cowsay': '6.1' });
    const preloading = await bench.prepare(wanted, { isNew: false });
    expect(await bench.sh(preloading, 'semver 1.2.3 -r ">=1"')).toBe('1.2.3');
    expect(await bench.sh(preloading, 'cowsay -t moo | grep -c moo')).toBe('1');
    expect(await bench.sh(preloading, 'python3 -c "import six; print(six.__version__)"')).toBe('1.17.0');
    expect(bench.left()).toEqual(['build.log', expect.stringMatching(/^[0-9a-f]{12}$/), 'kept', 'ready.json']);
    expect(bench.read('my session/.skillopt/preloads/kept/pip.txt')).toBe('cowsay==6.1\n');
  });

  test('come again in the same version, also where none is named', async () => {
    // 5.0 has no wheel
    const open = { npm: ['semver@^7.0.0'], pip: ['cowsay<6'] };
    const { prepared } = await bench.prepare(open);
    expect(prepared.versions).toMatchObject({ 'npm semver': expect.stringMatching(/^7\./), 'pip cowsay': '4.0' });
    rmSync(prepared.show[0] ?? '', { recursive: true });
    const again = await bench.prepare(open, { isNew: false });
    expect(again.prepared.versions).toEqual(prepared.versions);
    expect(await bench.sh(again, 'semver 1.2.3')).toBe('1.2.3');
  });

  test.each([
    ['npm', { npm: ['semver@999.0.0'] }, 'correct name and version in preloads.npm'],
    ['pip', { pip: ['cowsay==999'] }, 'correct name and version in preloads.pip; a package that has no wheel'],
  ])('%s says that there is no such version', async (_kind, none, fix) => {
    const error = await bench.prepare(none).then(
      () => null,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(SkilloptError);
    expect((error as SkilloptError).failure).toMatchObject({ code: 'preflight', fix: expect.stringContaining(fix) });
    expect(bench.left()).toEqual(['build.log']);
  });
});
