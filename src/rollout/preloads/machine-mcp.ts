import { existsSync, readFileSync } from 'node:fs';
import { type ParseError, parse as parseJsonc } from 'jsonc-parser';
import { z } from 'zod';
import { saysSecret } from '../../config/environment.ts';
import type { McpServer } from '../../config/preloads.ts';
import type { VariableSource } from './record.ts';

/** How a file names MCP servers: `mcpServers` of JSON (claude-code, pi), gemini's, opencode's, or codex's TOML. */
export type McpForm = 'mcpServers' | 'gemini' | 'opencode' | 'toml';

/** A server as this program can hand it on, with where the variables that it is given come from. */
export type TakenServer = { readonly server: McpServer; readonly env: Readonly<Record<string, VariableSource>> };

export type ServerReading =
  | { readonly ok: true; readonly taken: TakenServer }
  | { readonly ok: false; readonly what: string; readonly fix: string };

/** The servers of the agent's own configuration, as they stand there, by name; and what can't be read. */
export function machineServers(
  files: readonly string[],
  form: McpForm,
): { readonly servers: ReadonlyMap<string, unknown>; readonly unreadable: readonly string[] } {
  const servers = new Map<string, unknown>();
  const unreadable: string[] = [];
  for (const file of files.filter((f) => existsSync(f))) {
    const data = readData(file, form);
    if (data === null) unreadable.push(file);
    const key = form === 'toml' ? 'mcp_servers' : form === 'opencode' ? 'mcp' : 'mcpServers';
    const named = (data as Readonly<Record<string, unknown>> | null)?.[key];
    if (typeof named === 'object' && named !== null)
      for (const [name, value] of Object.entries(named)) servers.set(name, value);
  }
  return { servers, unreadable };
}

function readData(file: string, form: McpForm): unknown {
  try {
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    if (form === 'toml') return Bun.TOML.parse(text);
    const errors: ParseError[] = [];
    const data: unknown = parseJsonc(text, errors, { allowTrailingComma: true });
    return errors.length > 0 ? null : (data ?? {});
  } catch {
    return null;
  }
}

const texts = z.record(z.string(), z.string());

/** What agents write of a server; of what is left out nothing changes what a server does. */
const entryShape = z.object({
  type: z.string().optional(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  environment: texts.optional(),
  env_vars: z.array(z.union([z.string(), z.object({ name: z.string() })])).optional(),
  cwd: z.string().nullish(),
  url: z.string().optional(),
  httpUrl: z.string().optional(),
  headers: texts.optional(),
  http_headers: texts.optional(),
  env_http_headers: texts.optional(),
  bearer_token_env_var: z.string().optional(),
  oauth: z.unknown().optional(),
});

const byHand = (name: string) => `describe it in preloads.mcp: {"${name}": {"command": [...], "env": ["NAME"]}}`;

export type TakingOptions = {
  readonly form: McpForm;
  /** Looks for keys, and for the values of secrets that this machine knows by name. */
  readonly isSecret: (text: string) => Promise<boolean>;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
};

/** What can be handed on of one server. Values of secrets go by name alone, so one that is written out is refused. */
export async function takenServer(name: string, entry: unknown, o: TakingOptions): Promise<ServerReading> {
  const { form, isSecret, hostEnv } = o;
  const refuse = (what: string, fix = byHand(name)): ServerReading => ({ ok: false, what, fix });
  const parsed = entryShape.safeParse(entry);
  if (!parsed.success) return refuse(`the MCP server ${name} is described in a way that this program does not know`);
  const e = parsed.data;
  const url = e.httpUrl ?? e.url;
  if (url !== undefined) {
    if (e.headers ?? e.http_headers ?? e.env_http_headers ?? e.bearer_token_env_var ?? e.oauth)
      return refuse(`the MCP server ${name} is let in by headers or a login, which are not taken over`, 'leave it out');
    if (e.type === 'sse' || (form === 'gemini' && e.httpUrl === undefined))
      return refuse(
        `the MCP server ${name} speaks the older SSE, which not every agent does`,
        `name its streamable address: preloads.mcp: {"${name}": {"url": …}}`,
      );
    if (!/^https?:\/\/\S+$/.test(url)) return refuse(`the address of the MCP server ${name} is none of HTTP`);
    if (await isSecret(url)) return refuse(`the address of the MCP server ${name} holds a secret`, 'leave it out');
    return { ok: true, taken: { server: { url }, env: {} } };
  }
  const command = [...(typeof e.command === 'string' ? [e.command] : (e.command ?? [])), ...(e.args ?? [])];
  if (command.length === 0) return refuse(`the MCP server ${name} has neither a command nor a url`);
  if (e.cwd)
    return refuse(`the MCP server ${name} starts in a folder of this machine (${e.cwd}), which rollouts do not have`);
  for (const [at, word] of command.entries()) {
    if ((await isSecret(word)) || givesSecret(word, command[at + 1]))
      return refuse(
        `the command of the MCP server ${name} holds a secret`,
        `give it to the server by a variable: ${byHand(name)}`,
      );
    if (reference(word) !== null)
      return refuse(`the command of the MCP server ${name} names a variable (${word}), which only its agent fills in`);
  }
  const env: Record<string, VariableSource> = {};
  for (const wanted of e.env_vars ?? []) {
    const variable = typeof wanted === 'string' ? wanted : wanted.name;
    env[variable] = { from: variable };
  }
  for (const [variable, value] of Object.entries({ ...e.env, ...e.environment })) {
    const from = reference(value);
    if (from !== null) env[variable] = { from };
    else if (value !== '' && hostEnv[variable] === value) env[variable] = { from: variable };
    else if (value.startsWith('!')) return refuse(`the MCP server ${name} gets ${variable} from a command`);
    else if (/\$\{?\w|\{env:/.test(value))
      return refuse(`the MCP server ${name} gets ${variable} from a text with variables in it`);
    else if ((value !== '' && saysSecret(variable)) || (await isSecret(value)))
      return refuse(
        `the MCP server ${name} has the value of ${variable} in its configuration, and it looks like a secret: those are passed by name alone`,
        `export ${variable}, and write "\${${variable}}" there${form === 'toml' ? ' (env_vars)' : ''}, or ${byHand(name)}`,
      );
    else env[variable] = { value };
  }
  return { ok: true, taken: { server: { command, env: Object.keys(env) }, env } };
}

/** The variable that a text stands for as a whole; null = it stands for itself. */
function reference(text: string): string | null {
  const [, braces, plain, opencode] =
    /^(?:\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|\{env:([A-Za-z_]\w*)\})$/.exec(text) ?? [];
  return braces ?? plain ?? opencode ?? null;
}

/** A flag that is called like a secret, with a value behind it. */
function givesSecret(word: string, next: string | undefined): boolean {
  const [, flag, value] = /^--?([\w-]+)(?:=(.+))?$/.exec(word) ?? [];
  if (flag === undefined || !saysSecret(flag)) return false;
  return value !== undefined || (next !== undefined && !next.startsWith('-'));
}
