import { afterAll, describe, expect, test } from 'bun:test';
import { expectFailure, jsonOf, removePlaces, until } from './binary.ts';
import { refusal } from './model-server.ts';
import { hashOf, writeFiles } from './own-pack.ts';
import { performedAgain } from './sessions.ts';
import { bestDescription, body, optimizer, play, seedSkill, TidesSession, tasks } from './tides.ts';

afterAll(removePlaces);

type Splits = Readonly<Record<'train' | 'selection' | 'test', readonly { readonly id: string }[]>>;

const bestSkill = seedSkill.replace('Works with tide tables.', bestDescription);

describe('a better description', () => {
  test('wins at the gate and in the sealed test, and nothing else of the skill changes', async () => {
    const own = new TidesSession();
    const source = hashOf(own.place.path('pack'));
    const run = await own.succeed(['run', 'session']);
    expect(run.stdout).toMatch(/^session .* · description of the skill tides · 24 tasks of pack · chat, model /m);
    expect(run.stdout).toMatch(/^ +ACCEPT · selection 8\/8 against 2\/8/m);
    expect(run.stdout).toMatch(/^confirmed +improved, 8 of 8 pairs: selection 8\/8 against the seed’s 2\/8/m);
    expect(run.stdout).toMatch(/^optimizes +the description; the skill was opened in \d+ of \d+ rollouts/m);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect(bestSkill.endsWith(body)).toBe(true);

    const end = await own.succeed(['finalize', 'session', '--apply']);
    expect(end.stdout).toMatch(/opened: seed and result, interleaved/);
    expect(end.stdout).toMatch(/^result +sealed test: 8\/8 with the result, 2\/8 with the seed \(opened once/m);
    expect(end.stdout).toMatch(
      /^optimizes +the description; missed 0 of 4 \(the seed 4 of 4\), opened in vain 0 of 4 \(the seed 2 of 4\)$/m,
    );
    expect(own.place.read('tides/SKILL.md')).toBe(bestSkill);
    const verified = await own.succeed(['verify', 'session']);
    expect(verified.stdout).toMatch(/^verified +session: \d+ decisions .* through the sealed test$/m);
    const document = own.place.read('session/skillopt.md');
    expect(document).toContain('Make the description of `tides`');
    expect(document).toMatch(/skill opened in \d+ of \d+/);
    expect(document).not.toContain('no-skill');
    expect(document).toContain('The result missed 0 of 4 (the seed 4 of 4), opened in vain 0 of 4 (the seed 2 of 4).');
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ optimizes: 'description' });
    expect(hashOf(own.place.path('pack'))).toBe(source);

    // the model that is asked sees descriptions alone, and in each split there are prompts of both kinds
    for (const q of own.asked('target')) expect(q.system).not.toContain('almanac');
    const splits = own.place.events('session').find((e) => e.type === 'splits.fixed') as unknown as Splits;
    for (const name of ['train', 'selection', 'test'] as const) {
      const ids = splits[name].map((t) => t.id);
      expect(ids.filter((id) => tasks.find((t) => t.id === id)?.should_trigger)).toHaveLength(4);
      expect(ids).toHaveLength(8);
    }
    const shown = JSON.stringify(own.asked('optimizer').map((q) => [q.system, q.turns]));
    const train = splits.train.map((t) => t.id);
    for (const task of tasks) if (!train.includes(task.id)) expect(shown).not.toContain(task.prompt);
    expect(shown).toContain('Missed: ');
    expect(shown).toContain('It would open none.');
  });

  test('goes on after it was killed, and pays for nothing twice', async () => {
    const own = new TidesSession();
    const held = Promise.withResolvers<null>();
    own.server.trouble = ({ model }) => (model === 'target' && own.asked('optimizer').length > 0 ? held.promise : null);
    const running = own.start(['run', 'session']);
    await until('an edit is tried', () => own.asked('optimizer').length > 0 && own.asked('target').length > 16);
    running.kill('SIGKILL');
    await running.ended;
    own.server.trouble = () => null;
    held.resolve(null);
    const end = await own.succeed(['run', 'session', '--yes']);
    expect(end.stdout).toMatch(/^confirmed +improved/m);
    expect(performedAgain(own.place.events('session'))).toEqual([]);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    await own.succeed(['verify', 'session']);
  });

  test('an edit that quotes a prompt, and one of the body, are refused before a rollout is paid', async () => {
    const own = new TidesSession({
      play: (question) => {
        if (question.model === 'target') return play(question);
        const wrong = question.turns[0]?.text ?? '';
        const [, cited = ''] = /^(water-\w+): /m.exec(wrong) ?? [];
        const prompt = tasks.find((t) => t.id === cited)?.prompt ?? '';
        const edit = (op: string, target: string, content: string) => ({
          op,
          target,
          content,
          cites: [cited],
          reason: 'r',
        });
        const bad = [
          edit('append', '', `Use it for: ${prompt}`),
          edit('replace', 'Look the port up', 'Ask for the water'),
        ];
        const good = JSON.parse(optimizer(question).text ?? '') as { edits: object[] };
        return { text: JSON.stringify({ summary: 's', edits: cited === '' ? good.edits : bad }) };
      },
    });
    const run = await own.run(['run', 'session', '--budget', '60']);
    expect(run.code).toBe(0);
    const rejected = own.place.events('session').filter((e) => e.type === 'edit.rejected');
    expect(rejected.some((e) => e.reason === 'leak')).toBe(true);
    expect(rejected.some((e) => e.reason === 'target-missing' && /elsewhere in the file/.test(String(e.detail)))).toBe(
      true,
    );
    const repair = JSON.stringify(own.asked('optimizer').map((q) => q.turns.slice(2)));
    expect(repair).toContain('A description names the kind of task');
    await own.succeed(['verify', 'session']);
  });
});

