import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStream } from '../models/server-fixture.ts';
import { runProcess } from '../process/run-process.ts';
import { waitUntil } from '../process/wait.ts';
import { whole } from './answers-fixture.ts';
import { bench, wellAnswer } from './gateway-fixture.ts';
import { relayArgs } from './relay.ts';
import { relayLaunch } from './relay-launch.ts';

let folder: string;
const stops: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-'));
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
});
const until = async (condition: () => boolean) => expect(await waitUntil(condition, 15_000)).toBe(true);

async function listening(server: Server, where: string | number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(where as string, resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server on the socket outside. */
async function outside(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  const path = join(folder, 'model.sock');
  await listening(server, path);
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return path;
}

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', FROM_OUTSIDE: 'kept' };
const run = (port: number, socketPath: string, command: readonly string[], more: object = {}) =>
  runProcess({
    command: [...relayLaunch(port, socketPath).command, ...command],
    cwd: folder,
    env,
    timeoutMs: 20_000,
    ...more,
  });

/** A relay that runs until it is told to end, and how it ended. */
async function running(socketPath: string) {
  const port = await freePort();
  const [ready, over] = [join(folder, 'ready'), join(folder, 'over')];
  const end = run(port, socketPath, ['sh', '-c', `echo > ${ready}; while [ ! -e ${over} ]; do sleep 0.02; done`]);
  stops.push(async () => {
    writeFileSync(over, '');
    await end;
  });
  await until(() => existsSync(ready));
  return port;
}

function client(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  stops.push(() => socket.destroy());
  return socket;
}

const ended = (socket: Socket) =>
  new Promise<Buffer>((resolve) => {
    const pieces: Buffer[] = [];
    socket.on('data', (piece) => pieces.push(piece as Buffer));
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(Buffer.concat(pieces)));
  });

describe('the command', () => {
  test('finds the port open when it starts, and its own input, output and environment', async () => {
    const socketPath = await outside((socket) => socket.end('from the model'));
    const port = await freePort();
    const script = `cat; echo "$FROM_OUTSIDE"; exec ${process.execPath} -e "${[
      `const s = require('net').connect(${port}, '127.0.0.1');`,
      `s.on('data', (d) => process.stdout.write(d)).on('error', (e) => console.log(e.code));`,
    ].join('')}"`;
    const end = await run(port, socketPath, ['sh', '-c', script], { stdin: 'typed\n' });
    expect(end).toMatchObject({ cause: 'exited', exitCode: 0, stdout: 'typed\nkept\nfrom the model', stderr: '' });
  });

  test.each([
    [['sh', '-c', 'exit 7'], 7, ''],
    [['sh', '-c', 'kill -KILL $$'], 137, ''],
    [['sh', '-c', 'kill -TERM $$'], 143, ''],
    [['/nowhere/at/all'], 127, 'could not be started'],
    [['/'], 126, 'could not be started'],
  ])('%j ends it with %d', async (command, exitCode, words) => {
    const end = await run(await freePort(), '/nowhere.sock', command);
    expect(end).toMatchObject({ cause: 'exited', exitCode });
    expect(end.stderr).toContain(words);
  });

  test('does not start where the port is taken', async () => {
    const other = createServer();
    const port = await listening(other, 0);
    stops.push(() => other.close());
    const end = await run(port, '/nowhere.sock', ['sh', '-c', 'echo started']);
    expect(end).toMatchObject({ exitCode: 125, stdout: '' });
    expect(end.stderr).toContain(`127.0.0.1:${port} can’t be listened on`);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('is handed %s, and says itself when it is over', async (signal) => {
    const pid = join(folder, 'pid');
    const name = signal.slice(3);
    const script = `trap 'echo got ${name}; exit 5' ${name}; echo $PPID > ${pid}.new; mv ${pid}.new ${pid}; while :; do sleep 0.02; done`;
    const end = run(await freePort(), '/nowhere.sock', ['sh', '-c', script]);
    await until(() => existsSync(pid));
    process.kill(Number(readFileSync(pid, 'utf8')), signal);
    expect(await end).toMatchObject({ exitCode: 5, stdout: `got ${name}\n` });
  });

  test('finds nothing of the folder where it starts in its way', async () => {
    writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./own.ts"]\n');
    writeFileSync(join(folder, 'own.ts'), 'console.log("ran");\n');
    writeFileSync(join(folder, '.env'), 'FROM_FILE=read\n');
    const end = await run(await freePort(), '/nowhere.sock', ['sh', '-c', 'echo "[$FROM_FILE]"']);
    expect(end).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });
});

describe('bytes', () => {
  const bytes = Buffer.alloc(8_000_000, 'some bytes that are not all alike, ');
  const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');

  test('go both ways, to the last one behind a closed half', async () => {
    // answers with what it got when the other side has ended
    const socketPath = await outside((socket) => {
      const pieces: Buffer[] = [];
      socket.on('data', (piece) => pieces.push(piece as Buffer));
      socket.on('end', () => socket.end(Buffer.concat(pieces)));
    });
    const port = await running(socketPath);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => {
        const socket = client(port);
        const answer = ended(socket);
        socket.end(bytes.subarray(n));
        return answer;
      }),
    );
    expect(answers.map(digest)).toEqual([1, 2, 3, 4, 5].map((n) => digest(bytes.subarray(n))));
  });

  test('wait for who takes them', async () => {
    const got: Socket[] = [];
    const socketPath = await outside((socket) => {
      socket.pause();
      got.push(socket);
    });
    const port = await running(socketPath);
    const socket = client(port);
    let sent = 0;
    let last = -1;
    const more = () => {
      while (sent < 500_000_000 && socket.write(bytes)) sent += bytes.length;
    };
    socket.on('connect', more);
    socket.on('drain', () => {
      sent += bytes.length;
      more();
    });
    await until(() => got.length === 1);
    await until(() => {
      const isStill = sent === last;
      last = sent;
      return isStill;
    });
    expect(sent).toBeLessThan(100_000_000);
  });

  test('end for both when one is gone', async () => {
    const got: Socket[] = [];
    const socketPath = await outside((socket) => {
      socket.resume();
      socket.write('hello');
      got.push(socket);
    });
    const port = await running(socketPath);
    let closed = 0;
    const socket = client(port);
    socket.once('data', () => socket.destroy());
    await until(() => got.length === 1);
    got[0]?.on('close', () => closed++);
    got[0]?.on('end', () => got[0]?.end());
    await until(() => closed === 1);
    const other = client(port);
    const rest = ended(other);
    let heard = false;
    other.on('data', () => {
      heard = true;
    });
    await until(() => got.length === 2 && heard);
    got[1]?.destroy();
    expect((await rest).toString()).toBe('hello');
  });

  test('find an end where nobody listens outside, and the next connection is no worse', async () => {
    const port = await running(join(folder, 'later.sock'));
    expect((await ended(client(port))).length).toBe(0);
    const server = createServer((socket) => socket.end('there'));
    await listening(server, join(folder, 'later.sock'));
    stops.push(() => server.close());
    expect((await ended(client(port))).toString()).toBe('there');
  });
});

test('an agent behind it is answered by the gateway, and takes its request with it when it leaves', async () => {
  const b = bench((seen, left) => (seen.body.hang === true ? openStream([], left) : wellAnswer(seen)));
  stops.push(b.stop);
  const lease = b.lease();
  const port = await freePort();
  const script = `
    const ask = (body, signal) => fetch('http://127.0.0.1:${port}${lease.path}/v1/messages', {
      method: 'POST', body: JSON.stringify({ messages: [], ...body }), signal });
    console.log(await (await ask({})).text());
    const leave = new AbortController();
    const hanging = ask({ hang: true, stream: true }, leave.signal).catch(() => null);
    await Bun.stdin.text();
    leave.abort();
    await hanging;
    await new Promise(() => setInterval(() => {}, 1000));
  `;
  const cancel = new AbortController();
  const fifo = join(folder, 'go');
  const end = run(
    port,
    b.gateway.socketPath,
    ['sh', '-c', `mkfifo ${fifo}; exec ${process.execPath} -e "$1" < ${fifo}`, 'sh', script],
    { signal: cancel.signal },
  );
  await until(() => existsSync(fifo));
  const writer = openSync(fifo, 'w');
  await until(() => b.provider.requests.length === 2);
  expect(b.provider.left.count).toBe(0);
  closeSync(writer);
  await until(() => b.provider.left.count === 1);
  cancel.abort();
  expect((await end).stdout).toBe(`${JSON.stringify(whole('messages'))}\n`);
  await lease.close();
  expect(lease.report()).toMatchObject({ usage: { requests: 2, outputTokens: null }, stop: null });
});

test.each([
  [[], null],
  [
    ['--listen', '8787', '--to', '/s', '--', 'a', '--', 'b'],
    { port: 8787, socketPath: '/s', command: ['a', '--', 'b'] },
  ],
  [['--listen', '0', '--to', '/s', '--', 'a'], null],
  [['--listen', '65536', '--to', '/s', '--', 'a'], null],
  [['--listen', '1e3', '--to', '/s', '--', 'a'], null],
  [['--listen', '8787', '--to', '', '--', 'a'], null],
  [['--listen', '8787', '--to', '/s', '--'], null],
  [['--to', '/s', '--listen', '8787', '--', 'a'], null],
])('%j is read as %j', (args, expected) => {
  expect(relayArgs(args)).toEqual(expected as never);
});

test('what is shown inside is all that it needs', () => {
  const { command, show } = relayLaunch(8787, '/run/model.sock');
  for (const path of show) expect(existsSync(path)).toBe(true);
  expect(show).toContain(command[0]);
  const sources = show.filter((path) => path.endsWith('.ts'));
  const imports = sources.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/from '([^']+)'/g)].map((m) => m[1]),
  );
  expect(imports.filter((from) => !from?.startsWith('node:'))).toEqual(['./relay.ts']);
});
