import type { Finding } from '../../ports/preflight.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { askHarbor } from './harbor-process.ts';
import type { HarborOptions } from './options.ts';

/** The oldest Harbor whose files this program reads, and the one that it was measured with. */
const floor = { major: 0, minor: 25 };
const tested = { major: 0, minor: 26 };

const installing = 'install it (`uv tool install harbor`), or name its program as "harbor.program"';

/** Whether the Harbor of this machine is one that this program knows. */
export async function versionFindings(o: HarborOptions): Promise<readonly Finding[]> {
  return [versionFinding(await askHarbor(o, ['--version'], '/'), o.program)];
}

/** What the answer to `--version` means. */
export function versionFinding(end: ProcessEnd, program: string): Finding {
  const finding = (level: Finding['level'], what: string, fix: string): Finding => ({
    level,
    what,
    where: program,
    fix,
  });
  if (end.cause === 'not-started') return finding('error', `Harbor is not installed: ${end.detail}`, installing);
  if (end.cause !== 'exited')
    return finding('error', 'Harbor does not answer when it is asked for its version', installing);
  const said = end.stdout.trim();
  const [, version, major = '', minor = ''] = /^((\d+)\.(\d+)\.\d+\S*)$/m.exec(said) ?? [];
  if (version === undefined || end.exitCode !== 0) {
    const words = (said || end.stderr.trim()).split('\n')[0]?.slice(0, 200) || `exit code ${end.exitCode}`;
    return finding(
      'error',
      `${program} is another program of that name, or a broken one: asked for its version it says "${words}"`,
      'put Harbor (harborframework.com) first on PATH (`uv tool install harbor`), or name its program as "harbor.program"',
    );
  }
  const is = { major: Number(major), minor: Number(minor) };
  if (isBefore(is, floor))
    return finding(
      'error',
      `Harbor ${version} is older than ${words(floor)}, from which on its results say whether they count`,
      'update it: `uv tool upgrade harbor`',
    );
  if (isBefore(tested, is))
    return finding(
      'warning',
      `Harbor ${version} is newer than ${words(tested)}, with which this program was tested`,
      `see by a small \`skillopt eval\` that its results are read rightly, or \`uv tool install 'harbor==${words(tested)}.*'\``,
    );
  return finding('ok', `Harbor ${version}`, '');
}

type Release = typeof floor;
const isBefore = (a: Release, b: Release) => a.major < b.major || (a.major === b.major && a.minor < b.minor);
const words = ({ major, minor }: Release) => `${major}.${minor}`;