test('a description written by hand goes through the same gate; a file with another body is refused', async () => {
  const own = new TidesSession();
  own.server.trouble = ({ model }) => (model === 'optimizer' ? refusal(401, 'authentication_error', 'no') : null);
  expect((await own.run(['run', 'session'])).code).toBe(4);
  own.server.trouble = () => null;
  writeFiles(own.place.dir, { 'mine.md': `${bestSkill}And more.\n` });
  const trying = ['try', 'mine.md', 'session'];
  expectFailure(await own.run(trying), {
    code: 3,
    what: /^the body is locked/,
    where: /mine\.md$/,
    fix: /description/,
  });
  writeFiles(own.place.dir, { 'mine.md': bestSkill });
  expect((await own.succeed(trying)).stdout).toMatch(/^your edit {3}“.*” · accepted: step 1$/m);
  expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
  await own.succeed(['verify', 'session']);
});

describe('refused before anything is spent', () => {
  const few = (keep: (task: (typeof tasks)[number]) => boolean) => ({ version: 1, tasks: tasks.filter(keep) });

  test.each([
    [
      'no prompt that it is not meant for',
      few((t) => t.should_trigger === true),
      /^no task with "should_trigger": false: /,
      /^add 3 or more prompts/,
    ],
    [
      'no prompt that it is meant for',
      few((t) => t.should_trigger === false),
      /^no task with "should_trigger": true: /,
      /^add 3 or more prompts/,
    ],
    [
      'tasks that don’t say',
      { version: 1, tasks: [...tasks, { id: 'mute', prompt: 'p', answer: 'a' }] },
      /^1 task does not say .*: mute$/,
      /^add "should_trigger": true or false/,
    ],
  ] as const)('%s', async (_name, pack, what, fix) => {
    const own = new TidesSession();
    own.bringPack(pack);
    expectFailure(await own.run(['run', 'session']), { code: 3, what, where: /^the pack$/, fix });
    expect(own.server.asked).toEqual([]);
  });

  test('a backend whose agents don’t show what they open', async () => {
    const own = new TidesSession();
    own.configure({ backend: 'local', agent: 'rehearsal', model: null, pack: 'example:hello-harbor' });
    expectFailure(await own.run(['run', 'session', '--allow-unsandboxed']), {
      code: 2,
      what: /^a description is optimized by what a model says .* not with the agent rehearsal on local/,
      where: /^optimize$/,
      fix: /"backend": "chat"/,
    });
  });

  test('another part in a session that has begun: that is a fork', async () => {
    const own = new TidesSession();
    await own.succeed(['run', 'session', '--budget', '40']);
    const asked = own.server.asked.length;
    own.configure({ optimize: 'body', budget: { rollouts: 40 } });
    expectFailure(await own.run(['run', 'session']), {
      code: 5,
      what: /optimize \(was "description", is "body"\)/,
      where: /skillopt\.config\.json$/,
      fix: /skillopt fork .*session`$/,
    });
    expect(own.server.asked).toHaveLength(asked);
  });
});

test('the bundled example is a session of its own kind, and its prompts are both kinds in equal parts', async () => {
  const own = new TidesSession({ play: (q) => (q.model === 'target' ? { text: 'none' } : optimizer(q)) });
  own.configure({ skill: 'example:release-notes', pack: 'example:release-notes', seed: '1', budget: { rollouts: 34 } });
  const end = await own.succeed(['run', 'session']);
  expect(end.stdout).toMatch(/description of the skill release-notes · 24 tasks of release-notes/);
  expect(end.stdout).toMatch(/^baseline +selection 4\/8 .*\n.*\n?baseline +train +4\/8/m);
  for (const { system } of own.asked('target')) expect(system).toContain('- release-notes: Helps with releases.');
});
