import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateway, GatewayLease, GatewayReport } from '../../ports/gateway.ts';
import { unknownUsage } from '../../ports/usage.ts';
import type { Agent } from '../agents/agent.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import { reportOf, resultOf, withBench } from './bench-runs-fixture.ts';
import { Bubblewrap } from './sandbox/bubblewrap.ts';
import { type Relay, relayPort, relaySocket } from './sandbox.ts';
import { describeWalled, walled, walls } from './sandbox-fixture.ts';

const pass = 'echo 1 > /logs/verifier/reward.txt';

/** A gateway of which only the way to it matters: each request is answered by the path that it asked for. */
function echoing(folder: string): { readonly gateway: Gateway; close(): void } {
  const socketPath = join(folder, 'gateway.sock');
  const fetch = (request: Request) => new Response(`asked for ${new URL(request.url).pathname}\n`);
  const onSocket = Bun.serve({ unix: socketPath, fetch });
  const onPort = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  const report: GatewayReport = { usage: unknownUsage, visible: null, read: null, stop: null, waitedMs: 0 };
  const lease: GatewayLease = {
    path: '/t/token',
    key: 'dummy',
    stopped: new AbortController().signal,
    onWait: () => {},
    report: () => report,
    close: async () => {},
  };
  const gateway = {
    upstream: { id: 'p/m', model: 'm', protocols: ['chat'] },
    origin: `http://127.0.0.1:${onPort.port}`,
    socketPath,
    lease: () => lease,
  } as unknown as Gateway;
  return {
    gateway,
    close: () => {
      onSocket.stop(true);
      onPort.stop(true);
    },
  };
}

/** Asks the model's base URL once, with bash alone. */
const asking: Agent = {
  ...createSelfCheckAgent(),
  speaks: ['chat'],
  run: async (run) => {
    const url = new URL(run.model?.baseUrl ?? '');
    const script = `exec 3<>/dev/tcp/${url.hostname}/${url.port} && printf 'GET ${url.pathname}/v1/x HTTP/1.0\\r\\nHost: model\\r\\n\\r\\n' >&3 && cat <&3; ls /run; exit 7`;
    const end = await run.run(['bash', '-c', script], { mergeStderr: true });
    const kept = await createSelfCheckAgent().run({ ...run, instruction: ':' });
    return { ...kept, finalText: `${run.model?.baseUrl}\n${end.exitCode}\n${end.stdout}` };
  },
};

/** The relay as the program has it, run from its sources. */
const relay: Relay = (() => {
  const files = ['relay-main.ts', 'relay.ts'].map((name) => join(import.meta.dir, '../../gateway', name));
  const program = process.execPath;
  return {
    command: [program, '--no-env-file', 'run', files[0] ?? '', '--listen', `${relayPort}`, '--to', relaySocket, '--'],
    show: [program, ...files],
  };
})();

describeWalled('the way to the model', () => {
  const said = async (options: Parameters<typeof withBench>[0]) => {
    let text = '';
    await withBench({ ...walled, agent: asking, relay, ...options }, async (bench) => {
      const way = echoing(bench.folder);
      try {
        await withBench({ ...walled, agent: asking, relay, ...options, gateway: way.gateway }, async (other) => {
          // the verifier has no way there
          const test = `ls /run; ${pass}`;
          const { outcome, trajectory } = await resultOf(other, await other.task({ instruction: ':', test }));
          expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
          expect(trajectory?.verifier?.output).toBe('');
          text = trajectory?.finalText ?? '';
        });
      } finally {
        way.close();
      }
    });
    return text;
  };

  test('without a network leads through the relay and the socket alone; exit codes are the command’s', async () => {
    const text = await said({ network: 'off' });
    expect(text).toStartWith('http://127.0.0.1:8787/t/token\n7\n');
    expect(text).toContain('asked for /t/token/v1/x\n');
    expect(text).toEndWith('model.sock\n');
  });

  test('with a network needs neither', async () => {
    const text = await said({ network: 'on' });
    expect(text).toMatch(/^http:\/\/127\.0\.0\.1:(?!8787)\d+\/t\/token\n7\n/);
    expect(text).toContain('asked for /t/token/v1/x\n');
    expect(text).not.toContain('model.sock');
  });
});

describeWalled('walls that can’t be built', () => {
  const agent: Agent = {
    ...createSelfCheckAgent(),
    run: async (run) => {
      const end = await run.run(['true'], { cwd: '/no/such/folder' });
      const kept = await createSelfCheckAgent().run({ ...run, instruction: ':' });
      return { ...kept, finalText: `${end.cause}: ${end.detail}` };
    },
  };

  test('are told as such, never as the end of a command', () =>
    withBench({ ...walled, agent }, async (bench) => {
      const { trajectory } = await resultOf(bench, await bench.task({ instruction: ':', test: pass }));
      expect(trajectory?.finalText).toMatch(/^not-started: the sandbox could not be built: bwrap: Can't chdir/);
    }));

  /** Walls of a bwrap that says this and ends. */
  const saying = (folder: string, words: string) => {
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\necho "bwrap: ${words}" >&2\nexit 1\n`, { mode: 0o755 });
    return new Bubblewrap({
      program: join(folder, 'bwrap'),
      version: '0.8.0',
      closed: true,
      unshare: null,
      bound: walls.bound,
    });
  };

  test('for want of room are no outcome', () =>
    withBench(walled, async (bench) => {
      for (const words of [
        'Creating new namespace failed: Resource temporarily unavailable',
        'Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      ])
        await withBench({ ...walled, sandbox: saying(bench.folder, words) }, async (other) => {
          const report = await reportOf(other, await other.task({ instruction: ':', test: pass }));
          expect(report).toMatchObject({ kind: 'failed', failure: { code: 'environment-down', retryable: true } });
        });
    }));

  test('for any other reason leave the rollout unscored, with what bubblewrap says', () =>
    withBench(walled, async (bench) => {
      const sandbox = saying(bench.folder, "Can't mount proc on /newroot/proc: Operation not permitted");
      await withBench({ ...walled, sandbox }, async (other) => {
        const { outcome } = await resultOf(other, await other.task({ instruction: ':', test: pass }));
        expect(outcome).toMatchObject({ status: 'unscored', reason: 'verifier-crash' });
        expect(outcome.status === 'unscored' && outcome.detail).toContain("bwrap: Can't mount proc on /newroot/proc");
      });
    }));
});
