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

/** Values of host variables whose names say that they are secrets: they are redacted wherever they turn up. */
export function namedSecrets(
  env: Readonly<Record<string, string>>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(env)
    .filter(([name, value]) => secretName.test(name) && !tellsNothing(value))
    .map(([name, value]) => ({ name, value }));
}
