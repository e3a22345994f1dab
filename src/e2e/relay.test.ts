import { afterEach, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { relayWord } from '../gateway/relay-word.ts';
import { runProcess } from '../process/run-process.ts';
import { builtBinary } from './built-binary.ts';

let other: Server | null = null;
afterEach(() => other?.close());

const relay = (port: number, script: string, env: Readonly<Record<string, string>> = {}) =>
  runProcess({
    command: [builtBinary(), relayWord, '--listen', String(port), '--to', '/nowhere.sock', '--', 'sh', '-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', ...env },
    timeoutMs: 20_000,
  });

async function port(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  other = server;
  return (server.address() as { port: number }).port;
}

test('the binary is a relay where it is asked to be one, and hands the environment on as it is', async () => {
  const free = await port();
  await new Promise((resolve) => other?.close(resolve));
  const end = await relay(free, 'echo "$DEV $NO_COLOR $FORCE_COLOR"; exit 9', {
    DEV: '1',
    NO_COLOR: '2',
    FORCE_COLOR: '3',
  });
  expect(end).toMatchObject({ exitCode: 9, stdout: '1 2 3\n', stderr: '' });
});

test('and says why it can’t be', async () => {
  const end = await relay(await port(), 'echo started');
  expect(end).toMatchObject({ exitCode: 125, stdout: '' });
  expect(end.stderr).toStartWith('skillopt relay: 127.0.0.1:');
});
