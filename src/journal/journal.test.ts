import { describe, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../ports/hash.ts';
import { GENESIS, Journal, readLog, readText } from './journal.ts';
import { chainHash } from './lines.ts';
import { takeLock } from './lock.ts';
import { TextFiles } from './texts.ts';

const inTemp = <T>(work: (dir: string) => T): T => {
  const dir = mkdtempSync(join(tmpdir(), 'skillopt-journal-'));
  try {
    return work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
const now = () => '2026-01-02T03:04:05.000Z';
const lost = (key: string) => ({ type: 'rollout.lost', key }) as const;

function opened(path: string): Journal {
  const journal = Journal.open(path, { now });
  for (const _ of journal.read());
  return journal;
}

describe('the journal', () => {
  test('chains its lines and goes on after a reopening', () => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      const first = opened(path);
      first.append(lost('a'));
      first.close();
      const second = opened(path);
      second.append(lost('→ — é 汉 🦀'));
      second.close();
      const raw = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      expect(raw.length).toBe(2);
      const events = raw.map((l) => JSON.parse(l));
      expect(events.map((e) => [e.v, e.seq, e.at, e.prev])).toEqual([
        [1, 1, now(), GENESIS],
        [1, 2, now(), chainHash(raw[0] ?? '')],
      ]);
      expect(events[1].key).toBe('→ — é 汉 🦀');
      expect([...readLog(path)].map((l) => l.body)).toEqual(raw.map((l) => `{${l.slice(l.indexOf('"type"'))}`));
    });
  });

  test('lines longer than what is read at a time, and lines across its edge, are read whole', () => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      const keys = [700_000, 700_000, 3, 3_000_000, 1 << 20, 0, 1_500_000].map((n) => 'é'.repeat(n / 2));
      const journal = opened(path);
      for (const key of keys) journal.append(lost(key));
      journal.close();
      const whole = readFileSync(path);
      expect([...readLog(path)].map((l) => (l.event.type === 'rollout.lost' ? l.event.key : ''))).toEqual(keys);
      expect([...readLog(path)].map((l) => l.hash)).toEqual([...readLog(path)].map((l) => chainHash(l.raw)));
      writeFileSync(path, whole.subarray(0, whole.length - 1_000_000));
      expect(opened(path).position.lines).toBe(keys.length - 1);
    });
  });

  test('a torn last line is dropped, at any byte', () => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      const journal = opened(path);
      for (const key of ['a', 'b', 'ü']) journal.append(lost(key));
      journal.close();
      const whole = readFileSync(path);
      const two = whole.indexOf(10, whole.indexOf(10) + 1) + 1;
      for (let cut = two + 1; cut < whole.length; cut++) {
        writeFileSync(path, whole.subarray(0, cut));
        const again = opened(path);
        expect(again.position.lines).toBe(2);
        again.append(lost('c'));
        again.close();
        expect([...readLog(path)].map((l) => (l.event.type === 'rollout.lost' ? l.event.key : ''))).toEqual([
          'a',
          'b',
          'c',
        ]);
      }
    });
  });

  test.each([
    ['a changed byte', (l: string[]) => [l[0]?.replace('"a"', '"x"'), l[1], l[2]]],
    ['a dropped line', (l: string[]) => [l[0], l[2]]],
    ['lines in another order', (l: string[]) => [l[1], l[0], l[2]]],
    ['something that is not JSON', (l: string[]) => [l[0], 'hello', l[2]]],
    ['a line without a time', (l: string[]) => [l[0], l[1], l[2]?.replace('"at"', '"au"')]],
    ['another version', (l: string[]) => [l[0]?.replace('"v":1', '"v":2'), l[1], l[2]]],
  ])('%s is refused with its line, and the file is left alone', (_what, change) => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      const journal = opened(path);
      for (const key of ['a', 'b', 'c']) journal.append(lost(key));
      journal.close();
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      const broken = `${change(lines).join('\n')}\n`;
      writeFileSync(path, broken);
      expect(() => opened(path)).toThrow(/line \d/);
      expect(readFileSync(path, 'utf8')).toBe(broken);
    });
  });

  test('a text that is no log is left alone, with and without a newline', () => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      for (const text of ['my notes', 'my notes\n', '{"v":1,"notes":1}']) {
        writeFileSync(path, text);
        expect(() => opened(path)).toThrow(/no log of this program|broken at line 1/);
        expect(readFileSync(path, 'utf8')).toBe(text);
      }
      expect(() => opened(dir)).toThrow('not a file');
    });
  });

  test('listeners hear an event only when it stands in the file', () => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      const journal = opened(path);
      let heard = 0;
      journal.onAppend((event) => {
        heard++;
        expect(readFileSync(path, 'utf8').split('\n').length - 1).toBe(event.seq);
      });
      journal.append(lost('a'));
      journal.append(lost('b'));
      journal.close();
      expect(heard).toBe(2);
    });
  });

  test('is not written before it is read', () => {
    expect(() => Journal.memory('').append(lost('a'))).toThrow('read before');
  });

  test('a log of many lines is read in pieces', () => {
    inTemp((dir) => {
      const path = join(dir, 'log');
      const journal = opened(path);
      const long = 'x'.repeat(70_000);
      for (let i = 0; i < 40; i++) journal.append(lost(`${i}${long}`));
      journal.close();
      expect([...readLog(path)].length).toBe(40);
    });
  });

  test('two texts that differ in one byte never read the same', () => {
    const journal = Journal.memory('');
    for (const _ of journal.read());
    journal.append(lost('a'));
    const text = journal.text();
    for (let i = 0; i < text.length - 1; i++) {
      const other = `${text.slice(0, i)}${text[i] === '0' ? '1' : '0'}${text.slice(i + 1)}`;
      let head = '';
      try {
        head = readText(other).end.head.hash;
      } catch {}
      expect(head).not.toBe(readText(text).end.head.hash);
    }
  });
});

