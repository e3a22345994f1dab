import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { McpServer } from '../../../config/preloads.ts';
import { fail, SkilloptError } from '../../../ports/failure.ts';
import { taskPath, whyNotStarted } from '../../why-not-started.ts';
import type { Agent, AgentEnd, AgentNeeds, AgentRun } from '../agent.ts';
import type { AgentSettings } from '../settings.ts';
import { endOf } from './cli-end.ts';
import type { CliKind, CliLogin, CliSeat, McpLaunch } from './cli-kind.ts';
import { cliPreflight } from './cli-preflight.ts';
import { findProgram } from './find-program.ts';
import { writeHomeFiles } from './home-files.ts';
import { InstalledCli } from './installed-cli.ts';
import { withWindow } from './login-window.ts';
import { besideFailure, keysBeside } from './logins/login-failures.ts';
import { wayOut } from './logins/way-out.ts';
import { readOutput, replaceOutput } from './output-file.ts';
import { needsOf } from './program-needs.ts';
import { saidNow } from './used-up.ts';

/** A login has to hold a while longer than the rollout may last: it waits now and then. */
const loginSlackMs = 120_000;

/** A coding agent of this machine, driven by what its kind says of it. */
export function createCliAgent(kind: CliKind, settings: AgentSettings): Agent {
  const installed = new InstalledCli(kind, settings.path);
  return {
    name: kind.name,
    takesSkill: true,
    skillMounts: kind.skillMounts,
    takesMcp: true,
    speaks: kind.speaks,
    needs: async () => needs(kind, settings, installed),
    version: () => installed.version(),
    preflight: () => cliPreflight(kind, settings, installed),
    run: (run) => perform(kind, settings, installed, run),
  };
}

function needs(kind: CliKind, settings: AgentSettings, installed: InstalledCli): AgentNeeds {
  const network = settings.login === 'subscription';
  const program = installed.find();
  if (program === null) return { show: [], path: [], network };
  const others = kind.alsoNeeds.flatMap(({ program: name }) => findProgram(name, settings.path) ?? []);
  const { show, path } = needsOf(program, others, hostHome(settings));
  return { show: network ? [...show, ...wayOut(settings.variables).show] : show, path, network };
}

const hostHome = ({ variables }: AgentSettings): string => variables.HOME ?? homedir();

async function perform(
  kind: CliKind,
  settings: AgentSettings,
  installed: InstalledCli,
  run: AgentRun,
): Promise<AgentEnd> {
  await installed.demandSame();
  const { words } = installed.demand();
  const login = run.model === null ? await loginFor(kind, settings, run) : null;
  const out = login === null ? {} : wayOut(settings.variables).env;
  const seat = seatOf(kind, settings, run);
  const { args, env, homeFiles } = kind.launch(seat);
  await writeHomeFiles(run.host.home, { ...homeFiles, ...login?.homeFiles });
  const stdoutFile = join(run.host.logDir, `${kind.name}.stdout.jsonl`);
  const stderrFile = join(run.host.logDir, `${kind.name}.stderr.txt`);
  const end = await run.run([...words, ...args], {
    env: { ...out, ...env, ...login?.env },
    stdin: promptOf(run.instruction),
    stdoutFile,
    stderrFile,
  });
  const [stdout, stderr] = await Promise.all([stdoutFile, stderrFile].map((file) => outputOf(file, login)));
  const output = { stdout: stdout ?? '', stderr: stderr ?? '', skillName: seat.skillName };
  const reading = kind.parse(output);
  const ownPath = taskPath(run.task.env.environment);
  return endOf({
    kind,
    instruction: run.instruction,
    end: end.cause === 'not-started' ? { ...end, detail: whyNotStarted(kind.program, end, ownPath) } : end,
    reading: login === null ? reading : withWindow(reading, saidNow(run.env)),
    stderr: output.stderr,
    logIn: login?.logIn ?? null,
    model: run.model?.id ?? seat.modelName,
  });
}

/**
 * The instruction as an agent is given it. Agents take a text that begins with a slash for a command of their own: one
 * that begins with a path would be answered by the agent, or come without its skills.
 */
function promptOf(instruction: string): string {
  return instruction.trimStart().startsWith('/') ? `Task:\n\n${instruction}` : instruction;
}

/** Throws `auth` with the fix where there is none. */
async function loginFor(kind: CliKind, settings: AgentSettings, run: AgentRun): Promise<CliLogin> {
  const where = `agent ${kind.name}`;
  if (settings.login === 'key')
    throw fail('config', `${kind.name} is given no model`, where, 'add "model": "provider/model"');
  if (kind.login === null)
    throw fail('auth', `${kind.name} has no login that a rollout could be given`, where, 'set "login": "key"');
  const keys = keysBeside(kind.name, Object.keys(run.env));
  if (keys.length > 0) throw new SkilloptError(besideFailure(kind.name, keys, 'the variables of the rollout'));
  const login = await kind.login({
    hostHome: hostHome(settings),
    variables: settings.variables,
    model: settings.modelId,
    outlivesMs: run.timeoutMs + loginSlackMs,
    nowMs: Date.now(),
  });
  for (const secret of login.secrets) settings.onSecret?.(secret);
  return login;
}

function seatOf(kind: CliKind, settings: AgentSettings, run: AgentRun): CliSeat {
  const { model } = run;
  const unwalled = run.home === run.host.home;
  return {
    workspace: run.workspace,
    home: run.home,
    temp: run.env.TMPDIR ?? '/tmp',
    logDir: run.logDir,
    skillName: run.skillDir === null ? null : basename(run.skillDir),
    model,
    protocol: model === null ? null : (kind.speaks.find((p) => model.protocols.includes(p)) ?? null),
    modelName: model === null ? settings.modelName : null,
    modelId: model === null ? settings.modelId : null,
    maxTurns: settings.limits.requests,
    // the gateway counts by the price of the model, which the agent only guesses at
    maxUsd: model === null ? settings.limits.usd : null,
    timeoutMs: run.timeoutMs,
    asRoot: unwalled && process.getuid?.() === 0,
    mcp: Object.fromEntries(Object.entries(settings.mcp).map(([name, server]) => [name, launchOf(server)])),
  };
}

function launchOf(server: McpServer): McpLaunch {
  return 'url' in server
    ? { kind: 'http', url: server.url }
    : { kind: 'stdio', command: server.command, env: server.env };
}

/** What a process wrote; nothing of a login stands in it, nor in the file any more. */
async function outputOf(file: string, login: CliLogin | null): Promise<string> {
  const text = await readOutput(file);
  const clean = (login?.secrets ?? []).reduce(
    (said, secret) => (secret === '' ? said : said.replaceAll(secret, '[redacted: login]')),
    text,
  );
  if (clean !== text) await replaceOutput(file, clean);
  return clean;
}
