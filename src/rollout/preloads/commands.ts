import type { Preloads } from '../../config/preloads.ts';
import type { Finding } from '../../ports/preflight.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import type { PreloadOptions } from './options.ts';
import { type Prepared, pathBehind } from './prepared.ts';

/** A program that has to be found, and who wants it. */
type Wanted = { readonly program: string; readonly where: string; readonly what: string };

function programsOf({ wanted, taskCommands }: PreloadOptions, mcp: Preloads['mcp']): readonly Wanted[] {
  return [
    ...wanted.commands.map((program) => ({ program, where: 'preloads.commands', what: `the command ${program}` })),
    ...Object.entries(mcp).flatMap(([name, server]) =>
      'command' in server && server.command[0] !== undefined
        ? [
            {
              program: server.command[0],
              where: `preloads.mcp.${name}`,
              what: `the program ${server.command[0]} of the MCP server ${name}`,
            },
          ]
        : [],
    ),
    ...taskCommands.map((program) => ({
      program,
      where: 'the tasks',
      what: `the command ${program}, which tasks name,`,
    })),
  ];
}

/** Prints those of its arguments that the shell does not find. */
const script = 'for name in "$@"; do command -v -- "$name" > /dev/null 2>&1 || printf "%s\\n" "$name"; done';

/**
 * Programs that rollouts would not find, by looking for them where rollouts look: within the walls, with what is shown
 * there and on their PATH.
 */
export async function commandFindings(
  o: PreloadOptions,
  mcp: Preloads['mcp'],
  { path, show }: Pick<Prepared, 'path' | 'show'>,
): Promise<readonly Finding[]> {
  const wanted = programsOf(o, mcp);
  if (wanted.length === 0) return [];
  const names = [...new Set(wanted.map((w) => w.program))];
  const inVain = (why: string): readonly Finding[] => [
    {
      level: 'error',
      what: `programs could not be looked for: ${why}`,
      where: 'preloads',
      fix: 'see that sh runs in rollouts',
    },
  ];
  let end: ProcessEnd;
  try {
    end = await o.walled({
      command: ['sh', '-c', script, 'sh', ...names],
      cwd: '/',
      env: { PATH: pathBehind(path, o.hostEnv.PATH) },
      writable: null,
      show: [...show, ...o.show],
      network: 'off',
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    });
  } catch (error) {
    return inVain(error instanceof Error ? error.message : String(error));
  }
  if (end.cause !== 'exited' || end.exitCode !== 0)
    return inVain(end.detail || end.stdout.trim() || `exit code ${end.exitCode}`);
  const missing = new Set(end.stdout.split('\n'));
  return wanted
    .filter(({ program }) => missing.has(program))
    .map(({ program, where, what }) => ({
      level: 'error',
      what: `${what} is not found by rollouts`,
      where,
      fix: `install ${program}, or let rollouts see it: "sandbox.show" takes its folder, which has to be on PATH`,
    }));
}
