import { hostEnvironment, namedSecrets } from '../config/environment.ts';
import { namedVariables, noPreloads, type Preloads } from '../config/preloads.ts';
import { GrowingRedactor, type NamedSecret, type Redactor } from '../journal/redact.ts';

let known: GrowingRedactor | null = null;

/** All that this process knows to be secret: what the environment holds by such names, and the tokens of logins. */
function secrets(): GrowingRedactor {
  known ??= new GrowingRedactor(namedSecrets(hostEnvironment()));
  return known;
}

/** Takes out what is known to be secret by the time at which a text is redacted. */
export function redactor(): Redactor {
  return secrets().redact;
}

/** What the environment holds that is secret: by such names, and because a config names it. */
export function secretsOf(preloads: Preloads = noPreloads): readonly NamedSecret[] {
  return namedSecrets(hostEnvironment(), namedVariables(preloads));
}

/** What a config names is secret from now on. */
export function noteNamed(preloads: Preloads): void {
  for (const secret of secretsOf(preloads)) noteSecret(secret);
}

/** From now on it is redacted wherever it turns up. */
export function noteSecret(secret: NamedSecret): void {
  secrets().add(secret);
}
