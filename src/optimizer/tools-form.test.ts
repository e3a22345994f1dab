import { describe, expect, test } from 'bun:test';
import type { ModelRequest } from '../ports/model.ts';
import { toolsFor } from './reading-tools.ts';
import {
  callsTools,
  edit,
  failing,
  handIn,
  handInText,
  modelError,
  partText,
  passing,
  proposed,
  reflect,
  type Scripted,
  ScriptedModel,
  says,
  skill,
} from './reflecting-fixture.ts';

const model = (...script: readonly Scripted[]) => new ScriptedModel(true, script);
const handsIn = (...edits: readonly unknown[]) => callsTools(['hand_in', handIn(...edits)]);
const missing = edit({ target: 'Newest entry fist.' });

/** The answers to the calls of the reply before. */
function answers(request: ModelRequest | undefined) {
  return (request?.messages.at(-1)?.parts ?? []).flatMap((p) => (p.kind === 'tool-result' ? [p] : []));
}

/** What one call of a tool is answered, and whether as an error. */
async function answerTo(name: string, input: unknown, more: Parameters<typeof reflect>[1] = {}) {
  const m = model(callsTools([name, input]), handsIn());
  await reflect(m, more);
  const [answer] = answers(m.requests[1]);
  return { text: answer!.output, isError: answer!.isError };
}

describe('the first message', () => {
  test('has the skill, what fails in a line each, what passes, what was tried, and what the owner asks', async () => {
    const m = model(handsIn());
    await reflect(m, {
      passing: ['gamma'],
      tried: [
        {
          edit: edit({ content: 'Say the date aloud.' }),
          round: 2,
          fate: 'failed-screening',
          evidence: 'alpha still failed with it',
        },
      ],
      refused: [{ step: 4, edits: [edit({ content: 'One of two.' })] }],
      notes: ['Mind the dates.'],
      banned: ['as an AI'],
    });
    const sent = m.sent(0);
    for (const text of [
      skill,
      'alpha: Do what alpha asks.',
      'beta: Do what beta asks.',
      'gamma',
      'Say the date aloud.',
      'did not help: alpha still failed with it',
      'One of two.',
      'Mind the dates.',
      '"as an AI"',
      'at most 3 edits',
    ])
      expect(sent).toContain(text);
    expect(sent).not.toContain('printed by alpha');
    expect(m.requests[0]!.tools.map((t) => t.name)).toEqual([
      'list_rollouts',
      'read_rollout',
      'search_rollouts',
      'read_skill',
      'read_history',
      'hand_in',
    ]);
    expect(m.requests[0]!.mustCall).toBe(null);
  });

  test('a form can be asked for, and one call alone is no reading', async () => {
    const m = model(says(handInText(edit())));
    expect((await proposed(m, {}, { form: 'one-shot' })).edits).toEqual([edit()]);
    expect(m.requests[0]!.tools).toEqual([]);
    const one = model(says(handInText(edit())));
    await reflect(one, {}, { maxCalls: 1 });
    expect(one.requests[0]!.tools).toEqual([]);
  });
});

