import { parse } from 'yaml';

/**
 * The images that the stages of a Dockerfile start from, which have to be here or to be pulled: earlier stages, `scratch`
 * and what only a build argument without a default names are left out.
 */
export function imagesOfDockerfile(text: string): readonly string[] {
  const lines = text
    .replace(/\r/g, '')
    .replace(/^\s*#.*\n?/gm, '')
    .replace(/\\[ \t]*\n/g, ' ')
    .split('\n');
  const defaults = new Map<string, string>();
  const stages = new Set<string>();
  const images: string[] = [];
  for (const line of lines) {
    const [word = '', ...rest] = line.trim().split(/\s+/);
    if (/^ARG$/i.test(word) && stages.size === 0 && images.length === 0)
      for (const [, name = '', value = ''] of rest.map((one) => /^([^=]+)=(.*)$/.exec(one) ?? []))
        if (name !== '') defaults.set(name, unquoted(value));
    if (!/^FROM$/i.test(word)) continue;
    const [given = '', as = '', stage = ''] = rest.filter((one) => !one.startsWith('--'));
    const image = filled(unquoted(given), defaults);
    if (image !== null && image !== 'scratch' && !stages.has(image.toLowerCase())) images.push(image);
    if (/^AS$/i.test(as)) stages.add(stage.toLowerCase());
  }
  return [...new Set(images)];
}

/** The images that the services of a compose file run and do not build. */
export function imagesOfCompose(text: string): readonly string[] {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch {
    return [];
  }
  const services = recordOf(recordOf(parsed).services);
  const images = Object.values(services).flatMap((service) => {
    const { image, build } = recordOf(service);
    const name = typeof image === 'string' && build === undefined ? filled(image, new Map()) : null;
    return name === null || name === '' ? [] : [name];
  });
  return [...new Set(images)];
}

/** A record, or one without entries in place of anything else. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

/** A name with its variables replaced; null = one of them has no value. */
function filled(name: string, values: ReadonlyMap<string, string>): string | null {
  let whole = true;
  const text = name.replace(/\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))/g, (_, braced, otherwise, bare) => {
    const value = values.get(braced ?? bare) || otherwise;
    if (value === undefined) whole = false;
    return value ?? '';
  });
  return whole && !text.includes('$') ? text : null;
}

function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, '$2');
}
