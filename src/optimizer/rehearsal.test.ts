import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Edit, editIdentity } from '../ports/edit.ts';
import { SkilloptError } from '../ports/failure.ts';
import type { ProposalRequest, ShownRollout, TriedEdit } from '../ports/proposals.ts';
import { noUsage } from '../ports/usage.ts';
import { applyEdit } from '../skill/edits.ts';
import { createRehearsalOptimizer, parseRehearsal, type RehearsalEdit, rehearsalKinds } from './rehearsal.ts';

const skill = '---\nname: x\ndescription: A skill.\n---\n\n# Skill\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n';

function offer(phrase: string, more: Partial<RehearsalEdit> = {}): RehearsalEdit {
  return {
    kind: 'useful',
    phrase,
    op: 'append_section',
    target: '## One',
    content: `- When the task says "${phrase}", run \`true\`.`,
    reason: `No line speaks of ${phrase}.`,
    ...more,
  };
}

function failing(task: string, instruction: string, open: readonly string[] = [instruction]): ShownRollout {
  const finalText = ['No line of the skill speaks of this task:', ...open.map((s) => `- ${s}`)].join('\n');
  const trajectory = { agent: 'rehearsal', steps: [], finalText, cut: 0, verifier: null };
  return { task, instruction, rollout: `r/${task}`, trajectory };
}

function request(more: Partial<ProposalRequest>): ProposalRequest {
  return {
    key: 'k',
    round: 1,
    text: skill,
    incumbentText: skill,
    atMost: 3,
    failing: [],
    passing: [],
    passes: [],
    tried: [],
    refused: [],
    notes: [],
    banned: [],
    ...more,
  };
}

async function proposed(edits: readonly RehearsalEdit[], more: Partial<ProposalRequest>) {
  const options = {
    signal: new AbortController().signal,
    check: (edit: Edit) => applyEdit(request(more).text, edit),
    onCall: () => {},
    mayCall: () => true,
  };
  const result = await createRehearsalOptimizer({ edits }).performProposal(request(more), options);
  if (result.kind !== 'proposal') throw new Error(result.kind);
  expect(result.usage).toEqual(noUsage);
  return result.proposal;
}

const asEdit = (o: RehearsalEdit): Edit => ({ op: o.op, target: o.target, content: o.content, cites: [], reason: '' });
const tried = (o: RehearsalEdit, fate: TriedEdit['fate']): TriedEdit => ({
  edit: asEdit(o),
  round: 1,
  fate,
  evidence: '',
});
const reasons = (edits: readonly Edit[]) => edits.map((e) => e.reason.replace(/^No line speaks of (.*)\.$/, '$1'));

const [a, b, c, d] = ['alpha', 'beta', 'gamma', 'delta'].map((p) => offer(p)) as [
  RehearsalEdit,
  RehearsalEdit,
  RehearsalEdit,
  RehearsalEdit,
];
const all = [a, b, c, d];
const four = ['alpha', 'beta', 'gamma', 'delta'].map((p) => failing(`task-${p}`, `Do ${p}.`));

