import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { RolloutRequest } from '../../ports/rollouts.ts';
import type { PromptTask } from '../../ports/task.ts';
import {
  command,
  makeChatBench,
  modelError,
  type Play,
  playedModel,
  promptTask,
  reportOf,
  rolloutOf,
} from '../chat/chat-fixture.ts';
import { type Chosen, chosenSkill } from './chosen-skill.ts';
import { ordinarySkills } from './ordinary-skills.ts';
import { listedSkills, sameName } from './trigger-request.ts';

const names = ['ledger', 'pdf', 'pdf-forms', 'slide_decks', 'plug:in'];
const skill = (name: string): Chosen => ({ kind: 'skill', name });

describe('what an answer would open', () => {
  test.each<readonly [string, string]>([
    ['ledger', 'ledger'],
    ['`ledger`', 'ledger'],
    ['**ledger**', 'ledger'],
    ['"Ledger."', 'ledger'],
    ['Skill: ledger', 'ledger'],
    ['**Skill:** `pdf-forms`', 'pdf-forms'],
    ['- pdf', 'pdf'],
    ['plug:in', 'plug:in'],
    ['slide-decks', 'slide_decks'],
    ['```\nledger\n```', 'ledger'],
    ['I would open the ledger skill.', 'ledger'],
    ['The task is about forms of a pdf, so I looked at pdf and ledger.\n\npdf-forms', 'pdf-forms'],
    ['Answer = ledger\n', 'ledger'],
    ['ledger\n\nTell me if you want me to begin.', 'ledger'],
    ['<think>pdf? no</think>\nledger', 'ledger'],
  ])('%j opens %s', (answer, name) => {
    expect(chosenSkill(answer, names)).toEqual(skill(name));
  });

  test.each([
    ['none'],
    ['None.'],
    ['`none`'],
    ['Skill: none'],
    ['No skill fits; I would open none of these.'],
    ['no skill'],
  ])('%j opens none', (answer) => {
    expect(chosenSkill(answer, names)).toEqual({ kind: 'none' });
  });

  test.each([
    ['ledger or pdf', 'names ledger and pdf'],
    ['ledger, or none', 'says no as well'],
    ['I would not open ledger.', 'says no as well'],
    ['It isn’t for ledger', 'says no as well'],
    ['Sure, here is the sum: 42.', 'names no skill'],
    ['ledgers', 'names no skill'],
    ['', 'empty'],
    ['<think>I should take ledger', 'empty'],
  ])('%j can’t be told', (answer, why) => {
    expect(chosenSkill(answer, names)).toEqual({ kind: 'unclear', why: expect.stringContaining(why) });
  });

  test('never throws, and opens only what is listed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.array(fc.constantFrom(...names)), (text, found) => {
        const chosen = chosenSkill([text, ...found].join(' '), names);
        if (chosen.kind === 'skill') expect(names).toContain(chosen.name);
      }),
    );
  });
});

const skillText = (description: string, name = 'ledger') =>
  `---\nname: ${name}\ndescription: >-\n  ${description}\n---\n# Books\n\nTHE BODY\n`;
const mounted = (description: string, name = 'ledger') => {
  const text = skillText(description, name);
  return { name, hash: description, text, bundleDir: null };
};
const asked = (task: Partial<PromptTask>, description = 'Keeps the books.'): RolloutRequest<PromptTask> =>
  ({ ...rolloutOf(promptTask({ shouldTrigger: true, checks: [], ...task })), skill: mounted(description) }) as never;

describe('the list', () => {
  test('has the skill once, in an order that the task decides and the description does not', () => {
    const places = new Set<number>();
    for (let n = 0; n < 40; n++) {
      const one = listedSkills(asked({ hash: `h${n}` })).map((s) => s.name);
      expect(listedSkills(asked({ hash: `h${n}` }, 'Other words.')).map((s) => s.name)).toEqual(one);
      expect(one).toHaveLength(ordinarySkills.length + 1);
      expect(one.filter((name) => name === 'ledger')).toHaveLength(1);
      places.add(one.indexOf('ledger'));
    }
    expect(places.size).toBeGreaterThan(4);
  });

  test('others of its name give way, however they are written', () => {
    const others = [
      { name: 'Ledger', description: 'Another one.' },
      { name: 'pdf', description: 'Reads\n  PDFs.' },
    ];
    const listed = listedSkills(asked({ otherSkills: others }));
    expect(listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'ledger', description: 'Keeps the books.' },
      { name: 'pdf', description: 'Reads PDFs.' },
    ]);
    expect(listedSkills(asked({ otherSkills: [] }))).toHaveLength(1);
    expect(sameName('my_skill', 'My-Skill')).toBe(true);
  });
});

