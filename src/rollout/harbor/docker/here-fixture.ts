import { spawnSync } from 'node:child_process';
import { harborIsHere } from '../bench-fixture.ts';

/**
 * The tests that need containers run when they are asked for (`npm run test:harbor`), where Harbor, Docker and the image
 * that their tasks are made from are. Where these have to be (`REQUIRE_HARBOR=1`) tests fail, and are not left out.
 */
export const dockerIsHere: boolean =
  process.env.SKILLOPT_TEST_DOCKER === '1' &&
  (process.env.REQUIRE_HARBOR === '1' ||
    (harborIsHere && spawnSync('docker', ['image', 'inspect', baseImage()], { timeout: 30_000 }).status === 0));

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
