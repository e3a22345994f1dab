/**
 * Some servers do not stream, though they are asked to: they send the whole completion as JSON. It is handed on as a
 * stream of one chunk, so that there is one way of reading. What is no completion is handed on as it is.
 */
export async function asStream(response: Response): Promise<Response> {
  if (!/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) return response;
  const text = await response.text();
  const chunk = chunkOf(text);
  if (chunk === null) return new Response(text, { status: response.status, headers: response.headers });
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  return new Response(body, { status: response.status, headers: { 'content-type': 'text/event-stream' } });
}

function chunkOf(text: string): object | null {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return null;
  }
  const choices = fields(whole).choices;
  if (!Array.isArray(choices)) return null;
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
