import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProcess } from '../../../process/run-process.ts';
import { readOutput, replaceOutput } from './output-file.ts';

let base = '';
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'skillopt-output-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const at = (name: string) => join(base, name);

test('a plain file is read whole', async () => {
  writeFileSync(at('whole'), 'äöü 🦀\n');
  expect(await readOutput(at('whole'))).toBe('äöü 🦀\n');
});

test('of a long one the first and the last half are read, apart', async () => {
  writeFileSync(at('long'), `${'a'.repeat(600)}${'b'.repeat(600)}`);
  expect(await readOutput(at('long'), 200)).toBe(`${'a'.repeat(100)}\n${'b'.repeat(100)}`);
});

test('what is no plain file is nothing, and is not waited for', async () => {
  writeFileSync(at('elsewhere'), 'mine');
  symlinkSync(at('elsewhere'), at('link'));
  mkdirSync(at('folder'));
  await runProcess({ command: ['mkfifo', at('pipe')], cwd: base, env: { PATH: '/usr/bin:/bin' }, timeoutMs: 20_000 });
  for (const name of ['link', 'folder', 'pipe', 'missing']) {
    expect(await readOutput(at(name))).toBe('');
    await replaceOutput(at(name), 'other');
  }
  expect(readFileSync(at('elsewhere'), 'utf8')).toBe('mine');
});

test('its content is replaced in place', async () => {
  writeFileSync(at('said'), 'with a secret in it');
  await replaceOutput(at('said'), 'without');
  expect(readFileSync(at('said'), 'utf8')).toBe('without');
});
