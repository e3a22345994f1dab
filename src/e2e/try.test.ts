import { afterAll, describe, expect, test } from 'bun:test';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { refusal } from './model-server.ts';
import { writeFiles } from './own-pack.ts';
import { lines, QuizSession, seedSkill, target } from './quiz.ts';

afterAll(removePlaces);

/** A session that has measured its seed, and stopped because its optimizer refused; the optimizer offers nothing. */
async function measured(): Promise<QuizSession> {
  const nothing = '{"summary": "Nothing helps.", "edits": []}';
  const own = new QuizSession({
    play: (q) => (q.model === 'target' ? target(q) : { text: nothing }),
    config: { reflection: { form: 'one-shot' } },
  });
  own.server.trouble = (q) => (q.model === 'optimizer' ? refusal(401, 'authentication_error', 'no') : null);
  expect((await own.run(['run', 'session'])).code).toBe(4);
  own.server.trouble = () => null;
  return own;
}

const write = (own: QuizSession, text: string) => writeFiles(own.place.dir, { 'mine.md': text });

describe.concurrent('skillopt try', () => {
  test('an edit by hand goes through the same gate, and stands in the log as an input', async () => {
    const own = await measured();
    write(own, `${seedSkill}${lines.form}\n`);
    const end = await own.succeed(['try', 'mine.md', 'session', '--reason', 'the form was not said']);
    expect(end.stdout).toMatch(/^your edit {3}“.*” · accepted: step 1$/m);
    const [input] = own.events.filter((e) => e.type === 'input.received');
    expect(input).toMatchObject({ input: { kind: 'edit', edit: { reason: 'the form was not said', cites: [] } } });
    expect(own.place.read('session', 'best_skill.md')).toContain(lines.form);
    expect(own.events.filter((e) => e.type === 'gate.decided')).toMatchObject([
      { gateAction: 'accept', edits: [expect.any(String)] },
    ]);
    expect(own.events.some((e) => e.type === 'session.ended')).toBe(false); // it stopped there
    await own.succeed(['verify', 'session']);
    expect(jsonOf(await own.succeed(['run', 'session', '--json', '--yes']))).toMatchObject({ result: 'improved' });
    await own.succeed(['verify', 'session']);
  });

  test('one that helps nothing is refused, and one that cites a failing task is tried on it first', async () => {
    const own = await measured();
    write(own, `${seedSkill}Be polite.\n`);
    const gated = jsonOf(await own.succeed(['try', 'mine.md', 'session', '--json']));
    expect(gated).toMatchObject({ tried: [{ fate: expect.stringMatching(/in-draft|refused/) }] });
    expect(own.events.filter((e) => e.type === 'gate.decided')).toMatchObject([{ gateAction: 'reject' }]);
    write(own, `${seedSkill}Be brief.\n`);
    const cited = jsonOf(await own.succeed(['try', 'mine.md', 'session', '--cites', 'sum-ada', '--json']));
    expect(cited).toMatchObject({
      tried: [{ edit: { cites: ['sum-ada'] }, fate: 'dropped', why: 'sum-ada still fails' }],
    });
    await own.succeed(['verify', 'session']);
  });

  test('an editor that changes line ends, or adds a mark or blanks, changes nothing else', async () => {
    const own = await measured();
    const foreign = (text: string) => `\uFEFF${text.replaceAll('\n', '  \r\n')}`;
    write(own, foreign(`${seedSkill}${lines.form}\n`));
    const first = jsonOf(await own.succeed(['try', 'mine.md', 'session', '--json']));
    expect(first).toMatchObject({ tried: [{ fate: 'accepted' }] });
    const best = own.place.read('session', 'best_skill.md');
    expect(best).not.toContain('\r');
    write(own, foreign(best));
    const same = await own.run(['try', 'mine.md', 'session']);
    expectFailure(same, { code: 2, what: /^the file is the same as /, where: /mine\.md$/, fix: /^edit it/ });
    write(own, foreign(`${best}${lines.base}\n`)); // nearest to the best one, not to the seed
    const second = jsonOf(await own.succeed(['try', 'mine.md', 'session', '--json']));
    expect(second.tried).toHaveLength(1);
    expect(JSON.stringify(second.tried)).not.toContain('does not occur');
    await own.succeed(['verify', 'session']);
  });

  test('with --go-on the search goes on to its end', async () => {
    const own = await measured();
    write(own, `${seedSkill}${lines.form}\n`);
    const end = jsonOf(await own.succeed(['try', 'mine.md', 'session', '--go-on', '--json']));
    expect(end).toMatchObject({ result: 'improved', tried: [{ fate: 'accepted' }] });
  });

  test('what can’t be tried is refused before anything is spent', async () => {
    const own = await measured();
    const asked = own.server.asked.length;
    const refused = async (args: readonly string[], code: number, what: RegExp) =>
      expectFailure(await own.run(['try', ...args]), { code, what, where: /./, fix: /./ });
    await refused(['none.md', 'session'], 2, /there is no such file/);
    write(own, seedSkill);
    await refused(['mine.md', 'session'], 2, /the same as/);
    await refused(['mine.md', 'session', '--cites', 'sum-kim'], 2, /sum-kim is no train task/);
    await refused(['mine.md', 'pack'], 2, /there is no session here/);
    write(own, seedSkill.replace('short questions', 'all'));
    await refused(['mine.md', 'session'], 3, /the frontmatter differs/);
    write(own, 'no frontmatter');
    await refused(['mine.md', 'session'], 3, /no frontmatter/);
    expect(own.server.asked.length).toBe(asked);
    await own.succeed(['run', 'session', '--yes']);
    write(own, `${seedSkill}${lines.form}\n`);
    await refused(['mine.md', 'session'], 2, /the search has ended/);
  });
});
