import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { missingCommands } from './commands.ts';
import { taskFiles, temporaryFolder } from './pack-fixture.ts';
import { readPack } from './read-pack.ts';

test('finds the commands that a PATH does not hold, once each, with the tasks that need them', async () => {
  const needs = (...names: string[]) => ({ 'task.toml': `[metadata]\ncommands = ${JSON.stringify(names)}\n` });
  const { dir, remove } = await temporaryFolder({
    ...taskFiles('pack/a', needs('have', 'lack')),
    ...taskFiles('pack/b', needs('lack', 'folder', 'plain')),
    ...taskFiles('pack/c'),
    'bin/have*': '',
    'bin/plain': '',
    'bin/folder/x': '',
    'relative/lack*': '',
  });
  try {
    const { tasks } = await readPack(join(dir, 'pack'));
    const missing = (path: string) =>
      missingCommands(tasks, path).map(({ what, where }) => [/command (\S+)/.exec(what)?.[1], where]);
    expect(missing(`relative:/nowhere::${join(dir, 'bin')}`)).toEqual([
      ['folder', 'needed by b'],
      ['lack', 'needed by a, b'],
      ['plain', 'needed by b'],
    ]);
    expect(missing('').map(([name]) => name)).toEqual(['folder', 'have', 'lack', 'plain']);
    expect(missing(`${join(dir, 'bin')}:${join(dir, 'relative')}`).map(([name]) => name)).toEqual(['folder', 'plain']);
    expect(missingCommands(tasks, '').map(({ level, fix }) => [level, fix])[0]).toEqual([
      'error',
      'install folder, or take the tasks that need it out of the pack',
    ]);
  } finally {
    await remove();
  }
});
