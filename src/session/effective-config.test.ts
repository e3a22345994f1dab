import { describe, expect, test } from 'bun:test';
import { layersOf, type Override } from '../config/layers.ts';
import { checkConfig } from '../config/load.ts';
import { bounds, effectiveConfig } from './effective-config.ts';
import { Logged } from './logged.ts';
import { sessionPaths } from './paths.ts';

const paths = sessionPaths('/nowhere');
const dataWith = (limits: object) => ({ skill: 's', pack: 'p', agent: 'a', optimizer: 'o', limits });
const fileWith = (limits: object) => checkConfig(dataWith(limits), paths.config);
const layersWith = (limits: object) => layersOf(dataWith(limits), { kind: 'file', path: paths.config }, paths.config);
const limitUsd = (value: number): Override => ({
  key: 'limits.usd',
  value,
  source: { kind: 'flag', flag: `--limit-usd ${value}` },
});

/** The limits of a run, after one that had this file and wanted this. */
function limitsOf(
  file: object,
  before: { readonly file: object; readonly wanted: object },
  flags: readonly Override[] = [],
) {
  const logged = new Logged();
  logged.file = bounds(fileWith(before.file));
  logged.wanted = bounds(fileWith(before.wanted));
  return effectiveConfig(layersWith(file), flags, logged, paths).config.limits;
}

describe('a limit on money', () => {
  test('of a flag stands until the file is changed or another flag is given', () => {
    const before = { file: {}, wanted: { usd: 5 } };
    expect(limitsOf({}, before).usd).toBe(5);
    expect(limitsOf({}, before, [limitUsd(8)]).usd).toBe(8);
    expect(limitsOf({ usd: 3 }, before).usd).toBe(3);
  });

  test('of a flag is taken back by a null in the file, as messages tell to', () => {
    expect(limitsOf({ usd: null }, { file: {}, wanted: { usd: 5 } }).usd).toBeNull();
    expect(limitsOf({ usd: null }, { file: { usd: null }, wanted: { usd: 5 } }).usd).toBe(5);
  });

  test('that was none stays as it was, whether it is written as null or left out', () => {
    expect('usd' in limitsOf({ usd: null }, { file: {}, wanted: {} })).toBe(false);
    expect(limitsOf({}, { file: { usd: null }, wanted: { usd: null } }).usd).toBeNull();
  });
});
