import { homedir } from 'node:os';
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { AgentPlaceholder, CustomAgent } from '../../../config/agent.ts';
import { filled, placeholdersIn } from '../../../config/placeholders.ts';
import { fail } from '../../../ports/failure.ts';
import type { ExitCause } from '../../../ports/outcome.ts';
import type { TrajectoryStep } from '../../../ports/trajectory.ts';
import { unknownUsage } from '../../../ports/usage.ts';
import { startOfTail, wordRoom } from '../../../process/half-words.ts';
import type { ProcessEnd } from '../../../process/process-end.ts';
import { taskPath, whyNotStarted } from '../../why-not-started.ts';
import type { Agent, AgentEnd, AgentRun, SkillMount } from '../agent.ts';
import { writeHomeFiles } from '../cli/home-files.ts';
import type { AgentSettings } from '../settings.ts';
import { needsOfCustom } from './needs.ts';
import { customPreflight, missingProgram, versionOfCustom } from './preflight.ts';
import { filesNamed, programOf } from './program.ts';

/** Name of the file that holds the instruction, below the home. */
const INSTRUCTION = 'instruction.md';

/** Characters of the end of its output that are taken for the agent's last words. */
const LAST_WORDS = 4_000;

/**
 * An agent that the config describes: a command that gets the instruction, works in the workspace, and ends. It tells
 * nothing about itself in any form that is known here; spend and reading come from the gateway, where it calls its model
 * through it.
 */
export function createCustomAgent(config: CustomAgent, settings: AgentSettings): Agent {
  const { name, protocol, skills, command } = config;
  const find = () => programOf(command[0] ?? '', settings.path);
  return {
    name,
    takesSkill: true,
    skillMounts: skills === null ? [] : [mountOf(skills)],
    ...(protocol === null ? {} : { speaks: [protocol] }),
    async needs() {
      const program = find();
      if (program === null) return { show: [], path: [], network: false };
      const home = settings.variables.HOME ?? homedir();
      return { ...needsOfCustom(program, filesNamed(command), home), network: false };
    },
    version: () => versionOfCustom(config, settings),
    preflight: () => customPreflight(config, settings),
    async run(run) {
      const program = find();
      if (program === null) throw missingProgram(config);
      if (protocol !== null && run.model === null)
        throw fail('config', `${name} is given no model`, `agent ${name}`, 'add "model": "provider/model"');
      return perform(config, program.path, run);
    },
  };
}

/** Where a config says that skills are looked for. */
function mountOf(place: string): SkillMount {
  const path = place.replace(/^~\//, '').replace(/\/$/, '');
  return { base: place.startsWith('~/') ? 'home' : 'workspace', path };
}

async function perform(config: CustomAgent, program: string, run: AgentRun): Promise<AgentEnd> {
  const values = valuesOf(config, run);
  const fill = (text: string) => filled(text, values);
  const fillAll = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]));
  const byFile = [...config.command, ...Object.values(config.env), ...Object.values(config.files)].some((text) =>
    placeholdersIn(text).includes('instruction_file'),
  );
  await writeHomeFiles(run.host.home, {
    ...fillAll(config.files),
    ...(byFile ? { [INSTRUCTION]: run.instruction } : {}),
  });
  const end = await run.run([program, ...config.command.slice(1).map(fill)], {
    env: fillAll(config.env),
    ...(byFile ? {} : { stdin: run.instruction }),
  });
  return endOf(config, run, end);
}

function valuesOf({ skills }: CustomAgent, run: AgentRun): Readonly<Record<AgentPlaceholder, string>> {
  const { model, workspace, home, skillDir } = run;
  return {
    workspace,
    home,
    instruction_file: `${home}/${INSTRUCTION}`,
    skill_dir: skillDir === null ? '' : skills === null ? skillDir : mountedAt(mountOf(skills), run, skillDir),
    model: model?.name ?? '',
    base_url: model?.baseUrl ?? '',
    key: model?.key ?? '',
  };
}

/** The skill's folder where the agent looks for it. */
function mountedAt({ base, path }: SkillMount, { home, workspace }: AgentRun, skillDir: string): string {
  return `${base === 'home' ? home : workspace}/${path}/${basename(skillDir)}`;
}

/** What a run amounts to: its process alone says how it ended. */
function endOf({ name }: CustomAgent, run: AgentRun, end: ProcessEnd): AgentEnd {
  const [stdout, stderr] = [end.stdout, end.stderr].map((text) => stripVTControlCharacters(text).trim());
  const steps: TrajectoryStep[] = [{ kind: 'message', role: 'user', text: run.instruction }];
  if (stdout) steps.push({ kind: 'message', role: 'agent', text: stdout });
  if (stderr) steps.push({ kind: 'note', text: `It wrote to stderr:\n${stderr}` });
  if (end.signal !== null && end.cause === 'signal')
    steps.push({ kind: 'note', text: `It was ended by ${end.signal}.` });
  const detail = whyNotStarted(name, end, taskPath(run.task.env.environment));
  return {
    exit: exitOf(end),
    trouble: end.cause === 'not-started' ? { reason: 'agent-setup', detail } : null,
    steps,
    finalText: lastWords(stdout ?? ''),
    usage: unknownUsage,
    read: null,
    didWork: `${stdout}${stderr}` !== '',
  };
}

function exitOf({ cause, exitCode }: ProcessEnd): ExitCause {
  switch (cause) {
    case 'exited':
      return exitCode === 0 ? 'finished' : 'nonzero';
    case 'signal':
      return 'nonzero';
    case 'timeout':
    case 'cancelled':
      return 'timeout';
    case 'not-started':
      return 'not-started';
    default:
      return cause satisfies never;
  }
}

function lastWords(text: string): string {
  if (text.length <= LAST_WORDS) return text;
  return `…${text.slice(startOfTail(text, text.length - LAST_WORDS, wordRoom(LAST_WORDS)))}`.toWellFormed();
}