describe('reading', () => {
  test('lists, reads, searches, and hands in', async () => {
    const m = model(
      callsTools(['list_rollouts', {}], ['read_rollout', { id: 'alpha' }], ['search_rollouts', { text: 'PRINTED by' }]),
      callsTools(
        ['read_skill', { which: 'incumbent' }],
        ['read_history', {}],
        ['read_rollout', { id: 'gamma', from: 2, lines: 2 }],
      ),
      handsIn(edit()),
    );
    const { edits } = await proposed(m, {
      passing: ['gamma'],
      passes: [passing('gamma')],
      incumbentText: 'the incumbent\n',
    });
    expect(edits).toEqual([edit()]);
    const [list, read, found] = answers(m.requests[1]);
    expect(list!.output).toMatch(/Failing:\n- alpha: 7 lines, \d+ characters\n- beta: .*\nPassing:\n- gamma: 7 lines/);
    for (const text of [
      'Do what alpha asks.',
      'lines 1-7 of 7',
      '1| [1 shell, exit 1]',
      '4| printed by alpha',
      '7| The end of alpha.',
    ])
      expect(read!.output).toContain(text);
    expect(found!.output).toContain('3 lines hold it');
    expect(found!.output).toContain('gamma 4| printed by gamma');
    const [incumbent, history, some] = answers(m.requests[2]);
    expect(incumbent!.output).toContain('```\nthe incumbent\n```');
    expect(history!.output).toContain('Nothing was tried before.');
    expect(some!.output).toContain('lines 2-3 of 7; go on from 4');
    expect([...answers(m.requests[1]), ...answers(m.requests[2])].every((a) => !a.isError)).toBe(true);
    expect(answers(m.requests[1]).map((a) => a.id)).toEqual(['list_rollouts-0', 'read_rollout-1', 'search_rollouts-2']);
  });

  test('the whole history is there for who asks', async () => {
    const tried = Array.from({ length: 30 }, (_, n) => ({
      edit: edit({ content: `Try number ${n}. ${'x '.repeat(300)}` }),
      round: n,
      fate: 'failed-screening' as const,
      evidence: `alpha still failed with it (${n})`,
    }));
    const { text } = await answerTo('read_history', {}, { tried });
    expect(text).toContain('Try number 29.');
    expect(text.length).toBeLessThan(17_000);
  });

  test.each([
    ['an unknown tool', 'rm_rf', {}, 'use one of list_rollouts, read_rollout'],
    ['a rollout that is not there', 'read_rollout', { id: 'selection-task' }, 'use one of alpha, beta'],
    ['a missing argument', 'read_rollout', {}, 'id: '],
    ['a bad argument', 'read_rollout', { id: 'alpha', from: 0 }, 'from: '],
    ['lines behind the end', 'read_rollout', { id: 'alpha', from: 99 }, 'has 7 lines'],
    ['an empty search', 'search_rollouts', { text: '' }, 'text: '],
    ['a search where nothing is', 'search_rollouts', { text: 'x', id: 'nobody' }, 'use one of alpha, beta'],
    ['an unknown text', 'read_skill', { which: 'best' }, 'which: '],
    ['no object', 'read_skill', 'draft', 'the input: '],
  ])('%s is answered with what is right', async (_, name, input, right) => {
    const { text, isError } = await answerTo(name, input);
    expect(isError).toBe(true);
    expect(text).toContain(right);
  });

  test('a passing rollout that was removed is told as such', async () => {
    const gone = passing('gone', () => {
      throw new Error('removed');
    });
    expect(await answerTo('read_rollout', { id: 'gone' }, { passes: [gone] })).toEqual({
      text: 'the rollout of gone is no longer at hand',
      isError: true,
    });
    expect((await answerTo('list_rollouts', {}, { passes: [gone] })).text).toContain('gone: no longer at hand');
  });

  test('one answer is bounded, and goes on where it ended', async () => {
    const long = failing('long', {
      finalText: Array.from({ length: 3_000 }, (_, n) => `line ${n} ${'y'.repeat(90)}`).join('\n'),
    });
    const { text } = await answerTo('read_rollout', { id: 'long' }, { failing: [long] });
    expect(text.length).toBeLessThan(9_500);
    const next = Number(/go on from (\d+)/.exec(text)?.[1]);
    const more = await answerTo('read_rollout', { id: 'long', from: next }, { failing: [long] });
    expect(more.text).toContain(`\n${next}| `);
    const found = await answerTo('search_rollouts', { text: 'yyy' }, { failing: [long] });
    expect(found.text).toContain('3000 lines hold it, these 20 among them');
  });

  test('when calls run out, the last one has to hand in', async () => {
    const reads = callsTools(['list_rollouts', {}]);
    const m = model(reads, reads, handsIn(edit()));
    expect((await proposed(m, {}, { maxCalls: 3 })).edits).toEqual([edit()]);
    expect(m.requests.map((r) => r.mustCall)).toEqual([null, null, 'hand_in']);
  });

  test('when what may be read runs out, the next call has to hand in', async () => {
    const long = failing('long', { finalText: `${'word '.repeat(100)}\n`.repeat(400) });
    const reads = callsTools(...Array.from({ length: 20 }, () => ['read_rollout', { id: 'long' }] as const));
    const m = model(reads, handsIn(edit({ cites: ['long'] })));
    expect((await proposed(m, { failing: [long] })).edits.length).toBe(1);
    expect(m.requests.map((r) => r.mustCall)).toEqual([null, 'hand_in']);
    const read = answers(m.requests[1]);
    const size = read.reduce((sum, a) => sum + a.output.length, 0);
    expect(size).toBeGreaterThan(70_000);
    expect(size).toBeLessThan(95_000);
    expect(read.length).toBe(20);
    expect(read.at(-1)).toMatchObject({ isError: true, output: expect.stringContaining('call hand_in') });
  });

  test('no further call is made when a limit is spent', async () => {
    let left = 2;
    const m = model(callsTools(['list_rollouts', {}]), callsTools(['list_rollouts', {}]));
    const { result, calls } = await reflect(m, {}, { mayCall: () => --left > 0 });
    expect(result).toMatchObject({
      kind: 'unusable',
      detail: expect.stringContaining('a limit is spent'),
      usage: { requests: 2 },
    });
    expect(calls.length).toBe(2);
  });

  test('a conversation that has grown too long is halved, and has to end', async () => {
    const long = failing('long', { finalText: 'word\n'.repeat(5_000) });
    const m = model(
      callsTools(['read_rollout', { id: 'long' }]),
      modelError('context-too-long'),
      handsIn(edit({ cites: ['long'] })),
    );
    expect((await proposed(m, { failing: [long] })).edits.length).toBe(1);
    const [before, after] = [answers(m.requests[1])[0]!.output, answers(m.requests[2])[0]!.output];
    expect(after.length).toBeLessThanOrEqual(before.length / 2);
    expect(m.requests.map((r) => r.mustCall)).toEqual([null, null, 'hand_in']);
  });
});

