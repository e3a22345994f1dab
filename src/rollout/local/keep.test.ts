import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resultOf, withBench } from './bench-runs-fixture.ts';
import { keptIn, removeKept } from './keep.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keep-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fails = 'echo 0 > "$LOGS_DIR/verifier/reward.txt"';
const passes = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';
let places = 0;
const placed = (mostBytes: number) => ({
  dir: join(folder, String(++places)),
  mostBytes,
  redact: async (text: string) => text.replaceAll('hunter22', '[redacted: PASSWORD]'),
});
const only = (dir: string) => join(dir, readdirSync(dir)[0] ?? 'nothing');

describe('what a failed rollout left', () => {
  test('is kept to be looked at, without secrets, links as links', () => {
    const keep = placed(1_000_000);
    const instruction = [
      'mkdir sub; echo "key=hunter22" > sub/notes.txt; printf "a\\0hunter22" > secret.bin; printf "a\\0b" > fine.bin',
      'ln -s /etc/passwd out; mkfifo pipe; chmod +x sub; head -c 3000000 /dev/zero > big',
    ].join('\n');
    return withBench({ keep }, async (bench) => {
      const { outcome } = await resultOf(bench, await bench.task({ instruction, test: fails }));
      expect(outcome).toMatchObject({ status: 'scored', hard: 0 });
      const kept = only(keep.dir);
      expect(readFileSync(join(kept, 'workspace/sub/notes.txt'), 'utf8')).toBe('key=[redacted: PASSWORD]\n');
      expect(readFileSync(join(kept, 'workspace/fine.bin'), 'utf8')).toBe('a\0b');
      expect(readlinkSync(join(kept, 'workspace/out'))).toBe('/etc/passwd');
      expect(readFileSync(join(kept, 'verifier-logs/reward.txt'), 'utf8')).toBe('0\n');
      const about = JSON.parse(readFileSync(join(kept, 'about.json'), 'utf8'));
      expect(about).toMatchObject({ outcome });
      expect(about.leftOut.sort()).toEqual([
        'big (3000000 bytes)',
        'pipe (no plain file)',
        'secret.bin (it holds a secret)',
      ]);
      expect(readdirSync(join(kept, 'workspace')).sort()).toEqual(['fine.bin', 'out', 'sub']);
      expect(lstatSync(keep.dir).mode & 0o077).toBe(0);
    });
  });

  test('is not kept where it passed, nor where nothing is to be', async () => {
    const [some, none] = [placed(1_000_000), placed(0)];
    await withBench({ keep: some }, async (bench) => {
      await resultOf(bench, await bench.task({ instruction: ':', test: passes }));
    });
    await withBench({ keep: none }, async (bench) => {
      await resultOf(bench, await bench.task({ instruction: ':', test: fails }));
    });
    expect([existsSync(some.dir), existsSync(none.dir)]).toEqual([false, false]);
  });

  test('makes room for itself by what is oldest, and is told where it is too much', () => {
    const keep = placed(10_000);
    const writing = (bytes: number) => `head -c ${bytes} /dev/zero | tr "\\0" x > f`;
    return withBench({ keep }, async (bench) => {
      const names: string[] = [];
      for (const bytes of [4_000, 4_000, 4_000]) {
        await resultOf(bench, await bench.task({ instruction: writing(bytes), test: fails }));
        const [newest = ''] = readdirSync(keep.dir).filter((name) => !names.includes(name));
        names.push(newest);
        utimesSync(join(keep.dir, newest), names.length, names.length);
      }
      expect(readdirSync(keep.dir).sort()).toEqual(names.slice(1).sort());
      const { trajectory } = await resultOf(bench, await bench.task({ instruction: writing(20_000), test: fails }));
      expect(JSON.stringify(trajectory)).toContain('was not kept: it holds more than sandbox.keepMb');
      expect(readdirSync(keep.dir).sort()).toEqual(names.slice(1).sort());
      expect(keptIn(keep.dir).every(({ bytes }) => bytes > 4_000)).toBe(true);
      expect(await removeKept(keep.dir)).toBeGreaterThan(8_000);
      expect(existsSync(keep.dir)).toBe(false);
    });
  });
});
