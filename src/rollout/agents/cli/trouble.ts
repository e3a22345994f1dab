import { stripVTControlCharacters } from 'node:util';
import type { CliTrouble } from './cli-kind.ts';
import { type Fields, fieldsOf, jsonWithin, textOf } from './json-events.ts';
import { resetOf } from './used-up.ts';

/** Longest detail of a trouble, in UTF-16 units. */
const detailLength = 400;

/** Codes and types by which services name an account without means, whatever the status. */
const quotaCodes: ReadonlySet<string> = new Set(['insufficient_quota', 'billing_error', 'billing_hard_limit_reached']);
const tooLongCodes: ReadonlySet<string> = new Set(['context_length_exceeded', 'request_too_large']);
const noModelCodes: ReadonlySet<string> = new Set(['model_not_found', 'not_found_error']);

/**
 * What an error of a model's service means, by its status and its code, never by the words of its message. `status` null =
 * it is looked for in the message, where agents put it in front or in the service's own JSON.
 */
export function troubleOf(message: string, status: number | null = null): CliTrouble {
  const body = jsonWithin(message);
  const error = errorWithin(body);
  const code = status ?? statusAtStart(message) ?? statusOf(error.code) ?? statusOf(error.status);
  const names = [error.code, error.type].map(textOf);
  const words = textOf(error.message);
  const detail = oneLine(words === '' ? message : code === null ? words : `${code}: ${words}`);
  const resetsAt = resetOf(error.resets_at);
  if (resetsAt !== null) return { kind: 'quota', detail, resetsAt };
  if (names.some((name) => quotaCodes.has(name)) || code === 402) return { kind: 'quota', detail };
  if (names.some((name) => noModelCodes.has(name)) || code === 404) return { kind: 'model-not-found', detail };
  if (names.some((name) => tooLongCodes.has(name)) || code === 413) return { kind: 'limit', detail };
  if (code === 401 || code === 403) return { kind: 'auth', detail };
  if (code === 429) return { kind: 'rate-limit', detail };
  return { kind: 'provider', detail };
}

/** What an agent said that wrote no event at all; null = it said nothing. */
export function crashOf(stderr: string): CliTrouble | null {
  const lines = stripVTControlCharacters(stderr)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const said = lines.find((line) => /\berror\b/i.test(line)) ?? lines.at(-1);
  return said === undefined ? null : { kind: 'crash', detail: oneLine(said) };
}

/** A text on one line, cut where it is long. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > detailLength ? `${line.slice(0, detailLength).trimEnd()}…` : line;
}

/** Services wrap what they say in `error`, some twice; others put it bare. */
function errorWithin(body: Fields | null): Fields {
  if (body === null) return {};
  return body.error === undefined ? body : fieldsOf(body.error);
}

function statusAtStart(message: string): number | null {
  const [, bare, bracketed] = /^(\d{3})(?=[:\s])|^[^({]*API error \((\d{3})\)/.exec(message) ?? [];
  return statusOf(Number(bare ?? bracketed));
}

function statusOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value < 600 ? value : null;
}
