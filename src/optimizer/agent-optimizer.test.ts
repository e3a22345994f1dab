import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { editOps } from '../ports/edit.ts';
import { fail } from '../ports/failure.ts';
import { addUsage, unknownUsage } from '../ports/usage.ts';
import {
  agentProposes,
  agentReflects,
  ended,
  optimizerOf,
  perRun,
  places,
  ScriptedAgent,
  type ScriptedRun,
  writes,
  writesNothing,
} from './agent-tasks-fixture.ts';
import { edit, failing, handInText, passing, proposed, request, ScriptedModel, says } from './reflecting-fixture.ts';

const agent = (...script: readonly ScriptedRun[]) => new ScriptedAgent(script);
const missing = edit({ target: 'Newest entry fist.' });
const second = edit({ op: 'delete', target: 'Use relative links.', content: '', cites: ['beta'] });
const failure = (retryable: boolean) =>
  fail('environment-down', 'no more processes', 'backend local', 'wait', { retryable }).failure;

describe('a hand-in', () => {
  test('is the proposal; the run is reported with its spend, unknown where it is not known', async () => {
    const a = agent(writes(handInText(edit())));
    const { result, calls } = await agentReflects(a);
    expect(result).toEqual({
      kind: 'proposal',
      proposal: { edits: [edit()], summary: 'What I saw.' },
      usage: perRun,
      durationMs: 15,
    });
    expect(calls).toEqual([
      { model: 'scripted (some/model)', key: 'reflection 1/0.1', usage: perRun, durationMs: 5, problem: null },
    ]);
    expect(a.runs.map((r) => [r.handInName, r.timeoutMs])).toEqual([['proposal.json', 900_000]]);
  });

  test('names the material and the file to write in the instruction, and says that data gives no orders', async () => {
    const a = agent(writes(handInText()));
    await agentReflects(a);
    const told = a.runs[0]?.told ?? '';
    for (const part of [`${places.material}/RULES.md`, places.handIn, '<data-…>']) expect(told).toContain(part);
    expect(told).not.toContain('{{');
  });

  test('may be an honest nothing, and no more edits are kept than were asked for', async () => {
    expect((await agentProposes(agent(writes('{"summary": "Fine as it is.", "edits": []}')))).edits).toEqual([]);
    const both = await agentProposes(agent(writes(handInText(edit(), second))), { atMost: 1 });
    expect(both).toEqual({ edits: [edit()], summary: 'What I saw. 1 edit more left out: at most 1 asked for.' });
  });

  test('counts though the agent ran out of time or left something behind, which is told', async () => {
    const left = writes(handInText(edit()), { exit: 'timeout', problem: 'It left a process running.' });
    const { result, calls } = await agentReflects(agent(left));
    expect(result.kind).toBe('proposal');
    expect(calls.map((c) => c.problem)).toEqual(['It left a process running.']);
  });
});

