import { describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { readRequestBody } from './request-body.ts';

const text = '{"a":"é","b":[1.0]}';
const body = (bytes: Uint8Array | string, encoding?: string, mostBytes?: number) =>
  readRequestBody(
    new Request('http://h', {
      method: 'POST',
      body: bytes,
      ...(encoding === undefined ? {} : { headers: { 'content-encoding': encoding } }),
    }),
    mostBytes,
  );

describe('the body of a request', () => {
  test.each([
    ['', Buffer.from(text)],
    ['identity', Buffer.from(text)],
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['gzip, zstd', zstdCompressSync(gzipSync(text))],
  ])('compressed by "%s" is read', async (encoding, bytes) => {
    expect(await body(bytes, encoding)).toEqual({ kind: 'object', text, value: { a: 'é', b: [1] } });
  });

  test.each([
    ['[1]', undefined, 400],
    ['null', undefined, 400],
    ['{"a":', undefined, 400],
    ['', undefined, 400],
    [new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), undefined, 400],
    ['{}', 'gzip', 400],
    ['{}', 'zstd', 400],
    ['{}', 'toString', 415],
  ])('%j as %s is refused with %d', async (bytes, encoding, status) => {
    expect(await body(bytes, encoding)).toMatchObject({ kind: 'refused', status });
  });

  test('is bounded, whatever it grows from', async () => {
    const long = JSON.stringify({ a: 'x'.repeat(2_000) });
    for (const [bytes, encoding] of [
      [Buffer.from(long), undefined],
      [gzipSync(long), 'gzip'],
      [deflateSync(long), 'deflate'],
      [deflateRawSync(long), 'deflate'],
      [zstdCompressSync(long), 'zstd'],
      [brotliCompressSync(long), 'br'],
    ] as const) {
      expect(await body(bytes, encoding, 1_000)).toMatchObject({ kind: 'refused', status: 413 });
      expect(await body(bytes, encoding, 4_000)).toMatchObject({ kind: 'object' });
    }
  });

  test('is bounded where its length is not told', async () => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100)) });
    const request = new Request('http://h', { method: 'POST', body: endless });
    expect(await readRequestBody(request, 1_000)).toMatchObject({ kind: 'refused', status: 413 });
  });
});
