import { expect, test } from 'bun:test';
import { endpointOf } from './endpoint.ts';
import { services } from './services.ts';

const endpointAt = (baseUrl: string, more: object = {}) => {
  const service = services['openai-compatible'];
  if (service === undefined) throw new Error('no such service');
  return endpointOf({ model: 'openai-compatible/x', baseUrl, ...more }, service, ['openai-compatible', 'x'], {});
};

test.each([
  ['http://localhost:8000/v1', 600_000],
  ['http://127.0.0.1:8000/v1', 600_000],
  ['http://[::1]:8000/v1', 600_000],
  ['http://localhost.example.com/v1', 120_000],
  ['https://10.0.0.1/v1', 120_000],
])('a server at %s is waited for %d ms, since one on this machine may answer one at a time', (url, ms) => {
  expect(endpointAt(url).firstByteMs).toBe(ms);
  expect(endpointAt(url, { firstByteSec: 7 }).firstByteMs).toBe(7_000);
});
