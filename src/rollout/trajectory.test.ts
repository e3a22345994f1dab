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
  const long = 'ab '.repeat(maxTextLength / 3 + 33);
  const trajectory = normalizedTrajectory(
    { agent: 'a', steps: [{ kind: 'note', text: long }], finalText: long, verifierOutput: null },
    [],
  );
  const each = trajectory.cut / 2;
  expect(each).toBeGreaterThanOrEqual(long.length - maxTextLength);
  expect(each).toBeLessThan(long.length - maxTextLength + 6);
  expect(trajectory.finalText).toContain(`\n… ${each} characters cut …\n`);
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

test('a secret that straddles a cut leaves no half of itself, wherever it stands', () => {
  const secret = `sk-live-${'0123456789abcdef'.repeat(4)}`;
  const line = 'a line of output\n';
  for (const edge of [maxTextLength / 2, maxTextLength / 2 + 5_000]) {
    for (let back = 0; back <= secret.length; back += 3) {
      const before = line.repeat(2_000).slice(0, edge - back - 1);
      const text = `${before} ${secret}\n${line.repeat(2_000)}`.slice(0, maxTextLength + 5_000);
      const kept = cutText(text, maxTextLength).text.replaceAll(secret, '');
      expect(kept).not.toMatch(/sk-|[0-9a-f]{8}/);
    }
  }
});
