import { describe, expect, test } from 'bun:test';
import type { PassingRollout, ProposalRequest, ShownRollout } from '../ports/proposals.ts';
import { descriptionOps } from '../skill/description-ops.ts';
import {
  callsTools,
  edit,
  failing,
  handIn,
  handInText,
  passing,
  proposed,
  reflect,
  ScriptedModel,
  says,
  skill,
} from './reflecting-fixture.ts';
import { DIGEST_CHARACTERS } from './requests.ts';

const opened = (note: string): Partial<ShownRollout['trajectory']> => ({
  steps: [
    { kind: 'note', text: 'It was shown these skills.' },
    { kind: 'note', text: note },
  ],
});
const missed = (task: string): ShownRollout => ({
  ...failing(task, opened('It would open pdf.')),
  shouldTrigger: true,
});
const inVain = (task: string): ShownRollout => ({
  ...failing(task, opened('It would open notes.')),
  shouldTrigger: false,
});
const right = (task: string, shouldTrigger: boolean): PassingRollout => ({ ...passing(task), shouldTrigger });

const base: Partial<ProposalRequest> = {
  optimizes: 'description',
  failing: [missed('alpha'), inVain('beta'), missed('gamma')],
  passing: ['delta', 'epsilon'],
  passes: [right('delta', true), right('epsilon', false)],
  atMost: 3,
};
const ops = descriptionOps(skill, {});
const options = { check: (e: Parameters<typeof ops.apply>[1]) => ops.apply(skill, e) };
const onDescription = (more: object = {}) =>
  edit({ op: 'append_section', target: '', content: 'Use it for diaries, too.', ...more });

/** What a model in this form is sent first. */
async function sent(form: 'tools' | 'one-shot', more: Partial<ProposalRequest> = {}) {
  const answer = form === 'tools' ? callsTools(['hand_in', handIn()]) : says(handInText());
  const model = new ScriptedModel(form === 'tools', [answer]);
  await reflect(model, { ...base, ...more }, { form, ...options });
  return { all: model.sent(0), request: model.requests[0]! };
}

describe.each(['tools', 'one-shot'] as const)('what is shown, %s', (form) => {
  test('the description, what was missed and what was opened in vain, and what went right', async () => {
    const { all, request } = await sent(form);
    const [missedPart = '', rest = ''] = (all.split('\nMissed: ')[1] ?? '').split('\nFalse: ');
    expect(all).toContain('```\nWrites notes.\n```');
    expect(missedPart).toContain('alpha: Do what alpha asks.\n  It would open pdf.');
    expect(missedPart).toContain('gamma: ');
    expect(missedPart).not.toContain('beta: ');
    expect(rest).toContain('beta: Do what beta asks.\n  It would open notes.');
    expect(all).toContain('\nopened, as meant: delta: Do what delta asks.');
    expect(all).toContain('\nnot opened, as meant: epsilon: Do what epsilon asks.');
    expect(all).not.toContain('VERIFIER');
    expect(request.tools.length > 0).toBe(form === 'tools');
  });

  test('the rules are about a description, short, and say nothing of how it is measured', async () => {
    const { system } = (await sent(form)).request;
    expect(system).toContain('The description has one purpose');
    expect(system).toContain('`append`');
    expect(system).not.toContain('append_section');
    expect(
      system.match(/verifier|reward|\bgate\b|held[- ]out|\bselection\b|test split|\b(MUST|NEVER|ALWAYS)\b/gi),
    ).toBe(null);
    expect(system).not.toContain('{{');
    expect(system.length).toBeLessThan(4_500);
  });

  test('very many prompts stay within the size, both kinds among them, and only what is shown can be cited', async () => {
    const many = Array.from({ length: 300 }, (_, n) => ({
      ...(n < 250 ? missed(`m${n}`) : inVain(`v${n}`)),
      instruction: `Please ${'go on and '.repeat(200)} with ${n}.`,
    }));
    const { request, all } = await sent(form, { failing: many });
    const text = request.messages.flatMap((m) => m.parts.map((p) => (p.kind === 'text' ? p.text : ''))).join('');
    expect(text.length).toBeLessThan(DIGEST_CHARACTERS + 200);
    expect(all).toContain('m0: ');
    expect(all).toContain('v250: ');
    expect(all).toMatch(/There are \d+ more that went wrong/);
  });
});

describe('a hand-in', () => {
  test.each(['append', 'append_section'])('%s puts words at the end', async (op) => {
    const model = new ScriptedModel(false, [says(handInText({ ...onDescription(), op }))]);
    const { edits } = await proposed(model, base, options);
    expect(edits).toEqual([onDescription()]);
  });

  test('the tool asks for words of the description', async () => {
    const { request } = await sent('tools');
    const schema = JSON.stringify(request.tools.find((t) => t.name === 'hand_in')?.schema);
    expect(schema).toContain('"append"');
    expect(schema).toContain('Words of the description');
    expect(schema).not.toContain('of the body');
  });

  test('what can’t be used is told with the rule for descriptions, in one repair turn', async () => {
    const bad = [edit({ target: 'Newest entry first.' }), onDescription({ content: 'x'.repeat(1100) })];
    const model = new ScriptedModel(false, [says(handInText(...bad)), says(handInText(onDescription()))]);
    const { edits } = await proposed(model, base, options);
    expect(edits).toEqual([onDescription()]);
    const repair = model.sent(1);
    expect(repair).toContain('it stands elsewhere in the file, which is locked');
    expect(repair).toContain('copied letter for letter from the description');
    expect(repair).toContain('1,024 characters at most');
  });
});
