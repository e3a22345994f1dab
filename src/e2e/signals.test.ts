import { afterAll, describe, expect, test } from 'bun:test';
import { jsonOf, markedProcesses, Place, removePlaces, until } from './binary.ts';
import { OwnSession, seedSkillThatWaits, splits, undisturbed } from './own-pack.ts';
import { essence, finishedDemo, performedAgain } from './sessions.ts';

afterAll(removePlaces);

/** Longest time from a signal to the last trace of what ran. */
const GONE_MS = 30_000;
const WORKERS = 4;

type Phase = {
  readonly skill?: string;
  /** What is kept waiting, and from which line of the log on. */
  readonly block: readonly [ids: readonly string[], since?: string];
  readonly waiting: number;
  readonly command: 'run' | 'finalize';
  /** What the status says after the stop. */
  readonly told: string;
};

const phases = {
  'while agents work': {
    skill: seedSkillThatWaits,
    block: [['agent']],
    waiting: splits.selection.length,
    command: 'run',
    told: 'phase       measuring (paused)',
  },
  'while verifiers work': {
    block: [splits.selection],
    waiting: splits.selection.length,
    command: 'run',
    told: 'phase       measuring (paused)',
  },
  'in the confirmation': {
    block: [splits.selection, '"line":"confirmation"'],
    waiting: WORKERS,
    command: 'run',
    told: 'phase       confirming (paused)',
  },
  'in the sealed test': {
    block: [splits.test],
    waiting: WORKERS,
    command: 'finalize',
    told: 'phase       finalizing (paused)',
  },
} as const satisfies Record<string, Phase>;
type PhaseName = keyof typeof phases;

/** A session in this phase, with rollouts that stay at work until they are let go. */
async function atWork(name: PhaseName, more: readonly string[]) {
  const phase: Phase = phases[name];
  const own = new OwnSession(new Place(), phase.skill === undefined ? {} : { skill: phase.skill });
  if (phase.command === 'finalize') await own.succeed(['run', 'session']);
  const [ids, since] = phase.block;
  own.block([...ids, ...more], since);
  const run = own.start([phase.command, 'session']);
  await until('rollouts are at work', () => run.over() || own.waiting() === phase.waiting);
  return { own, place: own.place, run, phase };
}

/** The session goes on from what it has, to what it would have come to without the stop. */
async function expectGoesOn(own: OwnSession, phase: Phase): Promise<void> {
  const { place } = own;
  const finalize = phase.command === 'finalize';
  own.free();
  await own.succeed([phase.command, 'session']);
  const skill = phase.skill === undefined ? {} : { skill: phase.skill };
  expect(await essence(place, 'session')).toEqual(await undisturbed({ ...skill, finalize }));
  expect(performedAgain(place.events('session'))).toEqual([]);
  expect(place.leftovers('session')).toEqual([]);
  expect(place.events('session').filter((e) => e.type === 'finalize.started')).toHaveLength(finalize ? 1 : 0);
  await place.succeed(['verify', 'session']);
}

describe('a signal', () => {
  test.each([
    ['SIGINT', 'while agents work', []],
    ['SIGTERM', 'while agents work', ['stubborn']],
    ['SIGINT', 'while verifiers work', ['stubborn']],
    ['SIGTERM', 'while verifiers work', []],
    ['SIGHUP', 'while verifiers work', []],
    ['SIGINT', 'in the confirmation', []],
    ['SIGHUP', 'in the confirmation', []],
    ['SIGTERM', 'in the sealed test', []],
    ['SIGINT', 'in the sealed test', ['stubborn']],
  ] as const)('%s once, %s: stops in order, and the session goes on', async (signal, name, more) => {
    const { own, place, run, phase } = await atWork(name, more);
    run.kill(signal);
    await until('it is over', run.over, GONE_MS);
    const end = await run.ended;
    expect(end.code).toBe(130);
    expect(end.stdout).toContain('stopping    what runs is ended and cleaned up; once more ends at once');
    expect(end.stderr).toStartWith('ended  the run was stopped; nothing that finished is lost\n');
    expect(end.stderr).toContain('fix    start it again: it goes on where it stopped');
    expect(place.leftovers('session')).toEqual([]);
    const status = await place.succeed(['status', 'session']);
    expect(status.stdout).toContain(phase.told);
    await place.succeed(['verify', 'session']);
    await expectGoesOn(own, phase);
  });

  test.each([
    ['SIGINT', 130, 'while agents work'],
    ['SIGINT', 130, 'while verifiers work'],
    ['SIGTERM', 143, 'while verifiers work'],
    ['SIGHUP', 129, 'in the confirmation'],
    ['SIGTERM', 143, 'in the sealed test'],
  ] as const)('%s twice (%d), %s: ends at once, and the session goes on', async (signal, code, name) => {
    const { own, place, run, phase } = await atWork(name, ['stubborn']);
    run.kill(signal);
    await until('the first one is answered', () => run.stdout().includes('stopping'));
    run.kill(signal);
    const end = await run.ended;
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code, stderr: '' }); // the orderly stop has not come to its end
    expect(markedProcesses(String(place.events('session')[0]?.session))).toEqual([]);
    await expectGoesOn(own, phase);
  });

  test('in the middle of a demo: the same demo goes on to the same result', async () => {
    const place = new Place();
    const run = place.start(['demo', '--json']);
    await until('half of it is done', () => place.lines('skillopt-demo') >= 180);
    run.kill('SIGTERM');
    const end = await run.ended;
    expect(end.code).toBe(130);
    expect(jsonOf(end)).toMatchObject({ error: { code: 'interrupted', retryable: true } });
    expect(place.leftovers('skillopt-demo')).toEqual([]);
    const resumed = await place.succeed(['demo']);
    expect(resumed.stdout).toMatch(/^resumed +session [0-9a-f]+ after \d+ finished rollouts/m);
    expect(await essence(place, 'skillopt-demo')).toEqual(await essence((await finishedDemo()).place, 'skillopt-demo'));
    expect(performedAgain(place.events('skillopt-demo'))).toEqual([]);
    expect(place.leftovers('skillopt-demo')).toEqual([]);
  });
});
