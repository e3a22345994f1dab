import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';

/** Where commands are looked for when the environment does not say. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The environment as this program was started with (PATH is never missing); `config` is the one room that reads it. */
export function hostEnvironment(): Readonly<Record<string, string>> {
  const out: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [key, value] of Object.entries(process.env)) if (value !== undefined) out[key] = value;
  return out;
}

/** CI runs and terminals that can't move their cursor get plain lines. */
export function wantsPlainOutput(env: Readonly<Record<string, string>>): boolean {
  const ci = env.CI ?? '';
  return env.TERM === 'dumb' || !['', '0', 'false'].includes(ci.toLowerCase());
}

const secretName = /(KEY|KEY_ID|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|_PAT|_PASS)S?$/i;

/** Shorter values, and plain lower-case words, would be found in any text. */
const tellsNothing = (value: string) => value.length < 8 || /^[a-z]+$/.test(value);

/** Of a variable that a config names for what it holds: whatever is found in any text, or is the path of something here. */
function isPlain(value: string): boolean {
  return value.length < 6 || /^[a-z]{1,15}$/.test(value) || (isAbsolute(value) && existsSync(value));
}

/**
 * Values of host variables that are secrets, and are redacted wherever they turn up: those whose names say so, and those
 * that are named here, unless they are plain.
 */
export function namedSecrets(
  env: Readonly<Record<string, string>>,
  named: readonly string[] = [],
): readonly { readonly name: string; readonly value: string }[] {
  const isSecret = (name: string, value: string) =>
    (saysSecret(name) && !tellsNothing(value)) || (named.includes(name) && !isPlain(value));
  return Object.entries(env)
    .filter(([name, value]) => isSecret(name, value))
    .map(([name, value]) => ({ name, value }));
}

/** Does the name of a variable say that it holds a secret? */
export function saysSecret(name: string): boolean {
  return secretName.test(name);
}

/** Variables among these whose values are so plain that they are not redacted. */
export function plainVariables(env: Readonly<Record<string, string>>, named: readonly string[]): readonly string[] {
  const secret = new Set(namedSecrets(env, named).map(({ name }) => name));
  return named.filter((name) => env[name] !== undefined && !secret.has(name));
}
