import { spawnSync } from 'node:child_process';
import { harborIsHere } from '../bench-fixture.ts';

/** Docker answers, and has the image that the tests' tasks are made from. Where it has to (`REQUIRE_HARBOR=1`), yes. */
export const dockerIsHere: boolean =
  process.env.REQUIRE_HARBOR === '1' ||
  (harborIsHere && spawnSync('docker', ['image', 'inspect', baseImage()], { timeout: 30_000 }).status === 0);

export function baseImage(): string {
  return 'debian:bookworm-slim';
}

/** The address of this machine that containers see. */
export function bridgeAddress(): string {
  const format = '{{(index .IPAM.Config 0).Gateway}}';
  const { stdout } = spawnSync('docker', ['network', 'inspect', 'bridge', '--format', format], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return stdout.trim();
}
