import { keysOfOtherForms, schemaAt } from './keys.ts';
import { checkLayers, readConfigFile } from './load.ts';
import type { Config } from './schema.ts';

/** Where a value of a config comes from. */
export type Source =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: string }
  /** `given` as messages may show it. */
  | { readonly kind: 'environment'; readonly variable: string; readonly given: string }
  /** `flag` as it was given, as messages may show it: `--set budget.rollouts=100`. */
  | { readonly kind: 'flag'; readonly flag: string }
  /** A flag of an earlier run that stands, or the config that a session began with. */
  | { readonly kind: 'log'; readonly path: string };

/** One key that a variable or a flag sets; `value` undefined takes the key out. */
export type Override = { readonly key: string; readonly value: unknown; readonly source: Source };

type Data = { readonly [key: string]: unknown };

/** A config as data, before it is checked and without defaults, with the source of each value that somebody gave. */
export type Layers = {
  readonly data: Data;
  /** By dotted key; objects by their leaves. */
  readonly sources: ReadonlyMap<string, Source>;
  /** The file, for messages about what nobody gave. */
  readonly where: string;
};

/** Layers that hold one config as data, all of it from one place. `data` that is no object is refused when it is checked. */
export function layersOf(data: unknown, source: Source, where: string): Layers {
  const sources = new Map<string, Source>();
  for (const key of leafKeys(data)) sources.set(key, source);
  return { data: data as Data, sources, where };
}

/** The layer of a config file. Throws `config` when there is none, or no JSON. */
export function fileLayers(path: string): Layers {
  return layersOf(readConfigFile(path), { kind: 'file', path }, path);
}

/** The next layer above others. A key may be a whole object or, of a model named by its name, a part that it lacks. */
export function withOverrides(layers: Layers, overrides: readonly Override[]): Layers {
  if (overrides.length === 0 || !isObject(layers.data)) return layers;
  const data = structuredClone(layers.data) as Record<string, unknown>;
  const sources = new Map(layers.sources);
  for (const { key, value, source } of overrides) {
    put(data, sources, key.split('.'), value);
    for (const known of sources.keys()) if (isWithin(known, key)) sources.delete(known);
    if (value === undefined) continue;
    for (const leaf of leafKeys(value)) sources.set(leaf === '' ? key : `${key}.${leaf}`, source);
  }
  return { ...layers, data, sources };
}

function put(data: Record<string, unknown>, sources: Map<string, Source>, path: readonly string[], value: unknown) {
  let at = data;
  for (const [i, key] of path.entries()) {
    const place = path.slice(0, i);
    for (const other of keysOfOtherForms(place, key)) {
      const name = [...place, other].join('.');
      for (const known of sources.keys()) if (isWithin(known, name)) sources.delete(known);
      delete at[other];
    }
    if (i === path.length - 1) {
      if (value === undefined) delete at[key];
      else at[key] = structuredClone(value);
      return;
    }
    at[key] = asObject(at[key], path.slice(0, i + 1).join('.'), sources);
    at = at[key] as Record<string, unknown>;
  }
}

/** What a part is put into: an object, the default where nothing was given, or the model of a name. */
function asObject(value: unknown, key: string, sources: Map<string, Source>): Record<string, unknown> {
  if (isObject(value)) return value as Record<string, unknown>;
  if (typeof value === 'string' && schemaAt(`${key}.model`) !== null) {
    const source = sources.get(key);
    sources.delete(key);
    if (source !== undefined) sources.set(`${key}.model`, source);
    return { model: value };
  }
  sources.delete(key);
  if (value !== undefined) return {};
  const byDefault = schemaAt(key)?.safeParse(undefined);
  return byDefault?.success && isObject(byDefault.data)
    ? structuredClone(byDefault.data as Record<string, unknown>)
    : {};
}

/** The config of all layers. Throws `config` that names the key, and the file, variable or flag where its value stands. */
export function configOfLayers(layers: Layers): Config {
  return checkLayers(layers.data, (key) => placeOf(layers, key));
}

/** The value of a key, defaults filled in, as far as the top-level key that it belongs to can be read by itself. */
export function valueAt(layers: Layers, key: string): unknown {
  const [top = '', ...rest] = key.split('.');
  const shape = schemaAt(top);
  const parsed = shape?.safeParse(isObject(layers.data) ? layers.data[top] : undefined);
  let value: unknown = parsed?.success ? parsed.data : undefined;
  for (const k of rest) value = isObject(value) ? (value as Data)[k] : undefined;
  return value;
}

/** Where the value of a key of the checked config comes from. */
export function sourceOf(layers: Layers, key: string): Source {
  for (const [known, source] of layers.sources) if (known === key || isWithin(key, known)) return source;
  return { kind: 'default' };
}

/** Where somebody has to look to change a key, for messages: the flag, the variable, the file. */
export function placeOf(layers: Layers, key: string): string {
  const path = key.split('.');
  for (let depth = path.length; depth > 0; depth--) {
    const at = path.slice(0, depth).join('.');
    const exact = sourceOf(layers, at);
    if (exact.kind !== 'default') return placeText(exact);
    // a part that is missing or too much in an object that flags or variables made
    const parts = [...layers.sources].filter(([known]) => isWithin(known, at)).map(([, source]) => source);
    const last = parts.findLast((s) => s.kind === 'flag' || s.kind === 'environment') ?? parts.at(-1);
    if (last !== undefined) return placeText(last);
  }
  return layers.where;
}

const placeText = (source: Source): string =>
  source.kind === 'environment' ? `${source.variable}=${source.given}` : sourceText(source);

/** A source as people read it. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case 'default':
      return 'default';
    case 'file':
      return source.path;
    case 'environment':
      return source.variable;
    case 'flag':
      return source.flag;
    case 'log':
      return source.path;
    default:
      return source satisfies never;
  }
}

/** A key of a config with its value and where that comes from. */
export type ConfigRow = { readonly key: string; readonly value: unknown; readonly source: Source };

/** Every key of a checked config by its leaves; limits that nobody gave as null. */
export function configRows(config: Config, layers: Layers): readonly ConfigRow[] {
  const { usd = null, tokens = null } = config.limits;
  const all = { ...config, limits: { ...config.limits, usd, tokens } };
  return leafKeys(all).map((key) => ({ key, value: at(all, key), source: sourceOf(layers, key) }));
}

function at(data: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((value, k) => (isObject(value) ? (value as Data)[k] : undefined), data);
}

/** `inner` is `key` or a part of it. */
export function isWithin(inner: string, key: string): boolean {
  return inner === key || inner.startsWith(`${key}.`);
}

function isObject(x: unknown): x is object {
  return typeof x === 'object' && x !== null && !Array.isArray(x);
}

/** Dotted keys of the leaves of data; of what is no object the empty one. */
function leafKeys(data: unknown): readonly string[] {
  if (!isObject(data) || Object.keys(data).length === 0) return [''];
  return Object.entries(data)
    .filter(([, value]) => value !== undefined)
    .flatMap(([key, value]) => leafKeys(value).map((leaf) => (leaf === '' ? key : `${key}.${leaf}`)));
}
