import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxConfig } from '../config/sandbox.ts';
import { relayLaunch } from '../gateway/relay-launch.ts';
import { relayWord } from '../gateway/relay-word.ts';
import type { Gateway } from '../ports/gateway.ts';
import { runProcess } from '../process/run-process.ts';
import { launch } from '../rollout/local/launch.ts';
import { clear, raise } from '../rollout/local/raised.ts';
import { chooseSandbox, thisSandboxHost } from '../rollout/local/sandbox/choose.ts';
import { type Relay, relayPort, relaySocket, type Sandbox } from '../rollout/local/sandbox.ts';
import { makePlaceholders } from '../rollout/local/stand.ts';
import type { WallOptions } from '../rollout/local/walls.ts';
import { type Measured, median } from './figure.ts';
import { inScratch } from './scratch.ts';

const runs = 41;
const command = ['/bin/sh', '-c', ':'] as const;

/**
 * Milliseconds that the walls add to a command that does nothing: from the building of what it is shown, with the limits
 * of the config, to its end and that of all that was built; against the same command started as plainly as this program
 * starts any. What is told is the median of the differences, each from two runs one after the other. `with its relay` =
 * the way to the gateway, too, which the walls of an agent have.
 */
export async function sandboxFigures(binary: string): Promise<readonly Measured[]> {
  const sandbox = await chooseSandbox({ kind: 'auto', host: thisSandboxHost(process.env.PATH ?? '') });
  if (sandbox.kind !== 'bubblewrap')
    return [{ name: 'sandbox', unmeasured: sandbox.instead?.what ?? `there is no bubblewrap, but ${sandbox.kind}` }];
  return inScratch(async (folder) => {
    const socket = await listeningIn(folder);
    try {
      const ms = { plain: [] as number[], walls: [] as number[], relay: [] as number[] };
      const options = wallsIn(folder, sandbox, socket.gateway, relayOf(binary));
      for (let run = 0; run < runs; run++) {
        ms.plain.push(await plainMs());
        ms.walls.push(await walledMs(options, `walls/${run}`, false));
        ms.relay.push(await walledMs(options, `relay/${run}`, true));
      }
      const over = (list: readonly number[]) => median(list.map((one, run) => one - (ms.plain[run] ?? 0)));
      const measured = {
        plainMs: median(ms.plain),
        walledMs: median(ms.walls),
        walledLeastMs: Math.min(...ms.walls),
        withRelayMs: median(ms.relay),
      };
      const what = `the walls of ${sandbox.version} around a command that does nothing, against none`;
      return [
        {
          name: 'sandbox',
          what,
          value: over(ms.walls),
          unit: 'ms',
          target: { atMost: 25 },
          n: runs,
          measured,
          note: `with its relay to the gateway: ${over(ms.relay).toFixed(1)} ms`,
        },
      ];
    } finally {
      await socket.stop();
    }
  });
}

async function plainMs(): Promise<number> {
  const startedAt = performance.now();
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
  const end = await runProcess({ command, cwd: '/', env, timeoutMs: 60_000 });
  if (end.exitCode !== 0) throw new Error(`the command failed: ${end.detail}${end.stderr}`);
  return performance.now() - startedAt;
}

async function walledMs(options: Options, key: string, callsModel: boolean): Promise<number> {
  const raised = await raise(options, { key, workdir: '/app', signal: new AbortController().signal });
  const { walls, context } = raised;
  try {
    const startedAt = performance.now();
    const view = walls.agentView({ callsModel });
    makePlaceholders(walls.folders.root, options.sandbox.placeholders(view));
    const end = await launch(walls.enter(context, view, null), {
      command,
      cwd: walls.places.workspace,
      env: walls.environment(view, {}),
      timeoutMs: 60_000,
    });
    if (end.exitCode !== 0) throw new Error(`the command failed within walls: ${end.detail}${end.stderr}`);
    return performance.now() - startedAt;
  } finally {
    await clear(raised);
  }
}

type Options = WallOptions & { readonly sessionId: string };

function wallsIn(folder: string, sandbox: Sandbox, gateway: Gateway, relay: Relay): Options {
  return {
    sandbox,
    network: 'off',
    show: [],
    hide: [],
    limits: sandboxConfig.parse({}),
    relay,
    hostEnv: process.env,
    tempRoot: folder,
    sessionId: 'bench',
    gateway,
  };
}

/** The relay as the binary starts it. */
function relayOf(binary: string): Relay {
  const program = realpathSync(binary);
  const { command: words } = relayLaunch(relayPort, relaySocket);
  return { command: [program, relayWord, ...words.slice(words.indexOf('--listen'))], show: [program] };
}

/** A socket for a relay that nobody asks anything. */
async function listeningIn(folder: string) {
  const socketPath = join(folder, 'model.sock');
  const server = Bun.listen({ unix: socketPath, socket: { data: () => {} } });
  const gateway = { socketPath, origin: 'http://127.0.0.1:1' } as Gateway;
  return { gateway, stop: async () => server.stop(true) };
}
