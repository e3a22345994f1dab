import type { SkilloptError } from '../../../ports/failure.ts';
import { apiNames } from '../../../ports/gateway.ts';
import type { Finding } from '../../../ports/preflight.ts';
import type { AgentSettings } from '../settings.ts';
import type { CliKind } from './cli-kind.ts';
import { findProgram, type Program } from './find-program.ts';
import { type InstalledCli, installation, versionOf } from './installed-cli.ts';
import { agentsThatSpeak } from './kinds.ts';
import { loginFindings } from './logins/login-findings.ts';
import { isOlder, majorOf } from './version-words.ts';

/** What has to hold before a coding agent is started, each with the fix where it does not. */
export async function cliPreflight(
  kind: CliKind,
  settings: AgentSettings,
  installed: InstalledCli,
): Promise<readonly Finding[]> {
  return [
    ...(await installedFindings(kind, settings, installed)),
    ...missingPrograms(kind, settings.path),
    ...protocolFindings(kind, settings),
    ...(await loginFindings(kind, settings)),
  ];
}

/** Whether the program is here, can be started, and is of a version that is known. */
export async function installedFindings(
  kind: CliKind,
  settings: Pick<AgentSettings, 'path'>,
  installed: InstalledCli,
): Promise<readonly Finding[]> {
  const program = installed.find();
  if (program === null) return [findingOf(installed.missing())];
  const interpreter = await interpreterFindings(kind, program, settings.path);
  if (interpreter.length > 0) return interpreter;
  const where = program.path;
  const itself = `put the folder of the program itself first on PATH, or ${installation(kind)}`;
  if (isShim(program)) {
    const what = `${kind.program} is started by a version manager, which looks for it in the home: a rollout has one of its own`;
    return [{ level: 'error', what, where, fix: itself }];
  }
  const isWrapper = program.form.kind === 'wrapper';
  const answer = await installed.askVersion();
  if (answer.kind === 'none') {
    return [{ level: 'error', what: answer.why, where, fix: isWrapper ? itself : installation(kind) }];
  }
  return [versionFinding(kind, answer.version, where), ...(isWrapper ? [wrapperFinding(kind, where, itself)] : [])];
}

function versionFinding(kind: CliKind, version: string, where: string): Finding {
  const is = `${kind.name} ${version}`;
  if (majorOf(version) === majorOf(kind.tested)) return { level: 'ok', what: is, where, fix: '' };
  const what = `${is} is another major version than ${kind.tested}, for which its switches and its output are known`;
  const fix = `see by \`skillopt eval\` that its rollouts are read rightly, or ${installation(kind)}`;
  return { level: 'warning', what, where, fix };
}

function wrapperFinding({ program }: CliKind, where: string, itself: string): Finding {
  const what = `${program} is a script that starts another program, which a sandbox does not show by itself`;
  return { level: 'warning', what, where, fix: `${itself}; or name what it starts in sandbox.show` };
}

async function interpreterFindings(
  kind: CliKind,
  { form, path }: Program,
  pathEnv: string,
): Promise<readonly Finding[]> {
  if (form.kind !== 'script') return [];
  const { name, program } = form.interpreter;
  const error = (what: string, where: string, fix: string): readonly Finding[] => [
    { level: 'error', what, where, fix },
  ];
  const least = name === 'node' ? kind.node : null;
  const wanted = least === null ? name : `${name} ${least} or newer`;
  if (program === null) return error(`${kind.program} needs ${name}, which is not on PATH`, path, `install ${wanted}`);
  if (least === null) return [];
  const answer = await versionOf([program.real, '--version'], name, pathEnv);
  if (answer.kind === 'none') return error(answer.why, program.path, `install ${wanted}`);
  if (!isOlder(answer.version, least)) return [];
  const what = `${kind.program} needs ${wanted}, and ${name} ${answer.version} is the first on PATH`;
  return error(what, program.path, `install ${wanted}, and put it first on PATH`);
}

/** Starters of version managers: they look for the real program in the home, which a rollout does not have. */
function isShim({ real }: Program): boolean {
  return /\/(volta-shim|volta|mise|asdf|rtx|proto-shim)$/.test(real);
}

function missingPrograms(kind: CliKind, path: string): readonly Finding[] {
  return kind.alsoNeeds
    .filter(({ program }) => findProgram(program, path) === null)
    .map(({ program, why }) => ({
      level: 'error' as const,
      what: `${kind.name} needs ${program}, which is not on PATH: ${why}`,
      where: `agent ${kind.name}`,
      fix: `install ${program}`,
    }));
}

function protocolFindings(kind: CliKind, { protocols, login, modelName }: AgentSettings): readonly Finding[] {
  if (protocols === null || login === 'subscription') return [];
  if (kind.speaks.some((protocol) => protocols.includes(protocol))) return [];
  const words = (list: AgentSettings['protocols']) => (list ?? []).map((protocol) => apiNames[protocol]).join(', ');
  const others = agentsThatSpeak(protocols);
  const choose = others.length === 0 ? 'name another model' : `choose one of the agents that do: ${others.join(', ')}`;
  return [
    {
      level: 'error',
      what: `${kind.name} speaks ${words(kind.speaks)}, and ${modelName ?? 'the model'} answers ${words(protocols)}`,
      where: 'model',
      fix: `${choose}; or, if its server answers that API too, say so with "protocols" in "model"`,
    },
  ];
}

function findingOf({ failure: { what, where, fix } }: SkilloptError): Finding {
  return { level: 'error', what, where, fix };
}
