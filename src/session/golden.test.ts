import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../journal/journal.ts';
import { firstLines } from './session-fixture.ts';
import { verified } from './verify-fixture.ts';

/**
 * Logs that earlier versions wrote, one set for each version of the rules. They are never made anew: a program that
 * draws another decision from them can't go on with its users' sessions.
 */
const dir = join(import.meta.dir, 'golden');
const files = readdirSync(dir).filter((f) => f.endsWith('.jsonl'));

test('there are golden logs', () => {
  expect(files.sort()).toEqual([
    'loop-1-demo.jsonl',
    'loop-1-world.jsonl',
    'loop-2-guidance.jsonl',
    'loop-2-world.jsonl',
  ]);
});

test.each(files)('%s is replayed whole: every decision follows again', async (file) => {
  const log = readFileSync(join(dir, file), 'utf8');
  const report = await verified(log);
  expect(report.problems).toEqual([]);
  expect([report.complete, report.finalized, report.lines]).toEqual([true, true, log.split('\n').length - 1]);
  expect(report.decisions).toBe(readText(log).lines.filter((l) => 'consumed' in l.event).length);
});

test.each(files)('%s is sound after every line', async (file) => {
  const log = readFileSync(join(dir, file), 'utf8');
  const lines = log.split('\n').length - 1;
  for (let n = 1; n < lines; n++) expect((await verified(firstLines(log, n))).problems).toEqual([]);
});