describe('what is handed in', () => {
  test('in list order, at most as many as asked for, each with the tasks that it answers', async () => {
    const { edits, summary } = await proposed(all, { failing: four.toReversed() });
    expect(reasons(edits)).toEqual(['alpha', 'beta', 'gamma']);
    expect(edits.map((e) => e.cites)).toEqual([['task-alpha'], ['task-beta'], ['task-gamma']]);
    expect(summary).toBe('3 edits of the list for 3 of 4 failing tasks.');
    expect(reasons((await proposed(all, { failing: four, atMost: 1 })).edits)).toEqual(['alpha']);
  });

  test('only what a failing task speaks of, upper and lower case and line breaks apart', async () => {
    const two = [offer('newest entry first'), b];
    expect(reasons((await proposed(two, { failing: [failing('t', 'Put the Newest\n  entry FIRST.')] })).edits)).toEqual(
      ['newest entry first'],
    );
    const nothing = await proposed(two, { failing: [failing('t', 'Something else.')] });
    expect(nothing).toEqual({ edits: [], summary: 'No edit of the list answers the 1 failing task any more.' });
  });

  test('the last words of a rollout count as well', async () => {
    const { edits } = await proposed([a], {
      failing: [failing('t', 'Look at the letter.', ['The letter: do alpha.'])],
    });
    expect(edits.map((e) => e.cites)).toEqual([['t']]);
  });

  test('first the task whose agent was at a loss least, then by name', async () => {
    const shown = [
      failing('c', 'Do alpha.'),
      failing('a', 'Do alpha. And beta.', ['Do alpha.', 'And beta.']),
      failing('b', 'Do alpha.'),
    ];
    expect((await proposed([a], { failing: shown })).edits[0]?.cites).toEqual(['b', 'c', 'a']);
  });

  test('a task gets one edit a round; the next one waits until it can be tried on top of the first', async () => {
    const both = failing('both', 'Do alpha and beta.');
    expect(reasons((await proposed(all, { failing: [both] })).edits)).toEqual(['alpha']);
    const after = { text: `${skill}\n${a.content}\n`, failing: [both], tried: [tried(a, 'in-draft')] };
    expect(reasons((await proposed(all, after)).edits)).toEqual(['beta']);
  });

  test('nothing that stands in the draft, does not fit it, or is banned', async () => {
    expect(reasons((await proposed(all, { failing: four, text: `${skill}\n${a.content}\n` })).edits)).toEqual([
      'beta',
      'gamma',
      'delta',
    ]);
    const homeless = offer('alpha', { op: 'replace', target: 'a text that is not there' });
    const twice = offer('beta', { op: 'insert_after', target: '.\n' });
    expect(reasons((await proposed([homeless, twice, c], { failing: four })).edits)).toEqual(['gamma']);
    expect(reasons((await proposed(all, { failing: four, banned: ['"alpha"'] })).edits)).toEqual([
      'beta',
      'gamma',
      'delta',
    ]);
  });

  test('a failed edit does not come again; one that was only skipped does, once', async () => {
    const after = (list: readonly TriedEdit[]) => proposed(all, { failing: four, tried: list });
    expect(reasons((await after([tried(a, 'failed-screening')])).edits)).toEqual(['beta', 'gamma', 'delta']);
    expect(reasons((await after([tried(a, 'skipped')])).edits)).toEqual(['alpha', 'beta', 'gamma']);
    expect(reasons((await after([tried(a, 'skipped'), tried(a, 'skipped')])).edits)).toEqual([
      'beta',
      'gamma',
      'delta',
    ]);
  });

  test('an edit of a refused draft waits until nothing new is left, and two refused drafts end it', async () => {
    const once = { step: 1, edits: [asEdit(a), asEdit(b)] };
    const { edits } = await proposed(all, { failing: four, refused: [once] });
    expect(reasons(edits)).toEqual(['gamma', 'delta']);
    expect(reasons((await proposed([a, b], { failing: four, refused: [once] })).edits)).toEqual(['alpha', 'beta']);
    const again = { step: 2, edits: [asEdit(a)] };
    expect(reasons((await proposed([a, b], { failing: four, refused: [once, again] })).edits)).toEqual(['beta']);
  });

  test('the kind is for people: it changes nothing', async () => {
    const more = { failing: four };
    const expected = await proposed(all, more);
    for (const kind of rehearsalKinds)
      expect(
        await proposed(
          all.map((e) => ({ ...e, kind })),
          more,
        ),
      ).toEqual(expected);
  });

  test('the order in which failing rollouts are shown changes nothing', async () => {
    const shown = [...four, failing('both', 'Do alpha and beta.', ['x.', 'y.'])];
    const expected = await proposed(all, { failing: shown });
    const shuffled = fc.shuffledSubarray(shown, { minLength: shown.length });
    await fc.assert(
      fc.asyncProperty(shuffled, async (order) => expect(await proposed(all, { failing: order })).toEqual(expected)),
    );
  });

  test('refused again and again, it comes to an end', async () => {
    let refused: ProposalRequest['refused'] = [];
    for (let step = 1; step <= 2 * all.length; step++) {
      const { edits } = await proposed(all, { failing: four, refused, atMost: 1 });
      refused = edits.length === 0 ? refused : [...refused, { step, edits }];
    }
    expect((await proposed(all, { failing: four, refused })).edits).toEqual([]);
    expect(new Set(refused.flatMap((r) => r.edits.map(editIdentity))).size).toBe(all.length);
  });
});

describe('parseRehearsal', () => {
  const file = (edits: unknown, version: unknown = 1) => JSON.stringify({ version, edits });
  const problem = (text: string) => {
    try {
      parseRehearsal(text, 'my/rehearsal.json');
    } catch (error) {
      if (error instanceof SkilloptError) return error.failure;
    }
    throw new Error('was accepted');
  };

  test('reads what it should', () => {
    expect(parseRehearsal(file(all), 'x')).toEqual(all);
  });

  test.each([
    ['not JSON', '{', 'JSON'],
    ['another version', file(all, 2), 'version'],
    ['no edits', file([]), 'edits'],
    ['an unknown key', file([{ ...a, weight: 1 }]), 'weight'],
    ['an unknown kind', file([a, { ...b, kind: 'nice' }]), 'edits[1].kind'],
    ['an unknown operation', file([{ ...a, op: 'rewrite' }]), 'edits[0].op'],
    ['a blank phrase', file([{ ...a, phrase: ' ' }]), 'edits[0].phrase'],
    ['a missing reason', file([{ ...a, reason: undefined }]), 'edits[0].reason'],
    ['no target', file([{ ...a, op: 'insert_after', target: '' }]), 'edits[0].target'],
    ['no content', file([{ ...a, content: '' }]), 'edits[0].content'],
    ['content beside delete', file([{ ...a, op: 'delete' }]), 'edits[0].content'],
    ['the same edit twice', file([a, b, { ...a, phrase: 'other' }]), 'edits[2]'],
  ])('%s is refused with its place', (_, text, named) => {
    const failure = problem(text);
    expect(failure.code).toBe('config');
    expect(failure.where).toBe('my/rehearsal.json');
    expect(`${failure.what} ${failure.fix}`).toContain(named);
  });
});