describe('handing in', () => {
  test('edits that are handed in one by one count together', async () => {
    const other = edit({ content: 'Other.' });
    const m = model(callsTools(['hand_in', handIn(edit())], ['hand_in', handIn(other)]));
    expect((await proposed(m)).edits).toEqual([edit(), other]);
  });

  test('as a text, by a model that leaves the tool alone', async () => {
    expect((await proposed(model(says(`So:\n${handInText(edit())}`)))).edits).toEqual([edit()]);
  });

  test('refused edits are the answer to its call, and all other calls have theirs', async () => {
    const m = model(
      callsTools(['list_rollouts', {}], ['hand_in', handIn(missing, edit())]),
      callsTools(['hand_in', handIn(edit({ content: 'Mended.' }))]),
    );
    expect((await proposed(m)).edits).toEqual([edit(), edit({ content: 'Mended.' })]);
    const [list, refused] = answers(m.requests[1]);
    expect(list).toMatchObject({ id: 'list_rollouts-0', isError: true });
    expect(refused).toMatchObject({ id: 'hand_in-1', isError: true });
    expect(refused!.output).toContain('the nearest lines are:\n10| Newest entry first.');
    expect(m.requests[1]!.mustCall).toBe('hand_in');
  });

  test.each([
    ['prose', says('I will look at alpha now.')],
    ['no edits', callsTools(['hand_in', { summary: 'x' }])],
    ['an empty reply', says('', 'length')],
  ])('%s is told once, then the round is given up', async (_, reply) => {
    const m = model(reply, reply);
    const { result } = await reflect(m);
    expect(result).toMatchObject({ kind: 'unusable', usage: { requests: 2 } });
    expect(m.requests.map((r) => r.mustCall)).toEqual([null, 'hand_in']);
    expect((await proposed(model(reply, handsIn(edit())))).edits).toEqual([edit()]);
  });

  test('a reply whose call was broken is told as such', async () => {
    const m = model(says(''), handsIn(edit()));
    expect((await proposed(m)).edits).toEqual([edit()]);
    expect(m.sent(1)).toContain('neither text nor a call whose arguments are whole JSON');
  });

  test('a model that goes on reading when it has to hand in is told once', async () => {
    const reads = callsTools(['list_rollouts', {}]);
    const m = model(reads, reads, reads);
    const { result } = await reflect(m, {}, { maxCalls: 2 });
    expect(result).toMatchObject({ kind: 'unusable', usage: { requests: 3 } });
    expect(answers(m.requests[2])[0]).toMatchObject({
      isError: true,
      output: expect.stringContaining('only `hand_in`'),
    });
  });

  test('the schema of the tool says what every edit has', () => {
    const schema = JSON.stringify(toolsFor.body.find((t) => t.name === 'hand_in')?.schema);
    expect(JSON.stringify(toolsFor)).not.toMatch(/"default"|\$schema|9007199254740991/);
    for (const word of ['"required":["op","target","content","cites","reason"]', 'append_section', '"summary"'])
      expect(schema).toContain(word);
  });

  test('nothing that was sent has what a verifier said', async () => {
    const m = model(
      callsTools(
        ['read_rollout', { id: 'alpha' }],
        ['read_rollout', { id: 'gamma' }],
        ['search_rollouts', { text: 'VERIFIER' }],
      ),
      handsIn(),
    );
    await reflect(m, { passes: [passing('gamma')] });
    const texts = m.requests.flatMap((r) =>
      r.messages.flatMap((x) => (x.role === 'user' ? x.parts.map(partText) : [])),
    );
    expect(texts.join('\n')).toContain('No line holds this text.');
    expect(texts.join('\n')).not.toContain('VERIFIER SAYS');
  });
});