describe('the lock', () => {
  test('is held once in this process and free after its release', () => {
    inTemp((dir) => {
      const lock = takeLock(dir);
      expect(() => takeLock(dir)).toThrow(/another process is at work.*process \d+/);
      lock.release();
      takeLock(dir).release();
    });
  });

  test('a dead owner holds nothing: kill -9, and it is free at once', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'skillopt-lock-'));
    const script = join(dir, 'holder.ts');
    const ready = join(dir, 'ready');
    writeFileSync(
      script,
      `import { takeLock } from ${JSON.stringify(join(import.meta.dir, 'lock.ts'))};\nconst lock = takeLock(${JSON.stringify(dir)});\nawait Bun.write(${JSON.stringify(ready)}, 'x');\nsetInterval(() => lock, 1000);\n`,
    );
    const holder = Bun.spawn([process.execPath, script], { stdout: 'ignore', stderr: 'inherit' });
    try {
      while (!(await Bun.file(ready).exists())) {
        if (holder.exitCode !== null) throw new Error('the holder ended');
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(() => takeLock(dir)).toThrow(`process ${holder.pid}`);
      holder.kill('SIGKILL');
      await holder.exited;
      takeLock(dir).release();
    } finally {
      holder.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('texts by hash', () => {
  test('missing and changed are told apart', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'skillopt-journal-'));
    try {
      const texts = new TextFiles(dir);
      const hash = await texts.put('hello');
      expect([texts.get(hash), texts.check(hash), texts.check('0'.repeat(64))]).toEqual(['hello', 'ok', 'missing']);
      expect(readdirSync(dir)).toEqual([`${hash}.txt`]);
      appendFileSync(join(dir, `${hash}.txt`), '!');
      expect(texts.check(hash)).toBe('changed');
      expect(texts.get(hash)).toBe('hello'); // whoever has put it needs no file
      expect(() => new TextFiles(dir).get(hash)).toThrow('changed');
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('are read, and not written anew, where older sessions have them; a folder that is gone is made again', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'skillopt-journal-'));
    try {
      const [hash, other] = [sha256('hello'), sha256('other')];
      mkdirSync(join(dir, hash.slice(0, 2)));
      writeFileSync(join(dir, hash.slice(0, 2), `${hash}.txt`), 'hello');
      const texts = new TextFiles(dir);
      expect(await texts.put('hello')).toBe(hash);
      expect([readdirSync(dir), texts.get(hash), texts.check(hash)]).toEqual([[hash.slice(0, 2)], 'hello', 'ok']);
      rmSync(dir, { recursive: true });
      await texts.put('other');
      expect([readdirSync(dir), [...(texts.listed() ?? [])]]).toEqual([[`${other}.txt`], [other]]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
