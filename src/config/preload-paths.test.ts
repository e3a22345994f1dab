import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { localPath, withMovedPaths, withoutPlaces } from './preload-paths.ts';
import { preloadsConfig } from './preloads.ts';

describe('paths in preloads', () => {
  test.each([
    ['prettier@3.6.2', null],
    ['@scope/name', null],
    ['user/repo', null],
    ['git+https://example.com/x.git', null],
    ['https://example.com/x.tgz', null],
    ['own @ https://example.com/own.whl', null],
    ['pandas==2.3.3', null],
    ['.', '.'],
    ['./x', './x'],
    ['../x', '../x'],
    ['/x', '/x'],
    ['x-1.0.0.tgz', 'x-1.0.0.tgz'],
    ['x-1.0-py3-none-any.whl', 'x-1.0-py3-none-any.whl'],
    ['file:x', 'x'],
    ['file:../x', '../x'],
    ['file:///x', '/x'],
  ])('%s', (spec, path) => {
    expect(localPath(spec)).toBe(path);
  });

  test('move with the directory, and a spec that is a path stays one', () => {
    const wanted = {
      skills: ['../a', 'b/SKILL.md'],
      npm: ['x@1.0.0', 'file:y', './z'],
      pip: ['w-1.0-py3-none-any.whl'],
      commands: ['jq'],
    };
    const moved = (path: string) => join('sub', path);
    expect(withMovedPaths('preloads', wanted, moved)).toEqual({
      skills: ['a', 'sub/b/SKILL.md'],
      npm: ['x@1.0.0', './sub/y', './sub/z'],
      pip: ['sub/w-1.0-py3-none-any.whl'],
      commands: ['jq'],
    });
    expect(withMovedPaths('preloads.npm', ['./z'], moved)).toEqual(['./sub/z']);
  });

  test('whatever stands there, nothing else is touched, and no packages become paths or the other way round', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('a', './a', '../a', 'file:a', 'a/b', 'a@1.0.0', 'a.tgz', 'https://x/a.tgz', '/a'),
    );
    fc.assert(
      fc.property(fc.array(text), (npm) => {
        const out = withMovedPaths('preloads.npm', npm, (path) => join('elsewhere', path)) as readonly string[];
        expect(out).toHaveLength(npm.length);
        for (const [at, spec] of npm.entries()) {
          expect(localPath(out[at] ?? '') === null).toBe(localPath(spec) === null);
          if (localPath(spec) === null) expect(out[at]).toBe(spec);
        }
      }),
    );
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const key of ['preloads', 'preloads.skills', 'preloads.env']) withMovedPaths(key, value, (path) => path);
      }),
    );
  });

  test('do not tell one session from another; names of files do', () => {
    const at = (folder: string) =>
      withoutPlaces(preloadsConfig.parse({ skills: [`${folder}/writer`], npm: [`${folder}/x`] }));
    expect(at('..')).toEqual(at('../../deeper'));
    expect(withoutPlaces(preloadsConfig.parse({ skills: ['../writer/SKILL.md'] }))).toEqual(
      withoutPlaces(preloadsConfig.parse({ skills: ['../writer'] })),
    );
    expect(withoutPlaces(preloadsConfig.parse({ skills: ['../reader'] }))).not.toEqual(
      withoutPlaces(preloadsConfig.parse({ skills: ['../writer'] })),
    );
  });
});
