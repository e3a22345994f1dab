import type { Failure } from '../ports/failure.ts';
import type { Trajectory } from '../ports/trajectory.ts';

/** A secret that the session knows by name. */
export type NamedSecret = { readonly name: string; readonly value: string };

/** Takes secrets out of a text: the same text when there are none. */
export type Redactor = (text: string) => Promise<string>;

const shortest = 6;

/**
 * Redaction, once, on entry: first the exact values of the secrets known by name (longest first), then the known key
 * forms of providers. A redacted place reads `[redacted: NAME]`.
 */
export function makeRedactor(secrets: readonly NamedSecret[]): Redactor {
  const known = secrets.filter((s) => s.value.length >= shortest).sort((a, b) => b.value.length - a.value.length);
  return async (text) => {
    let out = text;
    for (const s of known) out = out.replaceAll(s.value, () => `[redacted: ${s.name}]`);
    return looksHarmless(out) ? out : await redactForms(out);
  };
}

/** Nothing in it could be a key: no unbroken run of 16 characters that mixes letters with digits. Saves the scan for most texts. */
function looksHarmless(text: string): boolean {
  for (const run of text.matchAll(/[A-Za-z0-9+/=_-]{16,}|-----BEGIN/g)) {
    if (run[0] === '-----BEGIN' || (/\d/.test(run[0]) && /[A-Za-z]/.test(run[0]))) return false;
  }
  return !/:\/\/[^\s/:@]+:[^\s/@]+@/.test(text);
}

async function redactForms(text: string): Promise<string> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const found = await lintSource({
    source: { content: text, filePath: 'text.txt', ext: '.txt', contentType: 'text' },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }] },
    },
  });
  let out = text.replace(/:\/\/([^\s/:@]+):([^\s/@]+)@/g, '://$1:[redacted: password]@');
  if (out !== text) return redactForms(out);
  const ranges = found.messages
    .map((m) => ({ from: m.range[0], to: m.range[1], name: m.ruleId.replace(/^.*secretlint-rule-/, '') }))
    .sort((a, b) => b.from - a.from);
  for (const r of ranges) out = `${out.slice(0, r.from)}[redacted: ${r.name}]${out.slice(r.to)}`;
  return out;
}

/** A trajectory with every text redacted. */
export async function redactTrajectory(t: Trajectory, redact: Redactor): Promise<Trajectory> {
  const steps = [];
  for (const s of t.steps) {
    switch (s.kind) {
      case 'tool':
        steps.push({ ...s, input: await redact(s.input), output: await redact(s.output) });
        break;
      case 'message':
      case 'thought':
      case 'note':
        steps.push({ ...s, text: await redact(s.text) });
        break;
      default:
        s satisfies never;
    }
  }
  return {
    ...t,
    steps,
    finalText: await redact(t.finalText),
    verifier: t.verifier === null ? null : { output: await redact(t.verifier.output) },
  };
}

/** A failure whose texts may quote what a provider answered. */
export async function redactFailure(f: Failure, redact: Redactor): Promise<Failure> {
  return { ...f, what: await redact(f.what), where: await redact(f.where), fix: await redact(f.fix) };
}
