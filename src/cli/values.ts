import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** A whole number of at least 1 from the command line. */
export function count(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('give a whole number of at least 1');
  return n;
}

/** US dollars from the command line. */
export function amount(text: string): number {
  const n = Number(text.replace(/^\$/, ''));
  if (!(n > 0)) throw new InvalidArgumentError('give an amount in US dollars, more than 0');
  return n;
}

/** Minutes from the command line. */
export function minutes(text: string): number {
  const n = Number(text);
  if (!(n >= 0.1)) throw new InvalidArgumentError('give a number of minutes, at least 0.1');
  return n;
}

/** A path or a name from the command line. An empty one would stand for this directory: mostly a variable that is not set. */
export function given(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('it is empty: name one, or leave it out');
  return text;
}

/** A directory from the command line, which need not exist; a file is mostly one of those in it. */
export function directory(text: string): string {
  let path = resolve(given(text));
  while (!isThere(path)) path = dirname(path);
  if (!statSync(path).isFile()) return text;
  throw new InvalidArgumentError(
    `${path === resolve(text) ? 'it' : path} is a file: name a directory, such as ${dirname(path)}`,
  );
}

function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch {
    return dirname(path) === path;
  }
}
