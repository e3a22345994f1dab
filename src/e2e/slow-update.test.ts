import { afterAll, expect, test } from 'bun:test';
import { GUIDANCE_BEGIN, GUIDANCE_END } from '../skill/guidance.ts';
import { jsonOf, removePlaces } from './binary.ts';
import type { Question, Said } from './model-server.ts';
import { lines, optimizer, promptOf, QuizSession, seedSkill, splits, target } from './quiz.ts';

afterAll(removePlaces);

const isSlow = (q: Question) => q.system.includes('you write the guidance');

/** Readers of failures find the form alone; that numbers want a prefix is seen only from all that was tried. */
function play(question: Question): Said {
  if (question.model === 'target') return target(question);
  if (isSlow(question)) return { text: JSON.stringify({ summary: 'Prefixes were missing.', guidance: lines.base }) };
  const { text = '' } = optimizer(question);
  const { edits } = JSON.parse(text.slice(text.indexOf('{'))) as { edits: readonly { content: string }[] };
  return { text: JSON.stringify({ summary: 'Seen.', edits: edits.filter((e) => e.content !== lines.base) }) };
}

test('guidance is distilled at the end of an epoch, meets the incumbent at a gate of its own, and is part of the result', async () => {
  const own = new QuizSession({
    model: { tools: false },
    config: { slowUpdate: true, reflection: { readers: 2 } },
    play,
  });
  const run = await own.succeed(['run', 'session']);
  expect(run.stdout).toMatch(/^step 1 .*\n +ACCEPT · selection 3\/6 against 0\/6/m);
  expect(run.stdout).toMatch(/^step 2 +slow update · gate 3–0 .*\n +ACCEPT · selection 6\/6 against 3\/6/m);
  expect(run.stdout).toMatch(/^confirmed +improved, 6 of 6 pairs: selection 6\/6 against the seed’s 0\/6/m);
  const best = `${seedSkill}${lines.form}\n\n${GUIDANCE_BEGIN}\n${lines.base}\n${GUIDANCE_END}\n`;
  expect(own.place.read('session/best_skill.md')).toBe(best);
  expect(own.place.read('session/skillopt.md')).toMatch(/^\| 2 \| {2}\| slow update \| 3–0 /m);
  expect(own.place.read('session/skillopt.snapshots/skill_v0002.md')).toBe(best);

  // two readers share the failures of a round, so that no task is shown twice
  const readers = own.asked('optimizer').filter((q) => !isSlow(q));
  const shown = (q: Question | undefined) =>
    splits.train.filter((id) => q?.turns[0]?.text.includes(`Failing task ${id}`));
  const [first, second] = readers;
  expect([...shown(first), ...shown(second)].sort()).toEqual([...splits.train].sort());
  expect([shown(first).length, shown(second).length]).toEqual([2, 2]);

  // what the guidance is distilled from: what was tried, and nothing of a task
  const slow = own.asked('optimizer').filter(isSlow);
  expect(slow.length).toBeGreaterThan(0);
  const sent = JSON.stringify(slow.map((q) => [q.system, q.turns]));
  expect(sent).toContain(JSON.stringify(lines.form).slice(1, -1));
  for (const id of Object.values(splits).flat()) expect(sent).not.toContain(promptOf(id));

  expect((await own.succeed(['finalize', 'session'])).stdout).toMatch(/^result +sealed test: 4\/4 with the result/m);
  expect((await own.succeed(['verify', 'session'])).stdout).toMatch(/ through the sealed test$/m);
  const calls = own.asked('optimizer').length;
  expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({
    result: 'improved',
    accepted: 2,
    optimizer: { requests: calls },
  });
  // a finished session that is opened again asks nobody
  await own.succeed(['run', 'session']);
  expect(own.asked('optimizer').length).toBe(calls);
});
