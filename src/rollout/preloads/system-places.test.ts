import { describe, expect, test } from 'bun:test';
import { shownOf } from './system-places.ts';

const python = (base: string, executable = `${base}/bin/python3`) =>
  shownOf({ base, executable, library: 'lib/python3.11' }, '/home/ada');

describe('what is shown of an interpreter', () => {
  test('is where it is installed, and nothing of the system', () => {
    expect(python('/usr')).toEqual([]);
    expect(python('/opt/python')).toEqual(['/opt/python']);
    expect(python('/home/ada/.pyenv/versions/3.11')).toEqual(['/home/ada/.pyenv/versions/3.11']);
    expect(python('/opt/python', '/opt/bin/python3')).toEqual(['/opt/python', '/opt/bin']);
  });

  test('is never the home of the user, nor a folder above it', () => {
    expect(python('/home/ada')).toEqual(['/home/ada/bin/python3', '/home/ada/lib/python3.11']);
    expect(python('/home')).toEqual(['/home/bin/python3', '/home/lib/python3.11']);
    expect(python('/', '/usr/bin/python3')).toEqual([]);
    expect(python('/opt/python', '/home/ada/python3')).toEqual(['/opt/python']);
    expect(shownOf({ base: '/home/ada', executable: '/home/ada/bin/node', library: null }, '/home/ada')).toEqual([
      '/home/ada/bin/node',
    ]);
  });
});
