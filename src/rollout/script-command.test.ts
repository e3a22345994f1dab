import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptCommand, scriptOddities } from './script-command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'script-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cases: readonly (readonly [string, readonly string[]])[] = [
  ['echo hi\n', ['bash']],
  ['', ['bash']],
  ['# comment\n#!/bin/sh\n', ['bash']],
  ['#!/bin/sh\necho', ['/bin/sh']],
  ['#!/bin/sh', ['/bin/sh']],
  ['#! /bin/sh -eu \necho', ['/bin/sh', '-eu']],
  ['#!/bin/sh\r\necho', ['/bin/sh']],
  ['#!/usr/bin/env bash\necho', ['/usr/bin/env', 'bash']],
  ['#!/usr/bin/env -S bash -e\necho', ['/usr/bin/env', '-S bash -e']],
  ['#!/no/such/place/bash -e\necho', ['bash', '-e']],
];
for (const [text, want] of cases) {
  test(JSON.stringify(text), async () => {
    const path = join(folder, 'script');
    writeFileSync(path, text);
    expect<readonly string[]>(await scriptCommand(path)).toEqual([...want, path]);
  });
}

const crlf = 'tests/test.sh: it has Windows line ends (CR LF)';
const oddCases: readonly (readonly [string, readonly string[]])[] = [
  ['echo hi\n', []],
  ['#!/bin/sh\necho\r\n', []],
  ['#!/bin/sh\r\necho\r\n', [crlf]],
  ['echo hi\r\n', [crlf]],
  ['#!/no/such/place/python9 -u\n', ['tests/test.sh asks for /no/such/place/python9, which is not there']],
  // A program of that name on PATH is taken instead.
  ['#!/no/such/place/sh\n', []],
  ['#!/usr/bin/env sh\n', []],
  ['#!/usr/bin/env python9\n', ['tests/test.sh asks for python9 by /usr/bin/env, which does not find it on PATH']],
  [
    '#!/usr/bin/env -S A=1 python9 -u\n',
    ['tests/test.sh asks for python9 by /usr/bin/env, which does not find it on PATH'],
  ],
  ['#!/opt/x/python9\r\n', ['tests/test.sh asks for /opt/x/python9, which is not there', crlf]],
];
for (const [text, want] of oddCases) {
  test(`what is odd about ${JSON.stringify(text)}`, async () => {
    const path = join(folder, 'odd');
    writeFileSync(path, text);
    expect(await scriptOddities(path, 'tests/test.sh', { path: '/usr/bin:/bin', ownPath: null })).toEqual(want);
  });
}

test('a script that is gone is odd, and no exception', async () => {
  expect(await scriptOddities(join(folder, 'none'), 'tests/test.sh', { path: undefined, ownPath: null })).toEqual([
    'tests/test.sh can not be read',
  ]);
});
