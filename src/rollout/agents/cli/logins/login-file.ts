import { readFile, stat } from 'node:fs/promises';
import { type LoginAgent, logInFix, noLogin } from './login-agent.ts';

/** No login is larger. */
const MOST_BYTES = 1_000_000;

/** Data of a login's file; nothing is known of its form. */
export type LoginData = Readonly<Record<string, unknown>>;

/**
 * A login's file of the user's own, only read: it is neither locked nor touched. Throws an `auth` failure with the fix
 * where there is none, or where it holds no object; nothing of its content is quoted.
 */
export async function readLoginFile(path: string, agent: LoginAgent, absent = ''): Promise<LoginData> {
  let text: string;
  try {
    if ((await stat(path)).size > MOST_BYTES) throw noLogin(agent, 'its file is too large to be one', path);
    text = await readFile(path, 'utf8');
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw noLogin(agent, 'there is no such file', path, absent === '' ? logInFix(agent) : absent);
    if (code !== undefined) throw noLogin(agent, `its file can’t be read (${code})`, path);
    throw e;
  }
  let data: unknown;
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw noLogin(agent, 'its file is no JSON', path);
  }
  if (!isData(data)) throw noLogin(agent, 'its file holds no object', path);
  return data;
}

/** An object of JSON. */
export function isData(value: unknown): value is LoginData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Shorter values are no tokens. */
const SHORTEST_TOKEN = 12;

/**
 * Every token and key of a login's file, by the names under which they stand: also those that no agent is given, as one
 * without walls around it may read the file by itself.
 */
export function tokensIn(data: unknown): readonly string[] {
  if (Array.isArray(data)) return data.flatMap(tokensIn);
  if (!isData(data)) return [];
  return Object.entries(data).flatMap(([name, value]) => {
    if (typeof value !== 'string') return tokensIn(value);
    return /^(?!last).*(?:token|access|refresh|secret|key|password)/i.test(name) && value.length >= SHORTEST_TOKEN
      ? [value]
      : [];
  });
}

/** A text that is not empty; null = there is none. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