/** The report of a rollout in which the model does what `play` says. */
async function outcomeOf(play: Play, task: Partial<PromptTask> = {}, description?: string) {
  const model = playedModel(play);
  const bench = makeChatBench(model, { measures: 'description', unsandboxedAllowed: false });
  const report = await reportOf(bench.backend, asked(task, description));
  await bench.close();
  if (report.kind !== 'finished') return { report, model, outcome: null, text: '' };
  return { report, model, outcome: report.result.outcome, text: JSON.stringify(report.result.trajectory) };
}

describe('a rollout on chat', () => {
  test.each([
    ['opened, as meant', 'ledger', true, 1, true],
    ['not opened, though meant', 'none', true, 0, false],
    ['another one opened, though meant', 'pdf-forms', true, 0, false],
    ['opened, though not meant', 'ledger', false, 0, true],
    ['none opened, as meant', 'none', false, 1, false],
    ['another one opened, as meant', 'pdf-forms', false, 1, false],
    ['unclear, though meant', 'ledger or pdf-forms', true, 0, null],
    ['unclear, and not meant', 'pdf-forms or slide-decks', false, 0, null],
  ] as const)('%s', async (_name, answer, shouldTrigger, hard, read) => {
    const { outcome, text } = await outcomeOf(() => answer, { shouldTrigger });
    expect(outcome).toEqual({ status: 'scored', hard, soft: hard, rewards: { trigger: hard }, read });
    expect(text).toContain(read === null ? "can't be told" : `It would open ${answer}.`);
  });

  test('shows names and descriptions, the prompt with its files, and nothing of the body', async () => {
    const { model } = await outcomeOf(() => 'ledger', {
      system: 'You work for Ada.',
      instruction: 'Add it up.',
      files: [{ name: 'a.csv', text: '1,2' }],
    });
    const request = model.asked[0]!;
    expect(request.system).toContain('You work for Ada.');
    expect(request.system).toContain('- ledger: Keeps the books.');
    expect(request.system).toContain('- pdf-forms: ');
    expect(request.system).not.toContain('THE BODY');
    const said = JSON.stringify(request.messages);
    expect(said).toContain('Add it up.');
    expect(said).toContain('1,2');
  });

  test('checks are not run: no consent is asked for', async () => {
    const checks = [command(['sh', '-c', 'exit 1'])];
    const { outcome } = await outcomeOf(() => 'ledger', { checks });
    expect(outcome).toMatchObject({ hard: 1 });
    const bench = makeChatBench(
      playedModel(() => ''),
      {
        measures: 'description',
        unsandboxedAllowed: false,
        tasks: [promptTask({ checks, shouldTrigger: true }), promptTask({ id: 'b', checks: [], shouldTrigger: false })],
      },
    );
    expect((await bench.backend.preflight()).filter((f) => f.level !== 'ok')).toEqual([]);
    await bench.close();
  });

  test('what the machinery spoils is unscored; a request that is too long is wrong', async () => {
    const fails = (kind: Parameters<typeof modelError>[0]) => () => {
      throw modelError(kind);
    };
    expect((await outcomeOf(fails('server'))).outcome).toMatchObject({ status: 'unscored', reason: 'provider-error' });
    expect((await outcomeOf(fails('context-too-long'), { shouldTrigger: false })).outcome).toEqual({
      status: 'scored',
      hard: 0,
      soft: 0,
      rewards: { trigger: 0 },
      read: null,
    });
    expect((await outcomeOf(() => 'upstream error', { noAnswer: ['^upstream'] })).outcome).toMatchObject({
      status: 'unscored',
    });
    expect((await outcomeOf(fails('auth'))).report.kind).toBe('failed');
  });

  test('a task that does not say is no outcome', async () => {
    const { report } = await outcomeOf(() => 'ledger', { shouldTrigger: null });
    expect(report).toMatchObject({ kind: 'failed', failure: { code: 'pack', where: 'task task' } });
  });

  test('another skill of its name is told before the start', async () => {
    const others = [{ name: 'LEDGER', description: 'x' }];
    const bench = makeChatBench(
      playedModel(() => ''),
      {
        measures: 'description',
        skillName: 'ledger',
        tasks: [promptTask({ otherSkills: others, shouldTrigger: true })],
      },
    );
    expect(await bench.backend.preflight()).toMatchObject([
      { level: 'warning', fix: 'take LEDGER out of otherSkills' },
    ]);
    await bench.close();
  });
});
