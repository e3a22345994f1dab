import { dirname } from 'node:path';

/** What a profile is made from; all paths real (`/private/tmp`, not `/tmp`), absolute. */
export type ProfileOptions = {
  /** Folders of the rollout that its processes may write. */
  readonly writable: readonly string[];
  /** Folders of the rollout, and what is shown, that they may read though something hidden holds them. */
  readonly readable: readonly string[];
  /** What they may not read: homes, the session, sources, other rollouts. */
  readonly hidden: readonly string[];
  /** Never written, whatever lies around it: the skill. */
  readonly firm: readonly string[];
  readonly network: 'off' | 'on';
  /** Port of the gateway on this machine; null = there is none. */
  readonly gatewayPort: number | null;
};

/**
 * A profile of macOS's sandbox-exec; the last rule that fits decides. Made from its documentation and from the profiles
 * that the system brings; it has not been run on a Mac by the project's tests, which look at its text.
 */
export function seatbeltProfile(o: ProfileOptions): string {
  const { hidden, readable, writable, firm } = o;
  const ancestors = [...new Set([...readable, ...writable].flatMap(above))].sort();
  return [
    '(version 1)',
    '(allow default)',
    '; asking other programs to do it',
    '(deny lsopen appleevent-send job-creation)',
    '(deny mach-lookup (global-name "com.apple.SecurityServer" "com.apple.securityd.xpc" "com.apple.coreservices.launchservicesd"))',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    '(deny process-info*)',
    '(allow process-info* (target same-sandbox))',
    '; files',
    ...byDepth([
      ...hidden.map((path) => ({ path, may: 'deny' as const })),
      ...[...readable, ...writable].map((path) => ({ path, may: 'allow' as const })),
    ]),
    rule('allow file-read-metadata', ancestors.map(literal)),
    '(deny file-write*)',
    rule('allow file-write*', writable.map(subpath)),
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))',
    rule('deny file-write*', firm.map(subpath)),
    '; network',
    ...(o.network === 'on' ? [] : ['(deny network*)']),
    ...(o.network === 'off' && o.gatewayPort !== null
      ? [`(allow network-outbound (remote ip "localhost:${o.gatewayPort}"))`]
      : []),
    '',
  ]
    .filter((line) => line !== null)
    .join('\n');
}

/** Rules over reading, the outermost place first: what lies further in decides for itself. */
function byDepth(places: readonly { readonly path: string; readonly may: 'allow' | 'deny' }[]): readonly string[] {
  const depth = (path: string) => path.split('/').length;
  return places
    .toSorted((a, b) => depth(a.path) - depth(b.path))
    .map(({ path, may }) => `(${may} file-read* ${subpath(path)})`);
}

/** A rule over some places; null = over none, which would be over all. */
function rule(what: string, places: readonly string[]): string | null {
  return places.length === 0 ? null : `(${what} ${places.join(' ')})`;
}

const subpath = (path: string): string => `(subpath ${quoted(path)})`;
const literal = (path: string): string => `(literal ${quoted(path)})`;
const quoted = (path: string): string => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

function above(path: string): readonly string[] {
  const all: string[] = [];
  for (let at = dirname(path); ; at = dirname(at)) {
    all.push(at);
    if (at === '/') return all;
  }
}
