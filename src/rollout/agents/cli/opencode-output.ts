import { addUsage, noUsage, type Usage, unknownUsage } from '../../../ports/usage.ts';
import type { CliOutput, CliReading, CliTrouble } from './cli-kind.ts';
import { amountOf, exitCodeOf, type Fields, fieldsOf, jsonEvents, sumOf, textOf } from './json-events.ts';
import { namesSkillFile, StepList } from './step-list.ts';
import { crashOf, oneLine, troubleOf } from './trouble.ts';

/**
 * What opencode's events (`run --format json`) and its log say. While it asks again and again it writes no event: then the
 * last error of the log is what kept it. An event comes when its part is done, so those of a step are put in order.
 */
export function readOpencode({ stdout, stderr, skillName }: CliOutput): CliReading {
  const events = jsonEvents(stdout);
  const list = new StepList();
  const spent: Usage[] = [];
  let texts: string[] = [];
  let read = false;
  let trouble: CliTrouble | null = null;
  let ended = false;
  for (const event of inOrder(events)) {
    const part = fieldsOf(event.part);
    switch (event.type) {
      case 'step_start':
        texts = [];
        break;
      case 'text':
        list.said(textOf(part.text));
        texts.push(textOf(part.text));
        break;
      case 'reasoning':
        list.thought(textOf(part.text));
        break;
      case 'tool_use':
        if (toolDone(list, part, skillName)) read = true;
        break;
      case 'step_finish':
        spent.push(spentIn(part));
        ended = part.reason !== 'tool-calls';
        if (!ended) texts = [];
        break;
      case 'error':
        trouble = troubleIn(fieldsOf(event.error), stderr);
        list.note(`Failed: ${trouble.detail}`);
        ended = true;
        break;
    }
  }
  const tellsSkill = skillName !== null && events.length > 0;
  return {
    steps: list.steps,
    finalText: texts.join('\n'),
    usage: spent.length === 0 ? unknownUsage : spent.reduce(addUsage, noUsage),
    visible: tellsSkill && read ? true : null,
    read: tellsSkill ? read : null,
    trouble: trouble ?? (ended ? null : lastInLog(stderr)) ?? (events.length === 0 ? crashOf(stderr) : null),
    ended,
  };
}

/** The events with those of each step by the time at which their parts began. */
function inOrder(events: readonly Fields[]): readonly Fields[] {
  const whole: Fields[] = [];
  let step: Fields[] = [];
  const close = () => {
    whole.push(...step.toSorted((a, b) => beganAt(a) - beganAt(b)));
    step = [];
  };
  for (const event of events) {
    const within = event.type === 'text' || event.type === 'reasoning' || event.type === 'tool_use';
    if (within) step.push(event);
    else {
      close();
      whole.push(event);
    }
  }
  close();
  return whole;
}

function beganAt(event: Fields): number {
  const part = fieldsOf(event.part);
  const time = fieldsOf(part.time ?? fieldsOf(part.state).time);
  return amountOf(time.start) ?? amountOf(event.timestamp) ?? 0;
}

/** Takes a finished call; true = it opened the skill. */
function toolDone(list: StepList, part: Fields, skillName: string | null): boolean {
  const state = fieldsOf(part.state);
  const id = textOf(part.callID);
  const failed = state.status !== 'completed';
  list.toolCalled(id, textOf(part.tool), state.input);
  const output = textOf(failed ? state.error : state.output);
  const step = list.toolDone(id, output, exitCodeOf(fieldsOf(state.metadata).exit));
  if (failed || skillName === null || step === null) return false;
  if (step.name === 'skill')
    return fieldsOf(state.input).name === skillName || output.includes(`/skills/${skillName}\n`);
  return (step.name === 'read' || step.name === 'bash') && namesSkillFile(step.input, skillName);
}

/** Tokens of one step: what was thought is a part of the answer, what came from and went to the cache one of the prompt. */
function spentIn(part: Fields): Usage {
  const tokens = fieldsOf(part.tokens);
  const cache = fieldsOf(tokens.cache);
  // zero is the price of a model whose price it does not know
  const costUsd = amountOf(part.cost) || null;
  return {
    inputTokens: sumOf(tokens.input, cache.read ?? 0, cache.write ?? 0),
    outputTokens: sumOf(tokens.output, tokens.reasoning ?? 0),
    costUsd,
    requests: 1,
  };
}

function troubleIn(error: Fields, stderr: string): CliTrouble {
  const data = fieldsOf(error.data);
  // an error of its own, which names a line of the log
  const logged = textOf(data.ref) === '' ? null : lastInLog(stderr);
  if (logged !== null) return logged;
  const message = textOf(data.message) || textOf(error.name);
  const status = amountOf(data.statusCode);
  if (error.name === 'ProviderAuthError') return { kind: 'auth', detail: oneLine(message) };
  if (error.name === 'ContextOverflowError') return { kind: 'limit', detail: oneLine(message) };
  return troubleOf(textOf(data.responseBody) || message, status);
}

/** Errors that its log names and its events don't. */
const namedInLog: Readonly<Record<string, CliTrouble['kind']>> = {
  ProviderModelNotFoundError: 'model-not-found',
  ProviderAuthError: 'auth',
  AI_LoadAPIKeyError: 'auth',
};

/** The last error of its log, where nothing better is known. */
function lastInLog(stderr: string): CliTrouble | null {
  const line = stderr.split('\n').findLast((l) => l.includes('level=ERROR'));
  const [, quoted] = / error(?:\.error)?=("(?:[^"\\]|\\.)*")/.exec(line ?? '') ?? [];
  const said = quoted === undefined ? '' : unquoted(quoted);
  if (said === '') return null;
  const [, name = '', words = said] = /^(\w*Error): (.*)$/s.exec(said) ?? [];
  const kind = Object.hasOwn(namedInLog, name) ? namedInLog[name] : undefined;
  return { kind: kind ?? 'provider', detail: oneLine(words) };
}

function unquoted(text: string): string {
  try {
    return textOf(JSON.parse(text));
  } catch {
    return '';
  }
}
