import type { ModelRequest } from '../../ports/model.ts';
import type { RolloutRequest } from '../../ports/rollouts.ts';
import type { PromptFile, PromptTask } from '../../ports/task.ts';
import { drawOf } from '../draw.ts';

/** What the model is asked: the task's system text and the skill as system text, prompt and files as the one message. */
export function chatRequest(request: RolloutRequest<PromptTask>): ModelRequest {
  const { task, skill } = request;
  const system = [task.system, ...(skill === null ? [] : [skillText(skill.name, skill.text)])];
  return {
    system: system.filter((part) => part !== '').join('\n\n'),
    messages: [{ role: 'user', parts: [{ kind: 'text', text: userText(task) }] }],
    tools: [],
    mustCall: null,
    maxOutputTokens: null,
    draw: drawOf(request),
  };
}

/** The skill, word for word with its frontmatter, between two lines that do not occur in it. */
function skillText(name: string, text: string): string {
  const border = '='.repeat(longestRun(text, '=') + 1);
  const end = text.endsWith('\n') ? '' : '\n';
  return `You have a skill named ${name}. It stands between the two lines of ${border}; follow it where it fits the task.\n${border}\n${text}${end}${border}`;
}

/** The prompt, and each file in a fence that is longer than any inside. */
export function userText(task: Pick<PromptTask, 'instruction' | 'files'>): string {
  return [task.instruction, ...task.files.map(shownFile)].join('\n\n');
}

function shownFile({ name, text }: PromptFile): string {
  const fence = '`'.repeat(longestRun(text, '`') + 1);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `File ${name}:\n${fence}\n${text}${end}${fence}`;
}

/** Length of the longest run of a sign; at least 2. */
function longestRun(text: string, sign: string): number {
  let longest = 2;
  for (const [run] of text.matchAll(new RegExp(`${RegExp.escape(sign)}+`, 'g')))
    longest = Math.max(longest, run.length);
  return longest;
}
