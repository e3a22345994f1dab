import { describe, expect, test } from 'bun:test';
import type { TriedEdit } from '../ports/proposals.ts';
import { addUsage, noUsage } from '../ports/usage.ts';
import {
  callsTools,
  edit,
  failing,
  handInText,
  modelError,
  passing,
  perCall,
  proposed,
  reflect,
  ScriptedModel,
  says,
  skill,
} from './reflecting-fixture.ts';

const model = (...script: ConstructorParameters<typeof ScriptedModel>[1]) => new ScriptedModel(false, script);
const twice = addUsage(addUsage(noUsage, perCall), perCall);
const missing = edit({ target: 'Newest entry fist.' });
const second = edit({
  op: 'replace',
  target: 'Use relative links.',
  content: 'Links are relative: the folder moves.',
  cites: ['beta'],
});

describe('the one message', () => {
  test('has the skill verbatim first, between fences that it can’t close', async () => {
    const m = model(says(handInText()));
    await reflect(m);
    const [message, ...others] = m.requests[0]!.messages;
    expect(others).toEqual([]);
    const text = message!.parts.map((p) => (p.kind === 'text' ? p.text : '')).join('');
    expect(text).toContain(`\n\n\`\`\`\`\`\n${skill}\`\`\`\`\`\n\n`);
    expect(text.indexOf(skill)).toBeLessThan(text.indexOf('alpha'));
    expect(m.requests[0]).toMatchObject({ tools: [], mustCall: null });
  });

  test('shows the failing tasks in their order, some that pass, and how many edits at most', async () => {
    const m = model(says(handInText()));
    await reflect(m, { failing: [failing('beta'), failing('alpha')], passes: [passing('gamma')], passing: ['gamma'] });
    const sent = m.sent(0);
    const places = [
      'Failing task beta',
      'Do what beta asks.',
      'The end of beta.',
      'printed by beta',
      'Failing task alpha',
      'Passing task gamma',
      'printed by gamma',
      'at most 3 edits',
    ];
    expect(places.map((p) => sent.indexOf(p))).toEqual(places.map((p) => sent.indexOf(p)).toSorted((a, b) => a - b));
    expect(places.filter((p) => !sent.includes(p))).toEqual([]);
  });

  test('shows what was tried, with what came of it on its task, and refused drafts as sets', async () => {
    const tried = (fate: TriedEdit['fate'], content: string, evidence: string): TriedEdit => ({
      edit: edit({ content }),
      round: 2,
      fate,
      evidence,
    });
    const m = model(says(handInText()));
    await reflect(m, {
      tried: [
        tried('failed-screening', 'Say the date aloud.', 'alpha still failed with it'),
        tried('rejected', 'Say it twice.', 'no fresh win'),
        tried('skipped', 'Say nothing.', 'target-missing: the target does not occur'),
        tried('in-draft', 'Say it once.', 'beta passed with it'),
      ],
      refused: [{ step: 4, edits: [edit({ content: 'One of two.' }), edit({ content: 'Two of two.' })] }],
      notes: ['Mind the dates.'],
      banned: ['as an AI'],
    });
    const sent = m.sent(0);
    for (const text of [
      'did not help: alpha still failed with it',
      'refused: no fresh win',
      'not tried: target-missing',
      'kept, stands in the draft: beta passed with it',
      'Say the date aloud.',
      'Say it twice.',
      'Say nothing.',
      'Say it once.',
      'step 4: this draft of 2 did not',
      'One of two.',
      'Two of two.',
      'Mind the dates.',
      '"as an AI"',
    ])
      expect(sent).toContain(text);
  });

  test('shows the newest of a long history first', async () => {
    const tried = Array.from({ length: 40 }, (_, n) => ({
      edit: edit({ content: `Try ${n}.` }),
      round: n,
      fate: 'failed-screening' as const,
      evidence: `alpha still failed with it (${n})`,
    }));
    const m = model(says(handInText()));
    await reflect(m, { tried });
    const sent = m.sent(0);
    expect(sent.match(/Try \d+\./g)?.slice(0, 2)).toEqual(['Try 39.', 'Try 38.']);
    expect(sent).toContain('alpha still failed with it (39)');
    expect(sent).not.toContain('Try 0.');
    expect(sent).toContain('and 28 older edits');
  });

  test('never has what a verifier said', async () => {
    const m = model(says('no'), says(handInText()));
    await reflect(m, { passes: [passing('gamma')] });
    expect([m.sent(0), m.sent(1)].join('\n')).not.toContain('VERIFIER');
  });

  test('is bounded: short rollouts whole, long ones cut in the middle', async () => {
    const long = failing('long', { finalText: `FIRST ${'word '.repeat(20_000)} LAST`, steps: [] });
    const many = Array.from({ length: 40 }, (_, n) => failing(`task-${n}`, { finalText: 'word '.repeat(400) }));
    const m = model(says(handInText()), says(handInText()));
    await reflect(m, { failing: [failing('alpha'), long] });
    const sent = m.sent(0).split(skill)[1]!;
    expect(sent.length).toBeLessThanOrEqual(24_000);
    expect(sent.length).toBeGreaterThan(20_000);
    for (const text of ['printed by alpha', 'FIRST', 'LAST', 'characters left out']) expect(sent).toContain(text);
    await reflect(m, { failing: many, passes: many.map((f) => passing(f.task)) });
    const crowded = m.sent(1).split(skill)[1]!;
    expect(crowded.length).toBeLessThanOrEqual(24_000);
    expect(crowded).toContain('Failing task task-0\n');
    expect(crowded).toMatch(/There are \d+ more that fail/);
  });

  test('shows every failing task where they are short', async () => {
    const many = Array.from({ length: 40 }, (_, n) => failing(`task-${n}`));
    const m = model(says(handInText()));
    await reflect(m, { failing: many });
    for (const { task } of many) expect(m.sent(0)).toContain(`printed by ${task}\n</data-`);
    expect(m.sent(0)).not.toContain('more that fail');
  });

  test('a passing rollout that was removed is left out', async () => {
    const gone = passing('gone', () => {
      throw new Error('removed');
    });
    const m = model(says(handInText()));
    await reflect(m, { passes: [gone, passing('gamma')] });
    expect(m.sent(0)).not.toContain('Passing task gone');
    expect(m.sent(0)).toContain('Passing task gamma');
  });
});

