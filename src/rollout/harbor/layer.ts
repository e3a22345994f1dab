import { shortHash } from '../../ports/hash.ts';

/** What is laid over every task's image: installed when the image is built, the same for all tasks. Nothing secret. */
export type Layer = {
  /** As the package managers take them; a package of this machine stands among `files`, by its text. */
  readonly apt: readonly string[];
  readonly npm: readonly string[];
  readonly pip: readonly string[];
  /** Lines of bash, run as one script in `$PREFIX`. */
  readonly setup: readonly string[];
  /** Programs that have to be there when all is installed. */
  readonly commands: readonly string[];
  /** Packages of this machine: by their text, the copy to install and its hash. */
  readonly files: ReadonlyMap<string, { readonly path: string; readonly hash: string }>;
};

/** A layer that changes nothing. */
export function isEmpty({ apt, npm, pip, setup, commands }: Layer): boolean {
  return [apt, npm, pip, setup, commands].every((list) => list.length === 0);
}

/** Tells a layer from another, whatever folder its packages lie in. */
export function layerHash({ files, ...words }: Layer): string {
  return shortHash(JSON.stringify([words, [...files].map(([text, { hash }]) => [text, hash])]));
}

/** The folder of a layer's own files in the build context: no task has one of that name. */
export function filesFolder(layer: Layer): string {
  return `.skillopt-layer-${layerHash(layer)}`;
}

/** Where they lie while the image is built. */
const place = '/opt/skillopt-layer';
/** On the PATH of every image. */
const prefix = '/usr/local';

/**
 * The layer as instructions that stand at the end of a Dockerfile. It is root who installs; `user` is who the image ends
 * with, null = as its base says, whom nothing is known of: then nobody is changed.
 */
export function layerInstructions(layer: Layer, user: string | null): string {
  const { apt, npm, pip, setup, commands, files } = layer;
  const at = new Map([...files.keys()].map((text, nth) => [text, `${place}/${nth}/${fileName(text, files)}`]));
  const named = (list: readonly string[]) => list.map((text) => shellWord(at.get(text) ?? text)).join(' ');
  const lines: string[] = ['', '# what the session preloads'];
  if (user !== null) lines.push('USER root');
  if (files.size > 0) lines.push(`COPY ${JSON.stringify([`${filesFolder(layer)}/`, `${place}/`])}`);
  if (apt.length > 0) {
    const update = apt.every((text) => at.has(text)) ? '' : 'apt-get update && ';
    lines.push(
      run(
        `${update}DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -- ${named(apt)} && rm -rf /var/lib/apt/lists/*`,
      ),
    );
  }
  if (npm.length > 0) lines.push(run(`cd / && npm install -g --no-audit --no-fund --install-links -- ${named(npm)}`));
  if (pip.length > 0)
    lines.push(
      run(
        `cd / && PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --no-input --disable-pip-version-check --no-cache-dir -- ${named(pip)}`,
      ),
    );
  if (setup.length > 0) {
    const script = [`export PREFIX=${prefix}`, `cd ${prefix}`, ...setup].join('\n');
    lines.push(`RUN ${JSON.stringify(['bash', '-eo', 'pipefail', '-c', script])}`);
  }
  if (commands.length > 0) {
    const missing = `{ echo "preloads.commands: this image has no $c" >&2; exit 1; }`;
    lines.push(
      run(`for c in ${commands.map(shellWord).join(' ')}; do command -v "$c" > /dev/null || ${missing}; done`),
    );
  }
  if (files.size > 0)
    // a task that copies its whole context has taken them along
    lines.push(run(`rm -rf ${place}; find / -xdev -type d -name ${filesFolder(layer)} -prune -exec rm -rf {} +`));
  if (user !== null) lines.push(`USER ${user}`);
  return `${lines.join('\n')}\n`;
}

/** Below its own folder a file keeps its name: installers go by it. */
export function fileName(text: string, files: Layer['files']): string {
  return (files.get(text)?.path ?? text).split('/').at(-1) ?? 'package';
}

/** In the words of no shell that the Dockerfile may have set. */
const run = (line: string) => `RUN ${JSON.stringify(['/bin/sh', '-c', line])}`;
const shellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Who an image ends with by its Dockerfile; null = its base alone says. */
export function finalUser(dockerfile: string): string | null {
  const stages = dockerfile.split(/^(?=[^\S\n]*FROM\s)/im).filter((text) => /^[^\S\n]*FROM\s/i.test(text));
  let stage = stages.at(-1);
  for (let tries = stages.length; tries > 0 && stage !== undefined; tries--) {
    const user = [...stage.matchAll(/^[^\S\n]*USER\s+(\S+)/gim)].at(-1)?.[1];
    if (user !== undefined) return user;
    const [, base = ''] = /^[^\S\n]*FROM\s+(?:--\S+\s+)*(\S+)/i.exec(stage) ?? [];
    stage = stages.find((one) => nameOf(one) === base.toLowerCase());
  }
  return null;
}

function nameOf(stage: string): string | null {
  return /^[^\S\n]*FROM\s+(?:--\S+\s+)*\S+\s+AS\s+(\S+)/i.exec(stage)?.[1]?.toLowerCase() ?? null;
}
