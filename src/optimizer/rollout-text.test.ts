import { expect, test } from 'bun:test';
import type { Trajectory } from '../ports/trajectory.ts';
import { answerFirst, rolloutText } from './rollout-text.ts';

const trajectory: Trajectory = {
  agent: 'a',
  steps: [
    { kind: 'message', role: 'user', text: 'Sort the list.\n' },
    { kind: 'thought', text: 'Bubbles?' },
    { kind: 'tool', name: 'shell', input: 'sort x', output: 'a\r\nb', exitCode: 0 },
    { kind: 'message', role: 'agent', text: 'Sorted.' },
  ],
  finalText: 'Sorted.',
  cut: 7,
  verifier: { output: 'reward 0' },
};

test('steps in their order, without the instruction and with the last words once', () => {
  expect(rolloutText(trajectory, 'Sort the list.')).toBe(
    '[1 thought]\nBubbles?\n\n[2 shell, exit 0]\nsort x\n--- output\na\nb\n\n[7 characters of these were not kept]\n\n[last words of the agent]\nSorted.',
  );
  expect(answerFirst(trajectory, 'Sort the list.')).toStartWith(
    '[last words of the agent]\nSorted.\n\n[what it did before that]\n\n[1 thought]\nBubbles?',
  );
});

test('an agent that only answered has its answer alone', () => {
  const chat = { ...trajectory, cut: 0, steps: [trajectory.steps[0]!, trajectory.steps[3]!] };
  expect(answerFirst(chat, 'Sort the list.')).toBe('[last words of the agent]\nSorted.');
  expect(answerFirst({ ...chat, steps: [], finalText: ' ' }, '')).toBe('[last words of the agent]\n(none)');
});
