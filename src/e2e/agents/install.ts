import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cliKinds } from '../../rollout/agents/cli/kinds.ts';

/**
 * `bun src/e2e/agents/install.ts FOLDER [AGENT…]`: installs coding agents from npm at the versions that are tested, all
 * of them unless some are named, into a folder that `SKILLOPT_AGENTS` then names. What is there already stays. A Node
 * that is new enough for all of them goes with them.
 */
const [given, ...names] = process.argv.slice(2);
if (given === undefined) {
  console.error('name the folder that they go into');
  process.exit(2);
}
const folder = resolve(given);
const unknown = names.filter((name) => !cliKinds.some((kind) => kind.name === name));
if (unknown.length > 0) {
  console.error(`there is no agent ${unknown.join(', ')}; there are ${cliKinds.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const NODE = '22.23.3';
const wanted = [
  ['node', NODE] as const,
  ...cliKinds
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ npmPackage, tested }) => [npmPackage, tested] as const),
];
const missing = wanted.filter(([name, version]) => versionOf(name) !== version);
for (const [name, version] of wanted) console.log(`${name} ${version}${missing.length === 0 ? ' is there' : ''}`);
if (missing.length > 0) {
  mkdirSync(folder, { recursive: true });
  const specs = wanted.map(([name, version]) => `${name}@${version}`);
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--save-exact', ...specs];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

function versionOf(name: string): string | null {
  const file = join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : null;
}
