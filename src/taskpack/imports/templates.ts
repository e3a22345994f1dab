import { isRecord, scalarText } from './texts.ts';

export type Variables = Readonly<Record<string, unknown>>;
export type Rendered = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

/** `name`, `name.key`, `name[0]`: all that stands for a value without working on it. */
const plainName = /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*|\[\d+\])*$/u;

/**
 * Fills in `{{ variable }}`. Anything else of a template language (filters, conditions, loops, comments) can't be told
 * from here, nor can a variable without a value: then the reason is given.
 */
export function render(template: string, variables: Variables): Rendered {
  const plain = template.replace(/\{\{[\s\S]*?\}\}/g, '');
  const odd = /\{[{%#]/.exec(plain)?.[0];
  if (odd !== undefined) return { ok: false, why: `the template uses ${odd}, and only {{variable}} is understood` };
  let why: string | null = null;
  const text = template.replace(/\{\{([\s\S]*?)\}\}/g, (_all, inner: string) => {
    const name = inner.trim();
    const found = plainName.test(name) ? valueAt(variables, name) : undefined;
    const shown = scalarText(found);
    if (shown !== null) return shown.replace(/\n$/, '');
    why ??= !plainName.test(name)
      ? `the template uses {{ ${name} }}, and only {{variable}} is understood`
      : found === undefined || found === null
        ? `the variable {{${name}}} has no value`
        : `the variable {{${name}}} is no text but a list or an object`;
    return '';
  });
  return why === null ? { ok: true, text } : { ok: false, why };
}

/** Whether a text has signs of the template language in it. */
export function isTemplate(text: string): boolean {
  return /\{[{%#]/.test(text);
}

/** Deepest nesting of variables in variables. */
const MOST_ROUNDS = 5;

/** Variables may stand in the values of others. Null values are left out. */
export function resolved(variables: Variables): { readonly variables: Variables; readonly why: string | null } {
  let now: Record<string, unknown> = { ...variables };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const open = Object.entries(now).filter(([, value]) => typeof value === 'string' && isTemplate(value));
    if (open.length === 0) return { variables: now, why: null };
    const next = { ...now };
    for (const [name, value] of open) {
      const text = render(String(value), now);
      if (!text.ok) return { variables: now, why: `in the variable ${name} ${text.why}` };
      next[name] = text.text;
    }
    now = next;
  }
  const still = Object.entries(now).find(([, value]) => typeof value === 'string' && isTemplate(value));
  return { variables: now, why: still === undefined ? null : `the variable ${still[0]} leads back to itself` };
}

function valueAt(variables: Variables, name: string): unknown {
  let here: unknown = variables;
  for (const [, key = '', index] of name.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (index !== undefined) here = Array.isArray(here) ? here[Number(index)] : undefined;
    else if (isRecord(here) && Object.hasOwn(here, key)) here = here[key];
    else return undefined;
  }
  return here;
}
