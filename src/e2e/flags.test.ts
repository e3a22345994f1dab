import { describe, expect, test } from 'bun:test';
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