describe('what is handed in', () => {
  test('the edits, with the spend of the call', async () => {
    const { result, calls } = await reflect(model(says(handInText(edit(), second))));
    expect(result).toEqual({
      kind: 'proposal',
      proposal: { summary: 'What I saw.', edits: [edit(), second] },
      usage: perCall,
      durationMs: expect.any(Number),
    });
    expect(calls).toEqual([{ model: 'scripted/model', usage: perCall, durationMs: 5, problem: null }]);
  });

  test('no edit is an honest answer', async () => {
    expect(await proposed(model(says(handInText())))).toEqual({ edits: [], summary: 'What I saw.' });
  });

  test('the same edit once, and the first of more than were asked for', async () => {
    const m = model(says(handInText(edit(), edit({ reason: 'again' }), second, edit({ content: 'Third.' }))));
    const { edits, summary } = await proposed(m, { atMost: 2 });
    expect(edits).toEqual([edit(), second]);
    expect(summary).toBe('What I saw. 1 edit more left out: at most 2 asked for.');
  });

  test('cites that no shown failing task is called are dropped', async () => {
    const { edits } = await proposed(model(says(handInText(edit({ cites: ['nobody', 'beta', 'beta', 'alpha'] })))));
    expect(edits[0]?.cites).toEqual(['beta', 'alpha']);
  });
});

