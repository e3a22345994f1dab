import type { TrajectoryStep } from '../../ports/trajectory.ts';
import { noUsage } from '../../ports/usage.ts';
import type { ProcessEnd } from '../../process/process-end.ts';
import { taskPath, whyNotStarted } from '../why-not-started.ts';
import type { Agent, AgentEnd, AgentRun } from './agent.ts';

/** One line of a skill that the rehearsal agent can follow. */
export type SkillLine = { readonly phrase: string; readonly command: string };

/**
 * The lines of a SKILL.md that the rehearsal agent follows, in document order. Their form, as a list item:
 *
 *     - When the task says "PHRASE", run `COMMAND`. Any reason or advice may follow.
 *
 * An item may be wrapped; its further lines are indented. PHRASE holds no double quote, COMMAND no backtick. Lines
 * inside a fenced block are examples and are not followed. To a model such a line is plain advice.
 */
export function skillLines(text: string): readonly SkillLine[] {
  return listItems(text).flatMap((item) => {
    const [, phrase, command] = /^When the task says "([^"]+)", run `([^`]+)`/.exec(item) ?? [];
    return phrase === undefined || command === undefined ? [] : [{ phrase, command }];
  });
}

/** The instruction in sentences, each with single blanks: what the agent names when no line of the skill fits it. */
export function sentencesOf(instruction: string): readonly string[] {
  return instruction
    .split(/\r?\n[ \t]*\r?\n/)
    .flatMap((paragraph) => oneLine(paragraph).split(/(?<=[.!?]) /))
    .filter((sentence) => sentence !== '');
}

/**
 * An agent without a model. It reads the mounted SKILL.md and runs, in document order, the command of each line (see
 * `skillLines`) whose phrase occurs in the instruction, upper and lower case and line breaks apart; a command that
 * fails does not keep it from the next. At the end it names the sentences of the instruction that no line speaks of.
 * Without a skill it does nothing. It judges nothing: the task's verifier decides what its work was worth.
 * `delayMs` is waited before it starts, so that a rehearsal can be watched; it ends at once when the rollout does.
 */
export function createRehearsalAgent(options: { readonly delayMs?: number } = {}): Agent {
  const delayMs = options.delayMs ?? 0;
  return {
    name: 'rehearsal',
    takesSkill: true,
    proposes: false,
    skillMounts: [],
    version: async () => '1',
    preflight: async () => [{ level: 'ok', what: 'rehearsal: no model is called', where: 'agent rehearsal', fix: '' }],
    async run(run) {
      await pause(delayMs, run.signal);
      return perform(run);
    },
  };
}

async function perform(run: AgentRun): Promise<AgentEnd> {
  const steps: TrajectoryStep[] = [{ kind: 'message', role: 'user', text: run.instruction }];
  const end = (finalText: string, more: Partial<AgentEnd>): AgentEnd => ({
    exit: 'finished',
    trouble: null,
    steps: [...steps, { kind: 'message', role: 'agent', text: finalText }],
    finalText,
    usage: noUsage,
    read: null,
    didWork: true,
    ...more,
  });
  const stopped = (read: true | null) =>
    end('The time was up before the work was done.', { exit: 'timeout', read, didWork: steps.length > 1 });

  if (run.signal.aborted) return stopped(null);
  if (run.skillDir === null) return end('There is no skill to follow, so nothing was done.', { didWork: false });
  const file = `${run.skillDir}/SKILL.md`;
  const reading = await run.run(['cat', file]);
  if (reading.cause === 'timeout' || reading.cause === 'cancelled') return stopped(null);
  const notStarted = (program: string, command: ProcessEnd, read: true | null) => {
    const detail = whyNotStarted(program, command, taskPath(run.task.env.environment));
    return end(detail, { exit: 'crashed', trouble: { reason: 'environment', detail }, read, didWork: read === true });
  };
  if (reading.cause === 'not-started') return notStarted('cat', reading, null);
  if (reading.exitCode !== 0) {
    const detail = `${file} could not be read: ${reading.stderr.trim() || `exit code ${reading.exitCode}`}`;
    return end(detail, {
      exit: 'crashed',
      trouble: { reason: 'skill-not-visible', detail },
      read: false,
      didWork: false,
    });
  }
  steps.push({ kind: 'tool', name: 'read', input: 'SKILL.md', output: reading.stdout, exitCode: 0 });

  const speaksOf = (text: string, line: SkillLine) => folded(text).includes(folded(line.phrase));
  const lines = skillLines(reading.stdout).filter((line) => speaksOf(run.instruction, line));
  for (const { command } of lines) {
    if (run.signal.aborted) return stopped(true);
    const done = await run.run(['sh', '-c', command]);
    if (done.cause === 'not-started') return notStarted('sh', done, true);
    steps.push({
      kind: 'tool',
      name: 'sh',
      input: command,
      output: done.stdout + done.stderr,
      exitCode: done.exitCode,
    });
    if (done.cause === 'timeout' || done.cause === 'cancelled') return stopped(true);
  }
  const open = sentencesOf(run.instruction).filter((s) => !lines.some((line) => speaksOf(s, line)));
  return end(closingWords(lines.length, open), { read: true });
}

/** The last words of a rollout. The sentences without a line are what a failed rollout leaves to the optimizer. */
function closingWords(followed: number, open: readonly string[]): string {
  if (followed === 0) return ['No line of the skill speaks of this task:', ...open.map((s) => `- ${s}`)].join('\n');
  const done = `${followed === 1 ? 'One line' : `${followed} lines`} of the skill followed.`;
  return open.length === 0 ? done : [`${done} No line speaks of:`, ...open.map((s) => `- ${s}`)].join('\n');
}

/** The list items outside fenced blocks, each joined into one line without its marker. */
function listItems(text: string): readonly string[] {
  const items: string[] = [];
  let fence = '';
  let inItem = false;
  for (const line of text.split(/\r?\n/)) {
    const [, mark = ''] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== '') {
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence)) fence = '';
      inItem = false;
    } else if (fence === '') {
      const [, start] = /^[-*] +(.*)$/.exec(line) ?? [];
      if (start !== undefined) items.push(start.trimEnd());
      else if (inItem && /^[ \t]+\S/.test(line)) items.push(`${items.pop()} ${line.trim()}`);
      inItem = start !== undefined || (inItem && /^[ \t]+\S/.test(line));
    }
  }
  return items;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const folded = (text: string): string => oneLine(text).toLowerCase();

/** Resolves after the time, or as soon as the signal is aborted. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  if (durationMs <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal.addEventListener('abort', done);
  });
}
