import type { Protocol } from '../ports/gateway.ts';
import { plain } from '../skill/distinctive.ts';

type Fields = Readonly<Record<string, unknown>>;
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const some = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Whether a request offers tools: what an agent asks beside its work (titles, summaries) does not. */
export function hasTools(protocol: Protocol, body: Fields): boolean {
  switch (protocol) {
    case 'messages':
      return some(body.tools);
    case 'chat':
      return some(body.tools) || some(body.functions);
    case 'responses':
      return (
        some(body.tools) ||
        (Array.isArray(body.input) && body.input.some((item) => fields(item).type === 'additional_tools'))
      );
    case 'gemini':
      return some(body.tools);
    default:
      return protocol satisfies never;
  }
}

/** Pictures and files are no text. */
const longestWordless = 4_000;

/** The kinds of items of Responses, and the roles of all APIs, that hold what the model said before. */
const written: ReadonlySet<unknown> = new Set([
  'assistant',
  'model',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'reasoning',
]);

/**
 * All texts of a request, in order, in one form (see `plain`), a blank between any two: what the model is shown, and
 * apart from it what it wrote itself, calls of tools too.
 */
export function textsOf(body: unknown): { readonly shown: string; readonly written: string } {
  const found = { shown: [] as string[], written: [] as string[] };
  const walk = (value: unknown, into: string[]): void => {
    if (typeof value === 'string') {
      if (value.length < longestWordless || /\s/.test(value.slice(0, longestWordless))) into.push(value);
    } else if (typeof value === 'object' && value !== null) {
      const { role, type } = fields(value);
      const own = written.has(role) || written.has(type) ? found.written : into;
      for (const inner of Object.values(value)) walk(inner, own);
    }
  };
  walk(body, found.shown);
  return { shown: plain(found.shown.join('\n')), written: plain(found.written.join('\n')) };
}
