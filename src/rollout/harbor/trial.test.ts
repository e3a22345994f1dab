import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readAtif } from './atif.ts';
import { fixtures } from './options-fixture.ts';
import { entryOf, readTrial } from './trial.ts';
import { trialJson } from './trial-fixture.ts';

const filesNamed = (name: string) =>
  readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(`/${name}`))
    .map((path) => readFileSync(join(fixtures, path), 'utf8'));

describe('a file that Harbor is writing', () => {
  test('is read as nothing until it is whole', () => {
    for (const text of filesNamed('result.json')
      .filter((text) => text.includes('trial_name'))
      .slice(0, 4)) {
      const whole = JSON.stringify(JSON.parse(text));
      expect(readTrial(whole)).not.toBeNull();
      for (let length = 0; length < whole.length; length++) expect(readTrial(whole.slice(0, length))).toBeNull();
    }
    const [atif = ''] = filesNamed('trajectory.json');
    const whole = JSON.stringify(JSON.parse(atif));
    for (let length = 0; length < whole.length; length++) expect(readAtif(whole.slice(0, length))).toBeNull();
  });

  test('each that it has written is read', () => {
    const all = filesNamed('result.json');
    expect(all.length).toBeGreaterThan(40);
    for (const text of all) expect(readTrial(text)).not.toBeNull();
    const trajectories = filesNamed('trajectory.json');
    expect(trajectories.length).toBe(4);
    for (const text of trajectories) expect(readAtif(text)?.steps.length).toBeGreaterThan(3);
  });
});

describe('what stands in a file', () => {
  test('may be anything', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        expect(readTrial(text)).toBeNull();
        readAtif(text);
        readAtif(`{"steps":[${text}]}`);
        readAtif(`{"steps":[{"source":"agent","message":${text},"tool_calls":[${text}],"observation":${text}}]}`);
        readAtif(
          `{"steps":[{"source":"agent","tool_calls":[{"arguments":${text}}],"observation":{"results":[${text}]}}]}`,
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('may be deep and long', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const trial = JSON.stringify(trialJson());
    for (const odd of [deep, JSON.stringify('x'.repeat(5_000_000)), '1e999', '-1e999']) {
      expect(() => readTrial(`${trial.slice(0, -1)},"more":${odd}}`)).not.toThrow();
      expect(() =>
        readTrial(`${trial.slice(0, -1)},"agent_result":{"metadata":${odd},"n_output_tokens":${odd}}}`),
      ).not.toThrow();
      expect(() => readAtif(`{"steps":[{"source":"agent","tool_calls":[{"arguments":${odd}}]}]}`)).not.toThrow();
    }
  });
});

test('a trial belongs to the entry whose mark its agent was given', () => {
  const entry = (env: unknown) =>
    entryOf(readTrial(JSON.stringify(trialJson({ config: { agent: { name: 'a', env } } })))!);
  expect(entry({ SKILLOPT_ROLLOUT: 's/1', OTHER: 5 })).toBe('s/1');
  for (const env of [undefined, null, {}, [], 'text', { SKILLOPT_ROLLOUT: null }])
    expect(entry(env) || null).toBeNull();
});
