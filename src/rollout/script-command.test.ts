import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptCommand } from './script-command.ts';

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
