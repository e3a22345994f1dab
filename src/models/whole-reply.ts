import { BadStream } from './http-errors.ts';

/** Some servers do not stream, though they are asked to: they send the whole completion as JSON. */
export function isWhole(response: Response): boolean {
  return /^application\/json\b/i.test(response.headers.get('content-type') ?? '');
}

/**
 * The whole completion as the one chunk of a stream, so that there is one way of reading; null = it is no completion.
 * Throws `BadStream` when the server says beside it that it failed.
 */
export function chunkOf(text: string): object | null {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return null;
  }
  const choices = fields(whole).choices;
  if (!Array.isArray(choices)) return null;
  const { error } = fields(whole);
  if (error) throw new BadStream('a failure beside the completion', error);
  return {
    ...fields(whole),
    object: 'chat.completion.chunk',
    choices: choices.map((choice: unknown) => {
      const { message, ...rest } = fields(choice);
      const calls = fields(message).tool_calls;
      const numbered = Array.isArray(calls) ? calls.map((call: unknown, index) => ({ index, ...fields(call) })) : null;
      return { ...rest, delta: { ...fields(message), tool_calls: numbered } };
    }),
  };
}

const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