describe('a second run', () => {
  test('mends what was refused: it is told which edits and why, and finds its own hand-in', async () => {
    const first = handInText(edit(), missing);
    const a = agent(writes(first), writes(handInText(second)));
    const { result, calls } = await agentReflects(a);
    expect(result).toMatchObject({ kind: 'proposal', proposal: { edits: [edit(), second] } });
    expect(result).toMatchObject({ usage: addUsage(perRun, perRun) });
    expect(calls.length).toBe(2);
    const files = a.files(1);
    expect(files['handed-in.json']).toBe(first);
    for (const part of [
      "One edit can't be used as they stand",
      'Edit 2 (insert_after "Newest entry fist."): target-missing',
      'A target is copied letter for letter',
      'Write `proposal.json` anew.',
    ])
      expect(files['refused.md']).toContain(part);
    expect(a.runs[1]?.told).toContain(`${places.material}/refused.md`);
    expect(a.runs[1]?.told).toContain(`${places.material}/handed-in.json`);
    expect(new Set(a.runs.map((r) => r.key)).size).toBe(2);
    const { 'refused.md': _, 'handed-in.json': __, ...same } = files;
    expect(same).toEqual(a.files(0));
    expect(Object.keys(a.files(0))).not.toContain('refused.md');
  });

  test('that is refused even so hands in as it is, so that its rejection can be seen', async () => {
    const a = agent(writes(handInText(edit(), missing)), writes(handInText(missing)));
    expect((await agentProposes(a)).edits).toEqual([edit(), missing]);
  });

  test.each([
    [
      'nothing',
      writesNothing({ finalText: 'I have\nno idea.' }),
      'it ended before proposal.json was written (its last words: “I have no idea.”)',
    ],
    [
      'nothing in time',
      writesNothing({ exit: 'timeout' }),
      'its time (15 min) was up before proposal.json was written',
    ],
    ['a link', ended({ kind: 'refused', why: 'it is a link' }), 'proposal.json can’t be read: it is a link'],
    ['an empty file', writes(' \n'), 'the file is empty'],
    ['prose', writes('I would add a date.'), 'there is no JSON object with "summary" and "edits"'],
    ['a list', writes('[1, 2]'), 'it is not an object with "summary" and "edits"'],
    ['half of it', writes('{"summary": "", "edits": [{"op": "delete"'), 'ends before its JSON object does'],
    ['edits that are none', writes('{"summary": "", "edits": 3}'), '"edits" is not a list'],
    ['far too many edits', writes(handInText(...Array.from({ length: 1_000 }, () => edit()))), '1000 edits, far more'],
    ['a huge file', writes(handInText(edit({ content: 'x'.repeat(900_000) }))), 'more than 300000'],
    ['much that is no JSON', writes('x'.repeat(60_000)), 'the file is not JSON'],
    ['deep nesting', writes(`{"edits":${'['.repeat(140_000)}`), 'the file is not JSON'],
    ['nested braces that end wrong', writes(`${'{"a":'.repeat(9_900)}]`), 'closes what was not opened'],
    ['braces without end', writes('{"a":'.repeat(9_000)), 'full of braces'],
  ])('follows %s; when the second is no better, the round is given up with the reason', async (_, bad, why) => {
    const { result, calls } = await agentReflects(agent(bad, bad));
    expect(result).toMatchObject({ kind: 'unusable', detail: expect.stringContaining(why) });
    expect(calls.length).toBe(2);
    const a = agent(bad, writes(handInText(edit())));
    expect((await agentProposes(a)).edits).toEqual([edit()]);
    expect(a.files(1)['refused.md']).toContain(why);
    const wrote = bad.kind === 'ended' && bad.handedIn.kind === 'text';
    expect('handed-in.json' in a.files(1)).toBe(wrote);
    expect(a.runs[1]?.told.includes('handed-in.json')).toBe(wrote);
  });

  test('takes what surrounds a hand-in in a short file for what it is', async () => {
    const a = agent(writes(`\uFEFFHere it is:\n\`\`\`json\n${handInText(edit()).slice(0, -1)},}\n\`\`\`\n`));
    expect((await agentProposes(a)).edits).toEqual([edit()]);
  });

  test('that fails leaves what was good', async () => {
    const broken = { kind: 'failed', failure: failure(true), usage: unknownUsage } as const;
    const { result, calls } = await agentReflects(agent(writes(handInText(edit(), missing)), broken));
    expect(result).toMatchObject({ kind: 'proposal', proposal: { edits: [edit(), missing] }, usage: unknownUsage });
    expect(calls.map((c) => c.problem)).toEqual([null, 'no more processes']);
  });

  test('is not begun where a limit is spent', async () => {
    const mayCall = () => false;
    const good = await agentReflects(agent(writes(handInText(edit(), missing))), {}, { mayCall });
    expect(good.result).toMatchObject({ kind: 'proposal', proposal: { edits: [edit(), missing] } });
    const cut = await agentReflects(agent({ kind: 'limit', usage: perRun }));
    expect(cut.result).toMatchObject({ kind: 'unusable', detail: expect.stringContaining('a limit is spent') });
    expect(cut.calls).toMatchObject([{ usage: perRun, problem: expect.stringContaining('a limit of the session') }]);
    const bad = await agentReflects(agent(writesNothing()), {}, { mayCall });
    expect(bad.result).toMatchObject({ kind: 'unusable', detail: expect.stringContaining('a limit is spent') });
  });
});

