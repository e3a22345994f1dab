/** Where commands are looked for when the environment does not say. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The environment as this program was started with (PATH is never missing); `config` is the one room that reads it. */
export function hostEnvironment(): Readonly<Record<string, string>> {
  const out: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [key, value] of Object.entries(process.env)) if (value !== undefined) out[key] = value;
  return out;
}

const secretName = /(KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?$/i;

/** Values of host variables whose names say that they are secrets: they are redacted wherever they turn up. */
export function namedSecrets(
  env: Readonly<Record<string, string>>,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(env)
    .filter(([name, value]) => secretName.test(name) && value.length >= 6)
    .map(([name, value]) => ({ name, value }));
}
