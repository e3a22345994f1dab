import { hostEnvironment } from '../config/environment.ts';
import type { Finding } from '../ports/preflight.ts';
import { installedFindings } from '../rollout/agents/cli/cli-preflight.ts';
import { InstalledCli, installation } from '../rollout/agents/cli/installed-cli.ts';
import { cliKinds } from '../rollout/agents/cli/kinds.ts';
import { harborOnMachine } from '../rollout/harbor/machine.ts';
import { chooseSandbox, thisSandboxHost } from '../rollout/local/sandbox/choose.ts';
import type { CommandContext } from './context.ts';
import { type SessionLook, type SessionLookOptions, sessionFindings } from './doctor-session.ts';
import { exitCodes } from './exit-codes.ts';

export type DoctorOptions = SessionLookOptions;

/** What was looked at: a part of this machine, or the session. */
type Section = { readonly about: string; readonly findings: readonly Finding[] };

/** Prints what this machine has for rollouts and what a session would find here; errors fail the exit code. */
export async function doctor(dir: string, options: DoctorOptions, { io }: CommandContext): Promise<void> {
  const [machine, session] = await Promise.all([machineSections(), sessionFindings(dir, options)]);
  const sections = [
    ...machine,
    ...(session.findings === null ? [] : [{ about: 'session', findings: session.findings }]),
  ];
  const ok = sections.every(({ findings }) => findings.every(({ level }) => level !== 'error'));
  io.result({ ok, machine, session: session.findings === null ? null : session }, [
    ...sections.flatMap(lines),
    ...(session.findings === null ? [noSession(session)] : []),
    sum(sections),
  ]);
  if (!ok) process.exitCode = exitCodes.preflight;
}

async function machineSections(): Promise<readonly Section[]> {
  const env = hostEnvironment();
  const path = env.PATH ?? '/usr/bin:/bin';
  const [sandbox, agents, { docker, harbor }] = await Promise.all([
    sandboxFindings(path),
    agentsFound(path),
    harborOnMachine({ program: 'harbor', hostEnv: env }),
  ]);
  return [
    { about: 'sandbox', findings: sandbox },
    { about: 'agents', findings: agents },
    { about: 'docker', findings: docker },
    { about: 'harbor', findings: harbor },
  ].map(({ about, findings }) => ({ about, findings: findings.map(unneeded) }));
}

/** What a machine lacks is an error only for a session that needs it. */
function unneeded(finding: Finding): Finding {
  return finding.level === 'error' ? { ...finding, level: 'warning' } : finding;
}

async function sandboxFindings(path: string): Promise<readonly Finding[]> {
  const { instead, version, gaps } = await chooseSandbox({ kind: 'auto', host: thisSandboxHost(path) });
  const where = 'backend local';
  if (instead !== null) return [{ level: 'warning', what: instead.what, where, fix: instead.fix }];
  return [
    { level: 'ok', what: version, where, fix: '' },
    ...gaps.map(
      (gap): Finding => ({ level: 'warning', what: gap, where, fix: 'docs/sandbox.md says what each sandbox holds' }),
    ),
  ];
}

async function agentsFound(path: string): Promise<readonly Finding[]> {
  const all = cliKinds.map((kind) => ({ kind, installed: new InstalledCli(kind, path) }));
  const here = all.filter(({ installed }) => installed.find() !== null);
  const looked = await Promise.all(here.map(({ kind, installed }) => installedFindings(kind, { path }, installed)));
  const missing = all.filter(({ installed }) => installed.find() === null).map(({ kind }) => kind);
  const names = missing.map(({ name }) => name).join(', ');
  const [first] = missing;
  if (first === undefined) return looked.flat();
  const where = 'PATH';
  return here.length === 0
    ? [{ level: 'warning', what: `no coding agent is installed: ${names}`, where, fix: installation(first) }]
    : [...looked.flat(), { level: 'ok', what: `not installed: ${names}`, where, fix: '' }];
}

const label = (text: string) => text.padEnd(12);

function lines({ findings }: Section): readonly string[] {
  return findings.flatMap(({ level, what, where, fix }) => {
    const below = (text: string, mark: string) =>
      text === '' ? [] : text.split('\n').map((one, at) => `${label('')}${at === 0 ? mark : '  '}${one}`);
    const isShort = !where.includes('\n');
    return [
      `${label(level)}${what}${where !== '' && isShort ? ` (${where})` : ''}`,
      ...(isShort ? [] : below(where, '  ')),
      ...below(fix, '→ '),
    ];
  });
}

function noSession({ dir }: SessionLook): string {
  return `${label('no session')}${dir} has no skillopt.config.json: only this machine was looked at`;
}

function sum(sections: readonly Section[]): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: Finding['level']) => all.filter((finding) => finding.level === level).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const words = `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  return `${label(errors === 0 ? 'sound' : 'not sound')}${words}`;
}
