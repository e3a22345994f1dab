import { z } from 'zod';
import { schemaAt } from './keys.ts';

type Form = {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly Form[];
};

/** What a key's value has to be, in words: `a whole number of at least 1, or null`. Null where the schema has none for it. */
export function formText(key: string): string | null {
  const shape = schemaAt(key);
  if (shape === null) return null;
  const form = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }) as Form;
  const texts = (form.anyOf ?? [form]).map(oneText);
  if (texts.some((t) => t === null)) return null;
  return texts.length < 2 ? (texts[0] ?? null) : `${texts.slice(0, -1).join(', ')}, or ${texts.at(-1)}`;
}

function oneText(form: Form): string | null {
  if (form.enum !== undefined) return `one of ${form.enum.map(String).join(', ')}`;
  if (form.const !== undefined) return JSON.stringify(form.const);
  switch (form.type) {
    case 'null':
      return 'null';
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'a text that is not empty';
    case 'array':
      return 'a list';
    case 'object':
      return form.properties === undefined ? 'an object' : `an object of ${Object.keys(form.properties).join(', ')}`;
    case 'integer':
      return `a whole number${boundsText(form, 1)}`;
    case 'number':
      return `a number${boundsText(form, 0)}`;
    default:
      return null;
  }
}

/** `step` = how far the least value lies above a bound that is excluded; 0 = it has no least one. */
function boundsText({ minimum, exclusiveMinimum, maximum }: Form, step: 0 | 1): string {
  const isReal = (n: number | undefined) => n !== undefined && Math.abs(n) < Number.MAX_SAFE_INTEGER;
  const least = isReal(exclusiveMinimum) && step === 1 ? (exclusiveMinimum ?? 0) + step : minimum;
  const most = isReal(maximum) ? maximum : undefined;
  if (isReal(exclusiveMinimum) && step === 0)
    return most === undefined ? ` above ${exclusiveMinimum}` : ` above ${exclusiveMinimum}, at most ${most}`;
  if (!isReal(least)) return most === undefined ? '' : ` of at most ${most}`;
  return most === undefined ? ` of at least ${least}` : ` from ${least} to ${most}`;
}
