import { sha256 } from '../../ports/hash.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { RolloutRequest } from '../../ports/rollouts.ts';
import type { ListedSkill, PromptTask } from '../../ports/task.ts';
import { oneParagraph } from '../../skill/description.ts';
import { readSkill } from '../../skill/document.ts';
import { userText } from '../chat/chat-request.ts';
import { drawOf } from '../draw.ts';
import { ordinarySkills } from './ordinary-skills.ts';

/** A name as it is compared: how it is written in detail is no difference to who reads it. */
export function sameName(a: string, b: string): boolean {
  const plain = (name: string) =>
    name
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\s_]+/g, '-');
  return plain(a) === plain(b);
}

/**
 * The skills that a model is shown, the one under test among others, each with its description. Their order follows from
 * the task and their names, so that it is the same for every description and the skill does not stand in one place.
 */
export function listedSkills(request: RolloutRequest<PromptTask>): readonly ListedSkill[] {
  const { task, skill } = request;
  const others = task.otherSkills ?? ordinarySkills;
  const own = skill === null ? [] : [{ name: skill.name, description: readSkill(skill.text).description }];
  const all = [...own, ...others.filter(({ name }) => own.every((one) => !sameName(one.name, name)))];
  const place = ({ name }: ListedSkill) => sha256(JSON.stringify(['order@1', task.hash, name]));
  return all
    .map((one) => ({ one, at: place(one) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ one }) => ({ name: one.name, description: oneParagraph(one.description) }));
}

const before = `You are an assistant with skills. A skill is a folder of instructions for one kind of work. You see the name and the description of each; the instructions themselves only when you open it. Before you begin with a task you open the skill whose description says that it is meant for such a task. For many tasks there is none, and you open none.`;

const after = `For the task that you are given, say which skill you would open. Don't do the task itself. Answer with the name of that one skill and nothing else, or with the word none.`;

const question = `Which skill do you open before you begin with this? Answer with its name alone, or with none.`;

/** What a model is asked where the description is measured: what it would open, shown what agents show. */
export function triggerRequest(request: RolloutRequest<PromptTask>, listed: readonly ListedSkill[]): ModelRequest {
  const { task } = request;
  const list = listed.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  const system = [task.system, before, `Your skills:\n${list}`, after].filter((part) => part !== '');
  return {
    system: system.join('\n\n'),
    messages: [{ role: 'user', parts: [{ kind: 'text', text: `${userText(task)}\n\n---\n${question}` }] }],
    tools: [],
    mustCall: null,
    maxOutputTokens: null,
    draw: drawOf(request),
  };
}
