import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { cutText, maxTextLength, normalizedTrajectory } from './trajectory.ts';

const places = [
  { path: '/tmp/r-1', name: '<rollout>' },
  { path: '/tmp/r-1/app', name: '$APP_DIR' },
];

test('folders of the rollout get their names, in every text', () => {
  const text = 'in /tmp/r-1/app, /tmp/r-1/app/x.txt, /tmp/r-1/apple, /tmp/r-1/other and /tmp/r-12';
  const named = 'in $APP_DIR, $APP_DIR/x.txt, <rollout>/apple, <rollout>/other and /tmp/r-12';
  const trajectory = normalizedTrajectory(
    {
      agent: 'a',
      steps: [
        { kind: 'message', role: 'user', text },
        { kind: 'thought', text },
        { kind: 'tool', name: 'bash', input: text, output: text, exitCode: 0 },
        { kind: 'note', text },
      ],
      finalText: text,
      verifierOutput: text,
    },
    places,
  );
  expect(trajectory).toEqual({
    agent: 'a',
    steps: [
      { kind: 'message', role: 'user', text: named },
      { kind: 'thought', text: named },
      { kind: 'tool', name: 'bash', input: named, output: named, exitCode: 0 },
      { kind: 'note', text: named },
    ],
    finalText: named,
    cut: 0,
    verifier: { output: named },
  });
});

test('long texts are cut and what is gone is counted over all of them', () => {
  const long = 'a'.repeat(maxTextLength + 100);
  const trajectory = normalizedTrajectory(
    { agent: 'a', steps: [{ kind: 'note', text: long }], finalText: long, verifierOutput: null },
    [],
  );
  expect(trajectory.cut).toBe(200);
  expect(trajectory.finalText).toContain('… 100 characters cut …');
  expect(trajectory.verifier).toBeNull();
});

test('a cut keeps the beginning and the end, counts truly and halves no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (text, limit) => {
      const short = cutText(text, limit);
      if (text.length <= limit) {
        expect(short).toEqual({ text, cut: 0 });
        return;
      }
      const marker = `\n… ${short.cut} characters cut …\n`;
      const at = short.text.indexOf(marker);
      const head = short.text.slice(0, at);
      const tail = short.text.slice(at + marker.length);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(head.length + short.cut + tail.length).toBe(text.length);
      expect(head.length + tail.length).toBeLessThanOrEqual(limit);
      expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
    }),
  );
});
