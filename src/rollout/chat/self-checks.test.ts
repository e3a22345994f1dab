import { describe, test } from 'bun:test';
import type { PromptTask } from '../../ports/task.ts';
import { type CommonBench, commonSelfChecks, type Wish } from '../self-checks-common.ts';
import {
  command,
  equals,
  makeChatBench,
  modelError,
  mounted,
  playedModel,
  promptTask,
  untilAborted,
} from './chat-fixture.ts';

const tasks: Readonly<Record<Wish, Partial<PromptTask>>> = {
  pass: { checks: [equals('ok'), command(['true'])] },
  fail: { checks: [equals('no')] },
  half: { checks: [equals('ok'), equals('no')] },
  broken: { instruction: 'break' },
  'endless-agent': { instruction: 'wait' },
  'endless-verifier': { checks: [command(['sh', '-c', 'trap "" TERM; setsid sleep 300 >/dev/null 2>&1 & sleep 300'])] },
};

/** The bench's model answers `ok`, waits for ever, or breaks, as its prompt says. */
async function makeBench(): Promise<CommonBench> {
  const model = playedModel((request, { signal }) => {
    const [part] = request.messages[0]?.parts ?? [];
    const asked = part?.kind === 'text' ? part.text : '';
    if (asked === 'wait') return untilAborted(signal);
    return asked === 'break' ? Promise.reject(modelError('overloaded')) : 'ok';
  });
  const bench = makeChatBench(model);
  return {
    ...bench,
    task: async (wish) => promptTask({ id: wish, ...tasks[wish] }),
    skill: async (text) => mounted(text),
  };
}

describe('the chat backend does what every backend does', () => {
  for (const { name, check } of commonSelfChecks(makeBench)) test(name, check);
});
