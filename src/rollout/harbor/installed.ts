import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import { runProcess } from '../../process/run-process.ts';
import { ANSWER, askPython } from './ask-python.ts';
import { harborEnvironment } from './harbor-env.ts';
import { askHarbor, harborMark } from './harbor-process.ts';
import { type HarborOptions, isDocker } from './options.ts';

/** What the installed Harbor says of itself; null and empty lists = it did not say. */
export type Installed = {
  readonly environments: readonly string[];
  readonly agents: readonly string[];
  /** What `harbor[…]` the environment needs, and which of its packages are missing. */
  readonly extra: { readonly name: string; readonly missing: readonly string[] } | null;
  /** Harbor's own words for why the environment can't be used: options, login, a missing program. */
  readonly refusal: string | null;
  /** Whether the agent can be given a skill. */
  readonly takesSkill: boolean | null;
  /** Those that can, asked only where this one can't. */
  readonly skillAgents: readonly string[];
  /** What Harbor runs once to see whether this Docker can hold back a network. */
  readonly networkProbe: { readonly image: string; readonly script: string } | null;
};

/** An agent that comes with Harbor to try tasks with, and is run without a skill. */
export function isTrier({ agent }: Pick<HarborOptions, 'agent'>): boolean {
  return 'name' in agent && (agent.name === 'oracle' || agent.name === 'nop');
}

const askMs = 120_000;

const answerShape = z.object({
  environments: z.array(z.string()).catch([]),
  agents: z.array(z.string()).catch([]),
  extra: z
    .object({ name: z.string(), missing: z.array(z.string()) })
    .nullable()
    .catch(null),
  refusal: z.string().nullable().catch(null),
  takesSkill: z.boolean().nullable().catch(null),
  skillAgents: z
    .array(z.string())
    .nullable()
    .catch(null)
    .transform((names) => names ?? []),
  networkProbe: z.object({ image: z.string(), script: z.string() }).nullable().catch(null),
});

/**
 * Asks the installed Harbor, by the Python that it runs in; where that can't be had, by its commands, which tell the two
 * lists alone.
 */
export async function askInstalled(o: HarborOptions): Promise<Installed> {
  const python = pythonOf(o);
  const answer = python === null ? null : await byPython(o, python);
  if (answer !== null && answer.environments.length > 0 && answer.agents.length > 0) return answer;
  const [environments, agents] = await Promise.all(
    ['environment', 'agent'].map(async (what) => {
      const json = await askHarbor(o, [what, 'list', '--json'], '/');
      return namesIn(json.exitCode === 0 ? json.stdout : (await askHarbor(o, [what, 'list'], '/')).stdout);
    }),
  );
  const none = answer ?? answerShape.parse({});
  return { ...none, environments: environments ?? [], agents: agents ?? [] };
}

async function byPython(o: HarborOptions, python: readonly [string, ...string[]]): Promise<Installed | null> {
  const question = {
    // Docker is looked at by our own questions
    environment: { ...o.environment, kwargs: o.environmentKwargs, asked: !isDocker(o.environment) },
    agent: { ...o.agent, others: !isTrier(o) },
  };
  const end = await runProcess({
    command: [...python, '-c', askPython],
    cwd: '/',
    env: harborEnvironment(o),
    timeoutMs: askMs,
    stdin: JSON.stringify(question),
    mark: harborMark(o.sessionId, 'question'),
  });
  return readAnswer(end.stdout);
}

/** The answer among what was printed; null = there is none. */
export function readAnswer(stdout: string): Installed | null {
  const line = stdout.split('\n').findLast((text) => text.startsWith(ANSWER));
  if (line === undefined) return null;
  try {
    const parsed = answerShape.safeParse(JSON.parse(line.slice(ANSWER.length)));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The Python that a Harbor program runs in, by the first lines of its file; null = it is no script of Python. */
function pythonOf({ program, hostEnv }: HarborOptions): readonly [string, ...string[]] | null {
  const file = program.includes('/') ? program : Bun.which(program, { PATH: hostEnv.PATH ?? '' });
  if (file === null) return null;
  try {
    return pythonIn(readFileSync(file).subarray(0, 2_048).toString('latin1'));
  } catch {
    return null;
  }
}

/** The words that start the Python of a script; long paths stand behind an `exec` of sh. */
export function pythonIn(head: string): readonly [string, ...string[]] | null {
  const [first = ''] = head.split('\n');
  if (!first.startsWith('#!')) return null;
  const behindShell = /^'''exec' (?:"([^"]+)"|'([^']+)'|(\S+)) "\$0"/m.exec(head)?.slice(1).find(Boolean);
  const [program = '', ...args] = behindShell === undefined ? first.slice(2).trim().split(/\s+/) : [behindShell];
  const named = basename(program) === 'env' ? (args[0] ?? '') : program;
  return /^python[\d.]*$/.test(basename(named)) ? [program, ...args] : null;
}

/** Names in what a list prints: JSON, or a table with one name in each row. */
export function namesIn(stdout: string): readonly string[] {
  try {
    const parsed = z.array(z.string()).safeParse(JSON.parse(stdout));
    if (parsed.success) return parsed.data;
  } catch {}
  const rows = [...stdout.matchAll(/^[│|]\s*([a-z][a-z0-9.-]*)\s*[│|]/gm)];
  return rows.flatMap(([, name]) => (name === undefined ? [] : [name]));
}
