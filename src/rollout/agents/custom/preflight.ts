import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CustomAgent } from '../../../config/agent.ts';
import { type Failure, fail, SkilloptError } from '../../../ports/failure.ts';
import { apiNames } from '../../../ports/gateway.ts';
import type { Finding } from '../../../ports/preflight.ts';
import { runProcess } from '../../../process/run-process.ts';
import { agentsThatSpeak } from '../cli/kinds.ts';
import type { AgentSettings } from '../settings.ts';
import { digestOf, filesNamed, programOf } from './program.ts';

/** How long a program may take to print its version. */
const versionMs = 60_000;
/** Longest version that is kept. */
const VERSION_LENGTH = 80;

type Named = Pick<CustomAgent, 'name' | 'command'>;

/** There is no such program: thrown where it would be started. */
export function missingProgram({ name, command: [program = ''] }: Named): SkilloptError {
  const what = program.startsWith('/') ? `${program} is no program` : `no ${program} is on PATH`;
  return fail('environment-down', `the agent ${name} can’t be started: ${what}`, 'agent.command', fixOf(program));
}

const fixOf = (program: string): string =>
  program.startsWith('/') ? 'name a file that may be executed' : `install ${program}, or write its whole path`;

/** What has to hold before an agent of one's own is started, each with the fix where it does not. */
export async function customPreflight(config: CustomAgent, settings: AgentSettings): Promise<readonly Finding[]> {
  return [
    ...(await programFindings(config, settings)),
    ...protocolFindings(config, settings),
    ...limitFindings(config, settings),
  ];
}

async function programFindings(config: CustomAgent, settings: AgentSettings): Promise<readonly Finding[]> {
  const program = programOf(config.command[0] ?? '', settings.path);
  if (program === null) return [errorOf(missingProgram(config).failure)];
  const { form } = program;
  if (form.kind === 'script' && form.interpreter.program === null) {
    const { name } = form.interpreter;
    const what = `${config.command[0]} needs ${name}, which is not on PATH`;
    return [{ level: 'error', what, where: program.path, fix: `install ${name}` }];
  }
  try {
    const version = await versionOfCustom(config, settings);
    return [{ level: 'ok', what: `${config.name} ${version}`, where: program.path, fix: '' }];
  } catch (error) {
    if (error instanceof SkilloptError) return [errorOf(error.failure)];
    throw error;
  }
}

function errorOf({ what, where, fix }: Failure): Finding {
  return { level: 'error', what, where, fix };
}

/** What its version command prints first; without one a digest of its bytes. Throws `environment-down` when there is none. */
export async function versionOfCustom(config: CustomAgent, settings: AgentSettings): Promise<string> {
  const program = programOf(config.command[0] ?? '', settings.path);
  if (program === null) throw missingProgram(config);
  if (config.version === null) return digestOf(program, filesNamed(config.command));
  const [first = '', ...args] = config.version;
  const cwd = await mkdtemp(join(tmpdir(), 'skillopt-version-'));
  try {
    const env = { PATH: settings.path, HOME: cwd, TMPDIR: cwd, LANG: 'C.UTF-8' };
    const end = await runProcess({ command: [first, ...args], cwd, env, timeoutMs: versionMs });
    const [line = ''] = `${end.stdout}\n${end.stderr}`
      .split('\n')
      .map((text) => text.trim())
      .filter((text) => text);
    if (end.exitCode === 0 && line !== '') return line.slice(0, VERSION_LENGTH).toWellFormed();
    const why =
      end.cause === 'timeout'
        ? `it did not answer within ${versionMs / 1000} s`
        : end.detail || line || 'it printed nothing';
    const what = `the version of ${config.name} can’t be told: ${why}`;
    throw fail('environment-down', what, 'agent.version', 'name a command that prints it, or take "version" out');
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function protocolFindings({ name, protocol }: CustomAgent, settings: AgentSettings): readonly Finding[] {
  const error = (what: string, where: string, fix: string): readonly Finding[] => [
    { level: 'error', what, where, fix },
  ];
  if (protocol === null) return [];
  if (settings.login === 'subscription')
    return error(`${name} has no login that this program knows`, 'login', 'set "login": "key", and name a "model"');
  const { protocols, modelName } = settings;
  if (protocols === null || protocols.includes(protocol)) return [];
  const others = agentsThatSpeak(protocols);
  const answers = protocols.map((protocol) => apiNames[protocol]).join(', ');
  return error(
    `${name} speaks ${apiNames[protocol]}, and ${modelName ?? 'the model'} answers ${answers}`,
    'model',
    `name another model${others.length === 0 ? '' : `, or one of the agents that speak to it: ${others.join(', ')}`}; or, if its server answers that API too, say so with "protocols" in "model"`,
  );
}

/** What it spends is counted at the gateway alone. */
function limitFindings({ name, protocol }: CustomAgent, { limits }: AgentSettings): readonly Finding[] {
  const key = (['requests', 'tokens', 'usd'] as const).find((limit) => limits[limit] !== null);
  if (protocol !== null || key === undefined) return [];
  const what = `agentLimits.${key} can’t be held: ${name} does not call its model through this program`;
  return [
    {
      level: 'error',
      what,
      where: `agentLimits.${key}`,
      fix: 'take it out, or say with "protocol" which API it speaks',
    },
  ];
}
