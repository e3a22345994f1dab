import { describe, expect, test } from 'bun:test';
import { namedSecrets, plainVariables } from './environment.ts';

describe('secrets of the environment', () => {
  const env = {
    SOME_TOKEN: 'abc-12345',
    SHORT_TOKEN: 'abc',
    WORD_TOKEN: 'production',
    MODE: 'Xyzzy-1',
    PLACE: import.meta.dir,
    LONG_WORD: 'correcthorsebatterystaple',
    STAGE: 'production',
    EMPTY: '',
  };
  const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

  test('are those whose names say so', () => {
    expect(names(namedSecrets(env))).toEqual(['SOME_TOKEN']);
  });

  test('and those that a config names, unless they are found in any text or are a place of this machine', () => {
    const named = ['MODE', 'PLACE', 'LONG_WORD', 'STAGE', 'EMPTY', 'SHORT_TOKEN', 'NOT_SET'];
    expect(names(namedSecrets(env, named))).toEqual(['SOME_TOKEN', 'MODE', 'LONG_WORD']);
    expect(plainVariables(env, named)).toEqual(['PLACE', 'STAGE', 'EMPTY', 'SHORT_TOKEN']);
  });
});
