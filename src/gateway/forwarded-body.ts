import type { Protocol } from '../ports/gateway.ts';
import { setIn } from './json-edit.ts';
import { resource } from './routes.ts';

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly [string, ...string[]];

/** What a request is changed in before it goes on. */
export type BodyChanges = {
  readonly model: string;
  /** Most tokens that the answer may have; null = as it was asked for. */
  readonly mostTokens: number | null;
  /** A streamed answer of Chat Completions is asked to tell its usage. */
  readonly withUsage: boolean;
  readonly chatBound: 'max_tokens' | 'max_completion_tokens';
};

/**
 * The body that goes on: model, bound and wish for the usage are set in its text, all else stays byte by byte.
 * `asksUsage` = the wish was put in and may be what a server refuses.
 */
export function forwardedBody(
  protocol: Protocol,
  { text, value }: { readonly text: string; readonly value: Fields },
  changes: BodyChanges,
): { readonly text: string; readonly asksUsage: boolean } {
  let body = protocol === 'gemini' ? geminiModel(text, value, changes.model) : setIn(text, ['model'], changes.model);
  const bound = boundOf(protocol, value, changes);
  if (bound !== null) for (const path of bound.paths) body = setIn(body, path, bound.tokens);
  const asksUsage =
    protocol === 'chat' &&
    changes.withUsage &&
    value.stream === true &&
    fields(value.stream_options).include_usage !== true;
  return { text: asksUsage ? setIn(body, ['stream_options', 'include_usage'], true) : body, asksUsage };
}

/** The model stands in the path; a count of tokens may name it once more. */
function geminiModel(text: string, value: Fields, model: string): string {
  return fields(value.generateContentRequest).model === undefined
    ? text
    : setIn(text, ['generateContentRequest', 'model'], resource(model));
}

/** Fewer tokens are an error to the API. */
const leastOfResponses = 16;

/** Where the bound of an answer has to be set, and to what; null = it may stay as it is. */
function boundOf(
  protocol: Protocol,
  value: Fields,
  { mostTokens, chatBound }: BodyChanges,
): { readonly paths: readonly Path[]; readonly tokens: number } | null {
  if (mostTokens === null) return null;
  const paths = boundPaths(protocol, value, chatBound);
  const most = Math.max(leastFor(protocol, value), mostTokens);
  const over = paths.filter((path) => {
    const asked = at(value, path);
    return typeof asked !== 'number' || asked > most;
  });
  return over.length === 0 ? null : { paths: over, tokens: most };
}

/** Those that the request has, else the API's own. */
function boundPaths(protocol: Protocol, value: Fields, chatBound: BodyChanges['chatBound']): readonly Path[] {
  switch (protocol) {
    case 'messages':
      return [['max_tokens']];
    case 'responses':
      return [['max_output_tokens']];
    case 'chat': {
      const has = ['max_tokens', 'max_completion_tokens'].filter((name) => value[name] !== undefined);
      return (has.length === 0 ? [chatBound] : has).map((name): Path => [name]);
    }
    case 'gemini': {
      const config = value.generation_config === undefined ? 'generationConfig' : 'generation_config';
      const name = fields(value[config]).max_output_tokens === undefined ? 'maxOutputTokens' : 'max_output_tokens';
      return [[config, name]];
    }
    default:
      return protocol satisfies never;
  }
}

/** Below that a request is refused: thinking needs room for its budget and a token more. */
function leastFor(protocol: Protocol, value: Fields): number {
  if (protocol === 'responses') return leastOfResponses;
  const budget = protocol === 'messages' ? fields(value.thinking).budget_tokens : undefined;
  return typeof budget === 'number' ? budget + 1 : 1;
}

function at(value: Fields, path: Path): unknown {
  return path.reduce<unknown>((v, step) => fields(v)[step], value);
}

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
