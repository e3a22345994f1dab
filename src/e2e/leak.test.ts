import { afterAll, expect, test } from 'bun:test';
import { Place, removePlaces } from './binary.ts';
import { OwnSession, rehearsal, seedSkill, splits, writeFiles } from './own-pack.ts';

afterAll(removePlaces);

test('an edit that carries what a task knows ends as a leak, costs no rollout, and the others go on', async () => {
  const own = new OwnSession(new Place(), { config: { search: { draftSize: 2, dryRounds: 12, memory: true } } });
  const [stamp, sign] = rehearsal.edits;
  const secret = 'Grünspan-7719-K';
  writeFiles(own.place.path('pack'), { [`${splits.selection[0]}/tests/expected/code.txt`]: `${secret}\n` });
  writeFiles(own.place.path('pack'), {
    [`${splits.test[0]}/solution/solve.sh`]: `echo "${secret.replace('7', '8')}"\n`,
  });
  const leaks = [
    `As in ${splits.test[0]}.`,
    `Compare with ${own.place.path('pack')}/x.`,
    'Look at /logs/verifier first.',
    secret.replace('7', '8'),
    secret,
  ];
  const edits = [...leaks.map((leak) => ({ ...stamp!, content: `${stamp!.content}\n- ${leak}` })), sign!, stamp!];
  writeFiles(own.place.dir, { 'session/rehearsal.json': JSON.stringify({ version: 1, edits }) });
  const before = own.sources;

  await own.succeed(['run', 'session', '--finalize']);
  const events = own.place.events('session');
  const found = events.filter((e) => e.type === 'edit.rejected' && e.reason === 'leak').map((e) => e.detail);
  expect([...new Set(found)].toSorted()).toEqual([
    'line 2 of the content holds a value that a task expects as its answer: say how it is found',
    'line 2 of the content names a place where tasks are kept or checked: leave it out, the agent has no use for it',
    'line 2 of the content names a task: say which kind of task is meant',
    'line 2 of the content quotes the solution of a single task: say what would help with others too',
  ]);
  const texts = events.filter((e) => e.type === 'skill.added').map((e) => String(e.text));
  for (const leak of leaks) expect(texts.filter((text) => text.includes(leak))).toEqual([]);
  const best = own.place.read('session/best_skill.md');
  expect(best).toContain(stamp!.content);
  expect(best).toContain(sign!.content);
  expect(best.length).toBeGreaterThan(seedSkill.length);
  expect(own.sources).toBe(before);
  await own.succeed(['verify', 'session']);
});