describe('what is no hand-in', () => {
  test.each([true, false])('a failure is one, retryable or not: %p', async (retryable) => {
    const broken = { kind: 'failed', failure: failure(retryable), usage: perRun } as const;
    const { result, calls } = await agentReflects(agent(broken));
    expect(result).toEqual({ kind: 'failed', failure: failure(retryable) });
    expect(calls).toEqual([
      {
        model: 'scripted (some/model)',
        key: 'reflection 1/0.1',
        usage: perRun,
        durationMs: 5,
        problem: 'no more processes',
      },
    ]);
  });

  test('a stop is told on the spot, and what winds down can be waited for', async () => {
    const stop = new AbortController();
    const [started, winding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const a = agent(async () => {
      started.resolve();
      await winding.promise;
      return { kind: 'cancelled', usage: perRun };
    });
    const { optimizer, options, calls } = optimizerOf(a, { signal: stop.signal });
    const proposing = optimizer.performProposal(request(), options).catch((why: unknown) => why);
    await started.promise;
    stop.abort(new Error('the user stops it'));
    expect(calls).toMatchObject([{ usage: unknownUsage, problem: 'stopped before it had handed in' }]);
    let isSettled = false;
    const settled = optimizer.settled?.().then(() => {
      isSettled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    winding.resolve();
    await settled;
    expect(await proposing).toEqual(new Error('the user stops it'));
    expect(calls.length).toBe(1);
    // one that was stopped before is not begun
    expect(await optimizer.performProposal(request(), options).catch(() => 'stopped')).toBe('stopped');
    expect(a.runs.length).toBe(1);
  });
});

describe('several readers', () => {
  const four = ['alpha', 'beta', 'gamma', 'delta'].map((id) => failing(id));
  const cites = (id: string, target: string) => edit({ target, cites: [id], content: `About ${target}` });

  test('share the failures, and their hand-ins become one proposal', async () => {
    const a = agent(
      writes(handInText(cites('alpha', 'Newest entry first.'))),
      writes(handInText(cites('gamma', 'Use relative links.'))),
    );
    const proposal = await agentProposes(a, { failing: four, atMost: 4 }, { readers: 2 });
    expect(proposal.edits.map((e) => e.cites)).toEqual([['alpha'], ['gamma']]);
    const laid = a.runs.map((r) => Object.keys(r.files).filter((f) => f.startsWith('failing/')));
    expect(laid).toEqual([
      ['failing/alpha.md', 'failing/beta.md'],
      ['failing/gamma.md', 'failing/delta.md'],
    ]);
    expect(new Set(a.runs.map((r) => r.key)).size).toBe(2);
  });

  test('tell how many failures are read', async () => {
    const { optimizer } = await agentReflects(agent(writes(handInText())));
    const many = Array.from({ length: 70 }, (_, at) => failing(`t${at}`));
    expect(optimizer.reads?.({ failing: four, atMost: 2 })).toBe(4);
    expect(optimizer.reads?.({ failing: many, atMost: 2 })).toBe(60);
  });
});

describe('against a model that hands in the same', () => {
  const target = fc.constantFrom('Newest entry first.', 'Use relative links.', 'Nowhere.', '## Links', '');
  const anEdit = fc.record({
    op: fc.constantFrom(...editOps),
    target,
    content: fc.constantFrom('', 'A new rule.', 'Another rule.', 'as an AI'),
    cites: fc.constantFrom(['alpha'], ['beta', 'alpha'], ['nobody'], []),
    reason: fc.constant('It helps.'),
  });
  const junk = fc.constantFrom<unknown>(3, null, { op: 'rename' }, 'edit');
  const hand = fc.array(fc.oneof({ weight: 5, arbitrary: anEdit }, { weight: 1, arbitrary: junk }), { maxLength: 5 });

  test('the proposal is the same', async () => {
    await fc.assert(
      fc.asyncProperty(hand, hand, fc.integer({ min: 1, max: 4 }), async (one, two, atMost) => {
        const texts = [handInText(...one), handInText(...two)];
        const more = { atMost, banned: ['as an AI'] };
        const byModel = await proposed(
          new ScriptedModel(
            false,
            texts.map((t) => says(t)),
          ),
          more,
        );
        expect(await agentProposes(agent(...texts.map((t) => writes(t))), more)).toEqual(byModel);
      }),
    );
  });
});

test('what is found before anything is spent is what the agent’s backend finds', async () => {
  const { optimizer } = await agentReflects(agent(writes(handInText())));
  expect(await optimizer.preflight()).toEqual([
    { level: 'ok', what: 'the agent runs', where: 'agent scripted', fix: '' },
  ]);
});

test('passing rollouts are read only as far as they are laid out', async () => {
  const read: string[] = [];
  const passes = Array.from({ length: 30 }, (_, at) => {
    const one = passing(`p${at}`);
    const reads = () => {
      read.push(one.task);
      return one.read();
    };
    return { ...one, read: reads };
  });
  const a = agent(writes(handInText()));
  await agentReflects(a, { passes, passing: passes.map((p) => p.task) });
  const laid = Object.keys(a.files(0)).filter((f) => f.startsWith('passing/'));
  expect(laid.length).toBe(8);
  expect([...new Set(read)]).toEqual(laid.map((f) => f.slice('passing/'.length, -'.md'.length)));
  expect(a.files(0)['index.md']).toContain('they have no file: p8, p9,');
  expect(request().passes).toEqual([]);
});
