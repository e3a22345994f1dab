import { describe, test } from 'bun:test';
import type { LocalOptions } from './options.ts';
import { chooseSandbox, thisSandboxHost } from './sandbox/choose.ts';
import type { Limits } from './sandbox.ts';

/** The walls of this machine. */
export const walls = await chooseSandbox({ kind: 'auto', host: thisSandboxHost(process.env.PATH ?? '') });
/** The plain folders that a user gets who asks for them. */
export const noWalls = await chooseSandbox({ kind: 'none', host: thisSandboxHost(process.env.PATH ?? '') });

/** Small enough to be reached in a test, and no hindrance for anything else. */
export const limits: Limits = { processes: 200, fileMb: 20, diskMb: 40 };

/** Options of a backend whose rollouts stand within the walls of this machine, with the limits of a session. */
export const walled: Partial<LocalOptions> = { sandbox: walls, unsandboxedAllowed: false, limits };
/** Options of a backend in plain folders, as a user allows them. */
export const unwalled: Partial<LocalOptions> = { sandbox: noWalls, limits };

const required = process.env.REQUIRE_SANDBOX === '1';

/** Tests that take bubblewrap: left out where it does not work, and failing there when `REQUIRE_SANDBOX=1`. */
export function describeWalled(name: string, body: () => void): void {
  if (walls.kind === 'bubblewrap') describe(name, body);
  else if (required)
    test(name, () => {
      throw new Error(`these tests take bubblewrap: ${walls.instead?.what ?? 'it is not there'}`);
    });
  else describe.skip(name, body);
}
