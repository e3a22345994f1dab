import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  maxRewardBytes,
  maxRewardKeyLength,
  maxRewardKeys,
  type RewardFile,
  type RewardFiles,
  readRewards,
} from './rewards.ts';

function file(content: string | Uint8Array, more: Partial<RewardFile> = {}): RewardFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { bytes, sizeBytes: bytes.length, plain: true, unreadable: null, modifiedNs: 100n, ...more };
}

function read(files: Partial<RewardFiles>) {
  return readRewards({ json: null, text: null, startedNs: 100n, ...files });
}

const bad = 'verifier-bad-reward';
const tooLong: Partial<RewardFile> = { bytes: null, sizeBytes: 30_000_000 };
const closed: Partial<RewardFile> = { bytes: null, unreadable: 'EACCES' };
const manyKeys = (count: number) => ({
  reward: 1,
  ...Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`k${i}`, i])),
});
const longKey = (length: number) => ({ reward: 1, ['🦀'.repeat(length)]: 0 });
const notUtf8 = new Uint8Array([0xff, 0xfe, 0x31]);

describe('reward.txt', () => {
  const cases: readonly (readonly [string | Uint8Array, number | typeof bad, Partial<RewardFile>?])[] = [
    ['1', 1],
    ['1.0\n', 1],
    [' 0.5 ', 0.5],
    ['0', 0],
    ['-0', 0],
    ['.5', 0.5],
    ['5e-1', 0.5],
    ['\uFEFF1', 1],
    ['NaN', bad],
    ['inf', bad],
    ['-1', bad],
    ['2', bad],
    ['1.0000001', bad],
    ['', bad],
    [' \n', bad],
    ['yes', bad],
    ['1 1', bad],
    ['0x1', bad],
    ['1_0', bad],
    ['"1"', bad],
    [notUtf8, bad],
    ['', bad, tooLong],
    ['', bad, { bytes: null, plain: false }],
    ['', bad, closed],
  ];
  for (const [content, want, more] of cases) {
    test(`${JSON.stringify(content)} ${more ? JSON.stringify(more) : ''}`, () => {
      const reading = read({ text: file(content, more) });
      if (want === bad) expect(reading).toMatchObject({ kind: 'unscored', reason: bad });
      else expect(reading).toEqual({ kind: 'reward', reward: want, rewards: { reward: want } });
    });
  }
});

describe('reward.json', () => {
  const cases: readonly (readonly [string | Uint8Array, Readonly<Record<string, number>> | typeof bad, number?])[] = [
    ['{"reward":0.5}', { reward: 0.5 }, 0.5],
    ['{"score":1}', { score: 1 }, 1],
    ['{"reward":1,"style":0.5,"seconds":30}', { reward: 1, style: 0.5, seconds: 30 }, 1],
    ['{"reward":-0}', { reward: 0 }, 0],
    ['{"__proto__":1}', JSON.parse('{"__proto__":1}'), 1],
    ['0.5', bad],
    ['1', bad],
    ['"1"', bad],
    ['null', bad],
    ['[1]', bad],
    ['{}', bad],
    ['{"a":1,"b":0}', bad],
    ['{"reward":"1"}', bad],
    ['{"reward":true}', bad],
    ['{"reward":{"value":1}}', bad],
    ['{"reward":1,"why":"good"}', bad],
    ['{"reward":1e999}', bad],
    ['{"reward":NaN}', bad],
    ['{"reward":-1}', bad],
    ['{"score":2}', bad],
    ['{"reward":1', bad],
    ['', bad],
    [notUtf8, bad],
    [JSON.stringify(manyKeys(maxRewardKeys)), manyKeys(maxRewardKeys), 1],
    [JSON.stringify(manyKeys(maxRewardKeys + 1)), bad],
    [JSON.stringify(longKey(maxRewardKeyLength)), longKey(maxRewardKeyLength), 1],
    [JSON.stringify(longKey(maxRewardKeyLength + 1)), bad],
  ];
  for (const [content, want, reward] of cases) {
    test(JSON.stringify(content), () => {
      const reading = read({ json: file(content) });
      if (want === bad) expect(reading).toMatchObject({ kind: 'unscored', reason: bad });
      else expect(reading).toEqual({ kind: 'reward', reward: reward!, rewards: want as Record<string, number> });
    });
  }
});

test('what is said of a reward is short, names the cause and holds no half word', () => {
  const detail = (files: Partial<RewardFiles>) => {
    const reading = read(files);
    return reading.kind === 'unscored' ? reading.detail : '';
  };
  expect(detail({ text: file('', closed) })).toBe('reward.txt: can not be read (EACCES)');
  expect(detail({ json: file(JSON.stringify(manyKeys(50_000))) })).toBe('reward.json: 50000 keys, more than 64');
  expect(detail({ text: file(`the key was refused: sk-${'0123456789'.repeat(9)}`) })).toBe(
    'reward.txt: not a number: the key was refused:…',
  );
});

describe('which file counts', () => {
  test('neither: missing', () => {
    expect(read({})).toMatchObject({ kind: 'unscored', reason: 'verifier-missing-reward' });
  });

  test('reward.json beats reward.txt, also when it is bad', () => {
    expect(read({ json: file('{"reward":0}'), text: file('1') })).toMatchObject({ reward: 0 });
    expect(read({ json: file('1'), text: file('1') })).toMatchObject({ reason: bad });
  });

  test('one that is older than the verifier is tampering, whatever the other says', () => {
    const stale = { modifiedNs: 99n };
    expect(read({ json: file('{"reward":1}', stale), text: file('0') })).toMatchObject({ reason: 'tampered' });
    expect(read({ json: file('{"reward":1}'), text: file('0', stale) })).toMatchObject({ reason: 'tampered' });
    expect(read({ text: file('1', stale) })).toMatchObject({ reason: 'tampered' });
  });
});

test('whatever the bytes, the answer is a reward in 0…1 or a reason, and a long file is shown short', () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.json().map((text) => new TextEncoder().encode(text)),
    fc.double().map((number) => new TextEncoder().encode(`${number}`)),
  );
  fc.assert(
    fc.property(content, fc.boolean(), (bytes, asJson) => {
      const reading = read(asJson ? { json: file(bytes) } : { text: file(bytes) });
      if (reading.kind === 'reward') {
        expect(reading.reward).toBeGreaterThanOrEqual(0);
        expect(reading.reward).toBeLessThanOrEqual(1);
        expect(Object.is(reading.reward, -0)).toBe(false);
      } else expect(reading.reason).toBe(bad);
    }),
  );
  const long = read({ text: file('x'.repeat(maxRewardBytes)) });
  expect(long.kind === 'unscored' ? long.detail.length : Number.NaN).toBeLessThan(200);
});
