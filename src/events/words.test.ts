import { expect, test } from 'bun:test';
import { causes } from './shapes.ts';
import { boundsText, editsText, minutesText, refusalTexts, verdictText } from './words.ts';

test.each([
  [0, '0 s'],
  [0.001, '1 s'],
  [0.5, '30 s'],
  [1, '1 min'],
  [12.4, '12 min'],
  [95, '95 min'],
  [125, '2 h 05 min'],
])('%d minutes are %s', (minutes, shown) => expect(minutesText(minutes)).toBe(shown));

test('edits of this step, and the draft where edits of earlier ones stand in it', () => {
  expect(editsText({ tried: 3, kept: 2, draft: 2 })).toBe('3 → 2');
  expect(editsText({ tried: 2, kept: 2, draft: 4 })).toBe('2 → 2, draft of 4');
  expect(editsText({ tried: 0, kept: 0, draft: 1 })).toBe('0 → 0, draft of 1');
});

test('a plan that ends by itself says so', () => {
  const search = { draftSize: 8, dryRounds: 12, memory: true };
  expect(boundsText({ search })).toBe('');
  expect(boundsText({ search: { ...search, steps: 1, epochs: 2 } })).toBe(' · at most 1 step, 2 epochs');
});

test('a refusal gets shorter and stays in words', () => {
  const whys = [
    'a tie: no task changed',
    'it lost as many tasks as it won',
    'it lost more tasks than it won',
    'too few wins to tell',
    'its edits undo each other',
    'the skill was not read',
    'coverage',
    'environment-changed',
    ...causes,
  ];
  for (const why of whys)
    for (const gateAction of ['reject', 'indecisive'] as const)
      for (const draftDropped of [false, true]) {
        const forms = refusalTexts({ gateAction, why, draftDropped });
        expect(forms.map((t) => t.length)).toEqual(forms.map((t) => t.length).toSorted((a, b) => b - a));
        for (const text of forms) expect(text).not.toMatch(/coverage|[a-z]-[a-z]/);
        expect(forms.slice(0, 3).every((t) => t.includes('dropped') === draftDropped)).toBe(true);
      }
  expect(refusalTexts({ gateAction: 'reject', why: 'it lost as many tasks as it won', draftDropped: true })).toEqual([
    'reject: it lost as many tasks as it won · the draft is dropped',
    'reject: as many lost as won, draft dropped',
    'as many lost as won, draft dropped',
    'as many lost as won',
  ]);
  const step = { gateAction: 'indecisive', why: 'coverage', draftDropped: false } as Parameters<typeof verdictText>[0];
  expect(verdictText(step)).toBe('indecisive: too few of its rollouts could be scored');
});
