import { describe, expect, test } from 'bun:test';
import { SkilloptError } from '../../ports/failure.ts';
import { cleanEnvironment, resolveVariables } from './environment.ts';
import { foldersIn } from './folders.ts';

const reference = (name: string) => `\${${name}}`;

describe('variables of a task', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['plain', 'plain'],
    [reference('SET'), 'value'],
    [reference('SET:-other'), 'value'],
    [reference('UNSET:-other'), 'other'],
    [reference('UNSET:-'), ''],
    [reference('UNSET:-a}b:-c'), 'a}b:-c'],
    [`x${reference('UNSET')}`, `x${reference('UNSET')}`],
    ['$SET', '$SET'],
  ];
  for (const [value, want] of cases) {
    test(value, () => expect(resolveVariables({ A: value }, { SET: 'value' }, 'task')).toEqual({ A: want }));
  }

  test('one that is not set is named', () => {
    const resolve = () => resolveVariables({ A: reference('UNSET') }, {}, 'task-1');
    expect(resolve).toThrow(SkilloptError);
    expect(resolve).toThrow(/UNSET for A.*task-1/);
  });
});

test('only a few things of the host are taken, and no task moves the folders', () => {
  const folders = foldersIn('/r');
  const host = { PATH: '/bin', LANG: 'de_DE.UTF-8', TZ: 'UTC', SOME_API_KEY: 'secret', BASH_ENV: '/x', HOME: '/me' };
  expect(cleanEnvironment(host, { A: '1', HOME: '/else', APP_DIR: '/app' }, folders)).toEqual({
    PATH: '/bin',
    LANG: 'de_DE.UTF-8',
    TZ: 'UTC',
    A: '1',
    HOME: '/r/home',
    TMPDIR: '/r/tmp',
    APP_DIR: '/r/app',
    LOGS_DIR: '/r/logs',
  });
  expect(cleanEnvironment({}, {}, folders)).toMatchObject({ LANG: 'C.UTF-8', PATH: '/usr/local/bin:/usr/bin:/bin' });
});
