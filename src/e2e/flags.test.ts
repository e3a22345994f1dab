import { describe, expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { LoggedEvent } from '../events/events.ts';
import { Place, until } from './binary.ts';
import { OwnSession } from './own-pack.ts';

const eventsOf = (own: OwnSession) => own.place.events('session') as unknown as readonly LoggedEvent[];

describe('a flag', () => {
  test('stands until another flag or a changed file says otherwise', async () => {
    const own = new OwnSession(new Place());
    own.block(['stamp-for-cy']);
    const run = own.start(['run', 'session', '--limit-rollouts', '90', '--budget', '60']);
    await until('a verifier waits', () => own.waiting() > 0);
    run.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    own.free();
    const plan = () => {
      const events = eventsOf(own);
      let budget = 0;
      let limit: unknown = null;
      for (const e of events) {
        if (e.type === 'plan.fixed') [budget, limit] = [e.budget, e.limits.rollouts];
        if (e.type === 'input.received' && e.input.kind === 'budget.changed') budget = e.input.rollouts;
        if (e.type === 'input.received' && e.input.kind === 'limits.changed') limit = e.input.limits.rollouts;
      }
      return [budget, limit];
    };
    expect(plan()).toEqual([60, 90]);
    await own.succeed(['run', 'session']); // the file says 100 and no limit, as it did when the flags were given
    expect(plan()).toEqual([60, 90]);
    const end = await own.succeed(['finalize', 'session']);
    expect(end.stdout).toContain('sealed test');
  });

  test('a file that is changed between two runs counts', async () => {
    const own = new OwnSession(new Place());
    own.block(['stamp-for-cy']);
    const run = own.start(['run', 'session', '--budget', '60']);
    await until('a verifier waits', () => own.waiting() > 0);
    run.kill('SIGINT');
    await run.ended;
    own.free();
    own.configure({ budget: { rollouts: 80 } });
    await own.succeed(['run', 'session']);
    const changed = eventsOf(own).flatMap((e) =>
      e.type === 'input.received' && e.input.kind === 'budget.changed' ? [e.input.rollouts] : [],
    );
    expect(changed).toEqual([80]);
    const late = await own.run(['run', 'session', '--budget', '200']);
    expect([late.code, /can’t change any more/.test(late.stderr)]).toEqual([5, true]);
  });

  test('that the config could not hold is refused before anything is written', async () => {
    const own = new OwnSession(new Place());
    for (const flags of [
      ['--workers', '1000'],
      ['--limit-minutes', '0.01'],
    ]) {
      const end = await own.run(['run', 'session', ...flags]);
      expect(end.code).toBe(2);
      expect(own.has('skillopt.jsonl')).toBe(false);
    }
    await own.succeed(['run', 'session', '--workers', '2', '--limit-minutes', '5']);
    await own.succeed(['run', 'session', '--limit-minutes', '5']);
  });

  test('below what is needed is refused, at the start and later', async () => {
    const own = new OwnSession(new Place());
    for (const flags of [
      ['--budget', '5'],
      ['--limit-rollouts', '10'],
    ]) {
      const end = await own.run(['run', 'session', ...flags]);
      expect([end.code, /too small/.test(end.stderr)]).toEqual([2, true]);
      expect(own.has('skillopt.jsonl')).toBe(false);
    }
    own.block(['stamp-for-cy']);
    const run = own.start(['run', 'session']);
    await until('a verifier waits', () => own.waiting() > 0);
    run.kill('SIGINT');
    await run.ended;
    own.free();
    const end = await own.run(['run', 'session', '--budget', '5']);
    expect([end.code, /too small/.test(end.stderr)]).toEqual([2, true]);
    await own.succeed(['run', 'session']);
  });
});

describe('a run that is stopped before its first named point', () => {
  /** Starts a run whose first selection rollouts hang, and stops it in the baseline. */
  async function stoppedInBaseline(own: OwnSession, args: readonly string[]): Promise<void> {
    const before = own.waiting();
    own.block(['stamp-for-cy', 'sign-for-di', 'stamp-for-eve']);
    const run = own.start(['run', 'session', ...args]);
    await until('a verifier waits', () => own.waiting() > before);
    run.kill('SIGINT');
    await run.ended;
    own.free();
  }

  test('keeps its flags and the changes of the file', async () => {
    const own = new OwnSession(new Place());
    await stoppedInBaseline(own, ['--budget', '60', '--limit-rollouts', '90']);
    await stoppedInBaseline(own, []);
    own.configure({ budget: { rollouts: 80 } });
    await stoppedInBaseline(own, []);
    await own.succeed(['run', 'session']);
    const wanted = eventsOf(own).flatMap((e) =>
      e.type === 'session.created' || e.type === 'session.resumed' ? [[e.wanted.budget, e.wanted.limits.rollouts]] : [],
    );
    expect(wanted).toEqual([
      [60, 90],
      [60, 90],
      [80, 90],
      [80, 90],
    ]);
  });

  test('may get another limit for its sealed test, and no other budget', async () => {
    const own = new OwnSession(new Place());
    await own.succeed(['run', 'session', '--limit-rollouts', '90']);
    own.configure({ budget: { rollouts: 120 } });
    expect((await own.run(['finalize', 'session'])).code).toBe(5);
    own.configure({ limits: { rollouts: 150, minutes: null } });
    expect((await own.succeed(['finalize', 'session'])).stdout).toContain('sealed test');
    expect((await own.succeed(['verify', 'session'])).stdout).toContain('through the sealed test');
  });

  test('can be finalized when its config is gone', async () => {
    const own = new OwnSession(new Place());
    await stoppedInBaseline(own, ['--budget', '60']);
    own.configure({ budget: { rollouts: 80 } });
    await own.succeed(['run', 'session']);
    rmSync(own.place.path('session/skillopt.config.json'));
    expect((await own.succeed(['finalize', 'session', '--allow-unsandboxed'])).stdout).toContain('sealed test');
  });
});

test('a log that lost its end is refused, and nothing is written over what tells of it', async () => {
  const own = new OwnSession(new Place());
  await own.succeed(['run', 'session']);
  const log = own.place.path('session/skillopt.jsonl');
  const lines = readFileSync(log, 'utf8').split('\n');
  writeFileSync(log, `${lines.slice(0, 40).join('\n')}\n`);
  const document = own.place.read('session', 'skillopt.md');
  for (const command of [
    ['run', 'session'],
    ['verify', 'session'],
  ]) {
    const end = await own.run(command);
    expect([end.code, /its end is lost|lines are missing at the end/.test(end.stderr + end.stdout)]).toEqual([6, true]);
  }
  expect(own.place.read('session', 'skillopt.md')).toBe(document);
});
