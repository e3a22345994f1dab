import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../ports/failure.ts';
import type {
  EndpointLane,
  Gateway,
  GatewayLease,
  GatewayLeaseOptions,
  SessionRoom,
  Upstream,
} from '../ports/gateway.ts';
import type { ModelWait } from '../ports/model.ts';
import { defaultPatience, type Patience } from '../ports/patience.ts';
import { answerTo, closeLease, type OpenLease } from './answer.ts';
import type { Way } from './forward.ts';
import { LeaseState, SharedRoom } from './lease-state.ts';
import { mostRequestBytes } from './request-body.ts';

/** What a gateway is made of. */
export type GatewayOptions = {
  readonly upstream: Upstream;
  /** Folder of its own for the socket; made if it is not there, and left in place. Best a short path. */
  readonly folder: string;
  /** Shared with all others that call this endpoint. */
  readonly lane: EndpointLane;
  /** Null = the session has no limit on tokens or money. */
  readonly room: SessionRoom | null;
  /** A number from 0 to below 1, for the jitter of waits. */
  readonly random: () => number;
  /** As in `defaultPatience` where it is not given. */
  readonly patience?: Partial<Patience>;
  /** Hears of each wait between two tries, for people. */
  readonly telling?: (wait: ModelWait) => void;
};

/** What a socket's path may have, in bytes, on every system. */
const longestSocketPath = 103;

/** What agents are given for a key. It has no form of a key, so that nobody takes it for one. */
const dummyKey = 'skillopt-rollout-no-real-key';

/**
 * A relay on this machine between agents and one model: on a loopback port and on a unix socket. Each rollout has its
 * lease, known by a random token in the path. Throws `environment-down` where it can't listen.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { upstream, folder } = options;
  const secrets = secretsOf(upstream);
  const way: Way = {
    upstream,
    lane: options.lane,
    patience: { ...defaultPatience, ...options.patience },
    random: options.random,
    telling: options.telling ?? (() => {}),
    secrets,
    tellsUsage: null,
  };
  const room = new SharedRoom(options.room);
  const leases = new Map<string, OpenLease>();
  const answer = (request: Request) => answerTo(request, way, leases);
  const socketPath = socketIn(folder);
  const servers = listen(answer, socketPath);

  function lease(o: GatewayLeaseOptions): GatewayLease {
    const token = randomBytes(16).toString('hex');
    const state = new LeaseState(o, upstream, room.left, secrets);
    const open: OpenLease = { state, running: new Set() };
    leases.set(token, open);
    room.add(state);
    return {
      path: `/t/${token}`,
      key: dummyKey,
      stopped: state.stopped,
      onWait: (listener) => state.clock.onWait(listener),
      report: () => state.report(),
      close: async () => {
        leases.delete(token);
        await closeLease(open);
      },
    };
  }

  return {
    upstream,
    origin: `http://127.0.0.1:${servers.port}`,
    socketPath,
    lease,
    close: async () => {
      const open = [...leases.values()];
      leases.clear();
      await Promise.all(open.map(closeLease));
      await servers.stop();
      rmSync(socketPath, { force: true });
    },
  };
}

/** Values of the headers that carry the key, with and without the word before it. */
function secretsOf(upstream: Upstream): readonly string[] {
  const values = upstream.protocols.flatMap((protocol) => Object.entries(upstream.headers(protocol)));
  const keys = values
    .filter(([name]) => /authorization|key/i.test(name))
    .map(([, value]) => value.replace(/^Bearer /i, ''));
  return [...new Set(keys)].filter((key) => key.length >= 8);
}

function socketIn(folder: string): string {
  const path = join(folder, `${randomBytes(4).toString('hex')}.sock`);
  if (Buffer.byteLength(path) > longestSocketPath)
    throw fail(
      'environment-down',
      `the path of a socket would be longer than ${longestSocketPath} bytes`,
      folder,
      'set TMPDIR to a shorter path',
    );
  return path;
}

function listen(answer: (request: Request) => Promise<Response>, socketPath: string) {
  const common = {
    fetch: answer,
    // a broken stream must break the connection, and nothing else
    development: false,
    error: () => new Response(null, { status: 500 }),
    maxRequestBodySize: mostRequestBytes + 1,
    // an answer may take long
    idleTimeout: 0,
  } as const;
  try {
    mkdirSync(join(socketPath, '..'), { recursive: true, mode: 0o700 });
    const byPort = Bun.serve({ ...common, hostname: '127.0.0.1', port: 0 });
    try {
      // the types know no idle time of a unix socket; the server does
      const bySocket = Bun.serve({ ...common, unix: socketPath } as unknown as Parameters<typeof Bun.serve>[0]);
      chmodSync(socketPath, 0o600);
      return { port: byPort.port, stop: () => Promise.all([bySocket.stop(true), byPort.stop(true)]) };
    } catch (error) {
      void byPort.stop(true);
      throw error;
    }
  } catch (error) {
    throw fail(
      'environment-down',
      `nothing can listen on this machine: ${error instanceof Error ? error.message : String(error)}`,
      socketPath,
      'check that the system lets programs listen on 127.0.0.1 and in its temporary folder',
      { cause: error },
    );
  }
}