describe('the repair turn', () => {
  test.each([
    ['a reply that is cut', says(handInText(edit()).slice(0, -9)), 'ends before its JSON object'],
    ['thoughts without an end', says(`<think>${handInText(edit())}`), 'within its thoughts'],
    ['a whole text that was cut at its limit', says(handInText(edit()), 'length'), 'cut at its limit of tokens'],
    ['an empty reply', says('', 'length'), 'cut at its limit of tokens'],
    ['an error on the way', modelError('cut-off'), 'the call ended in cut-off'],
    ['a reply that made no sense', modelError('bad-reply'), 'the call ended in bad-reply'],
    ['tools that are not there', callsTools(['run', {}]), 'empty'],
  ])('%s is told, and the next hand-in counts', async (_, reply, told) => {
    const m = model(reply, says(handInText(second)));
    const { result, calls } = await reflect(m);
    expect(result).toMatchObject({ kind: 'proposal', proposal: { edits: [second] }, usage: twice });
    expect(calls.length).toBe(2);
    expect(m.sent(1)).toContain(told);
    const roles = m.requests[1]!.messages.map((x) => x.role);
    expect(roles).toEqual(calls[0]!.problem === null ? ['user', 'assistant', 'user'] : ['user']);
    expect(m.requests[1]!.messages.every((x) => x.parts.every((p) => p.kind === 'text' && p.text !== ''))).toBe(true);
  });

  test('a second reply that can’t be read ends the round', async () => {
    const { result } = await reflect(model(says('Hm.'), says('{"edits": [')));
    expect(result).toMatchObject({
      kind: 'unusable',
      detail: expect.stringContaining('ends before its JSON object'),
      usage: twice,
    });
  });

  test('a model that declines is not asked again', async () => {
    const { result, calls } = await reflect(model(says(handInText(edit()), 'refused')));
    expect(result).toMatchObject({ kind: 'unusable', detail: 'the model declined to answer' });
    expect(calls.length).toBe(1);
  });

  test('quotes all refused edits at once, with the nearest lines and the rule; the good ones stay', async () => {
    const twofold = edit({ op: 'delete', target: 'notes.md', content: '' });
    const text = skill.replace('relative links', 'links to notes.md');
    const odd = { op: 'rewrite', target: 'x' };
    const m = model(says(handInText(missing, edit(), twofold, odd)), says(handInText(second)));
    const { edits } = await proposed(m, { text, atMost: 4 });
    const told = m.requests[1]!.messages.at(-1)!
      .parts.map((p) => (p.kind === 'text' ? p.text : ''))
      .join('');
    for (const part of [
      '3 edits',
      'Edit 1',
      'the nearest lines are:\n10| Newest entry first.',
      'letter for letter',
      'Edit 3',
      'lines 13, 18',
      'Edit 4: op',
    ])
      expect(told).toContain(part);
    expect(told).not.toContain('Edit 2');
    expect(edits[0]).toEqual(edit());
  });

  test('what is refused even so is handed in as it is, to be rejected where it can be seen', async () => {
    const m = model(says(handInText(missing, edit())), says(handInText(edit(), { ...missing, content: 'Other.' })));
    expect((await proposed(m)).edits).toEqual([edit(), { ...missing, content: 'Other.' }]);
  });

  test('what the model gives up is gone; what it did not get to stays', async () => {
    const given = says(handInText(missing, edit()));
    expect((await proposed(model(given, says(handInText())))).edits).toEqual([edit()]);
    for (const end of [says('Hm.'), says('', 'refused'), modelError('quota')])
      expect((await proposed(model(given, end))).edits).toEqual([edit(), missing]);
    expect((await proposed(model(given), {}, { mayCall: () => false })).edits).toEqual([edit(), missing]);
  });

  test('brings in no more edits than were asked for', async () => {
    const others = [edit({ content: 'Second.' }), edit({ content: 'Third.' })];
    const { edits, summary } = await proposed(model(says(handInText(missing, edit())), says(handInText(...others))), {
      atMost: 2,
    });
    expect(edits).toEqual([edit(), others[0]!]);
    expect(summary).toContain('1 edit more left out');
  });

  test('an edit that cites nobody, or brings in a banned text, is told', async () => {
    const stray = edit({ cites: ['nobody'] });
    const banned = edit({ ...second, content: 'As an AI, use links.' });
    const m = model(says(handInText(stray, banned)), says(handInText(edit())));
    expect((await proposed(m, { banned: ['As an AI'] })).edits).toEqual([edit()]);
    expect(m.sent(1)).toContain('it cites nobody, which no failing task is called');
    expect(m.sent(1)).toContain('Cite failing tasks by their ids: alpha, beta.');
    expect(m.sent(1)).toContain('it brings in "As an AI"');
  });

  test('a leak is told with its detail', async () => {
    const leaking = edit({ content: 'The answer is 42.' });
    const m = model(says(handInText(leaking)), says(handInText()));
    const check = () => ({ ok: false, reason: 'leak', detail: 'it holds 42, a value of alpha' }) as const;
    expect((await proposed(m, {}, { check })).edits).toEqual([]);
    expect(m.sent(1)).toContain('leak: it holds 42, a value of alpha');
  });
});
