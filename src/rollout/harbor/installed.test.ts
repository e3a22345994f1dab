import { describe, expect, test } from 'bun:test';
import { notStarted, type ProcessEnd } from '../../process/process-end.ts';
import { namesIn, pythonIn, readAnswer } from './installed.ts';
import { versionFinding } from './version.ts';

const ended = (stdout: string, exitCode = 0, stderr = ''): ProcessEnd => ({
  ...notStarted(''),
  cause: 'exited',
  exitCode,
  stdout,
  stderr,
});

describe('what Harbor answers to --version', () => {
  test.each([
    ['the tested one', '0.26.0\n', 'ok', 'Harbor 0.26.0'],
    ['a newer patch', '0.26.9\n', 'ok', 'Harbor 0.26.9'],
    ['the floor', '0.25.0\n', 'ok', 'Harbor 0.25.0'],
    ['a release candidate', '0.26.0rc1\n', 'ok', 'Harbor 0.26.0rc1'],
    ['a newer minor', '0.27.0\n', 'warning', 'newer than 0.26'],
    ['a newer major', '1.0.0\n', 'warning', 'newer than 0.26'],
    ['an older one', '0.24.3\n', 'error', 'older than 0.25'],
    ['the registry of that name', 'harbor version v0.0.14\n', 'error', 'it says "harbor version v0.0.14"'],
    ['nothing', '', 'error', 'exit code 0'],
  ] as const)('%s', (_name, stdout, level, words) => {
    const finding = versionFinding(ended(stdout), 'harbor');
    expect(finding.level).toBe(level);
    expect(finding.what).toContain(words);
    expect(finding.fix === '').toBe(level === 'ok');
  });

  test('a program that knows no --version is another one, and one that is not there is missing', () => {
    expect(versionFinding(ended('', 1, 'Error: unknown flag: --version\nmore'), 'harbor').what).toContain(
      'another program of that name, or a broken one: asked for its version it says "Error: unknown flag: --version"',
    );
    expect(versionFinding(notStarted('the command harbor was not found on its PATH'), 'harbor').what).toBe(
      'Harbor is not installed: the command harbor was not found on its PATH',
    );
  });
});

describe('what the installed Harbor says', () => {
  test.each([
    ['a script', '#!/opt/venv/bin/python\nimport re', ['/opt/venv/bin/python']],
    ['with a version', '#!/usr/bin/python3.13 -E\n', ['/usr/bin/python3.13', '-E']],
    ['by env', '#!/usr/bin/env python3\n', ['/usr/bin/env', 'python3']],
    ['a long path', `#!/bin/sh\n'''exec' "/a b/python3" "$0" "$@"\n' '''\n`, ['/a b/python3']],
    ['a long path of uv', `#!/bin/sh\n'''exec' '/a b/python' "$0" "$@"\n' '''\n`, ['/a b/python']],
    ['a shell script', '#!/bin/sh\nexec /opt/harbor\n', null],
    ['a program', '\x7fELF', null],
  ] as const)('its Python: %s', (_name, head, words) => {
    expect(pythonIn(head)).toEqual(words === null ? null : ([...words] as [string]));
  });

  test('names, as JSON and as a table', () => {
    expect(namesIn('["a", "b-c"]')).toEqual(['a', 'b-c']);
    expect(namesIn('  Agents\n┏━━┓\n┃ Name ┃\n┡━━┩\n│ a     │\n│ b-c │\n└──┘\n')).toEqual(['a', 'b-c']);
    expect(namesIn('')).toEqual([]);
  });

  test('its answer is found among what else is printed, and each part stands alone', () => {
    const answer = readAnswer('noise\nskillopt-answer {"environments": ["docker"], "agents": 3, "takesSkill": true}\n');
    expect(answer).toEqual({
      environments: ['docker'],
      agents: [],
      extra: null,
      refusal: null,
      takesSkill: true,
      skillAgents: [],
      networkProbe: null,
    });
    expect(readAnswer('Traceback')).toBeNull();
    expect(readAnswer('skillopt-answer {')).toBeNull();
  });
});
