import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { sha256 } from '../../ports/hash.ts';
import type { MountedSkill, RolloutRequest } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { never } from '../self-check-tools.ts';
import { cellOf, jobsOf } from './jobs.ts';
import { harborTask } from './options-fixture.ts';

const skills: readonly (MountedSkill | null)[] = [
  null,
  ...['seed', 'draft'].map((text) => ({ name: 's', hash: sha256(text), text, bundleDir: null })),
];
const tasks = Array.from({ length: 6 }, (_, i) =>
  harborTask({ id: `t${i}`, dir: `/pack/t ${i}`, agentTimeoutSec: i % 3 === 0 ? null : 60 }),
);

type Asked = { readonly skill: number; readonly task: number; readonly attempt: number; readonly try: number };
let keys = 0;
function requestOf(asked: Asked): RolloutRequest<FolderTask> {
  const { attempt, try: nth } = asked;
  return {
    key: `k${keys++}`,
    task: tasks[asked.task]!,
    skill: skills[asked.skill]!,
    attempt,
    try: nth,
    signal: never(),
  };
}

const asked = fc.record({ skill: fc.nat(2), task: fc.nat(5), attempt: fc.nat(2), try: fc.nat(1) });

test('every request has one cell of one job, and no cell is run that nobody asked for', () => {
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 40 }), (all) => {
      const requests = all.map(requestOf);
      const jobs = jobsOf(requests, 'session');
      const placed = jobs.flatMap((job) => [...job.requests.values()]);
      expect(placed.map(({ key }) => key).sort()).toEqual(requests.map(({ key }) => key).sort());
      for (const { entries, tasks: own, requests: cells, untimed } of jobs) {
        const rectangle = own.flatMap(({ dir }) => entries.map(({ id }) => cellOf(dir, id)));
        expect([...cells.keys()].sort()).toEqual(rectangle.sort());
        expect(new Set(rectangle).size).toBe(rectangle.length);
        for (const task of own)
          for (const { id, skill } of entries) {
            const request = cells.get(cellOf(task.dir, id));
            expect([request?.task.dir, request?.skill]).toEqual([task.dir, skill]);
          }
        expect(own.map(({ agentTimeoutSec }) => agentTimeoutSec === null)).toEqual(own.map(() => untimed));
      }
      // no two jobs could have been one
      const shapes = jobs.map(({ entries, untimed }) => JSON.stringify([untimed, entries.map(({ id }) => id).sort()]));
      expect(new Set(shapes).size).toBe(shapes.length);
    }),
  );
});

const timed = tasks.filter(({ agentTimeoutSec }) => agentTimeoutSec !== null);
const arms = (chosen: readonly number[], attempts = [0]) =>
  timed.flatMap((task) =>
    attempts.flatMap((attempt) =>
      chosen.map((skill) => requestOf({ skill, task: tasks.indexOf(task), attempt, try: 0 })),
    ),
  );

describe('one job', () => {
  test.each([
    ['a gate', arms([1, 2]), 2],
    ['a sealed test with three arms', arms([1, 2, 0]), 3],
    ['blocks of several attempts', arms([1, 2], [3, 4]), 4],
  ] as const)('%s', (_, requests, entries) => {
    const jobs = jobsOf(requests, 'session');
    expect(jobs.map((job) => [job.entries.length, job.tasks.length])).toEqual([[entries, timed.length]]);
    expect(jobs[0]?.tasks.map(({ id }) => id)).toEqual(timed.map(({ id }) => id));
  });
});

test('what is asked for twice is run twice', () => {
  const twin = { skill: 1, task: 1, attempt: 0, try: 0 };
  const jobs = jobsOf([twin, twin, twin].map(requestOf), 'session');
  expect(jobs.map((job) => [job.entries.length, job.tasks.length, job.requests.size])).toEqual([[3, 1, 3]]);
});

test('an entry is the same for the same draw, and says nothing of what it is for', () => {
  const entryOf = (more: Partial<Asked>, session = 'session') =>
    jobsOf([requestOf({ skill: 1, task: 1, attempt: 0, try: 0, ...more })], session)[0]?.entries[0]?.id;
  expect(entryOf({})).toBe(entryOf({ task: 2 }));
  const ids = [{}, { skill: 0 }, { skill: 2 }, { attempt: 1 }, { try: 1 }].map((more) => entryOf(more));
  expect(new Set([...ids, entryOf({}, 'other')]).size).toBe(6);
  for (const id of ids) expect(id).toMatch(/^session\/[0-9a-f]+$/);
});
