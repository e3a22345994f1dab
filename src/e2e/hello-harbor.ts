import { expect } from 'bun:test';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configShape } from '../config/schema.ts';
import { parseRehearsal, type RehearsalEdit } from '../optimizer/rehearsal.ts';
import { shortHash } from '../ports/hash.ts';
import type { FolderTask, SplitName } from '../ports/task.ts';
import type { Trajectory } from '../ports/trajectory.ts';
import { runProcess } from '../process/run-process.ts';
import { createRehearsalAgent } from '../rollout/agents/rehearsal.ts';
import { skillOps } from '../skill/skill-ops.ts';
import { readPack } from '../taskpack/read-pack.ts';

// The example as tests use it: its files, and its tasks performed in plain folders by the real agent and verifiers.

/** The folder of the example, and what is in it. */
export const example = join(import.meta.dir, '../../examples/hello-harbor');
export const seed = readFileSync(join(example, 'hello-harbor/SKILL.md'), 'utf8');
export const edits = parseRehearsal(readFileSync(join(example, 'rehearsal.json'), 'utf8'), 'rehearsal.json');
export const config = configShape.parse(JSON.parse(readFileSync(join(example, 'skillopt.config.json'), 'utf8')));
export const ops = skillOps(seed, { bundledFiles: [] });
export const pack = await readPack(join(example, 'tasks'));
export const tasks = pack.tasks.map((t) => t.id);
export const taskOf = (id: string): FolderTask => pack.tasks.find((t) => t.id === id)!;
export const taskDir = (id: string) => taskOf(id).dir;
export const instructionOf = (id: string) => taskOf(id).instruction;
export const splitOf = (name: SplitName): readonly string[] => {
  if ('ratio' in config.splits) throw new Error('the example names its splits');
  return config.splits[name];
};

/** Where the folders of all rollouts lie; whoever imports this removes it at the end. */
export const base = mkdtempSync(join(tmpdir(), 'skillopt-hello-harbor-'));

// -- one rollout in plain folders ------------------------------------------------------------------------------------

export type Room = { readonly task: string; readonly app: string; readonly logs: string; readonly skill: string };
let rooms = 0;

/** Fresh folders of one rollout: the task's files in `app`, the skill's text (null: none) beside them. */
export function roomFor(task: string, text: string | null): Room {
  const dir = join(base, String(rooms++));
  const room = { task, app: join(dir, 'app'), logs: join(dir, 'logs'), skill: join(dir, 'skill') };
  for (const d of [room.app, room.logs, room.skill]) mkdirSync(d, { recursive: true });
  for (const file of environmentFiles(task)) cpSync(join(taskDir(task), 'environment', file), join(room.app, file));
  if (text !== null) writeFileSync(join(room.skill, 'SKILL.md'), text);
  return room;
}

/** What the task puts into its workspace. */
export const environmentFiles = (task: string) =>
  readdirSync(join(taskDir(task), 'environment'))
    .filter((file) => file !== 'Dockerfile')
    .sort();

function runIn(room: Room, command: readonly [string, ...string[]]) {
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    APP_DIR: room.app,
    LOGS_DIR: room.logs,
    TESTS_DIR: join(taskDir(room.task), 'tests'),
  };
  return runProcess({ command, cwd: room.app, env, timeoutMs: 30_000 });
}

/** Runs the task's own solution. */
export const solve = (room: Room) => runIn(room, [join(taskDir(room.task), 'solution/solve.sh')]);

/** The verifier's word on the room as it stands: its reward, and the reason that it prints. */
export async function verify(room: Room): Promise<{ readonly reward: string; readonly reason: string }> {
  const end = await runIn(room, [join(taskDir(room.task), 'tests/test.sh')]);
  const file = join(room.logs, 'verifier/reward.txt');
  return { reward: existsSync(file) ? readFileSync(file, 'utf8').trim() : 'none', reason: end.stdout.trim() };
}

export type Rollout = { readonly passed: boolean; readonly trajectory: Trajectory };
const done = new Map<string, Promise<Rollout>>();

/** The rehearsal agent on a task with a skill. The same rollout is performed once: nothing in it draws by chance. */
export function rollout(task: string, text: string | null): Promise<Rollout> {
  const key = `${task}/${text === null ? 'none' : shortHash(text)}`;
  const before = done.get(key);
  if (before !== undefined) return before;
  const now = performRollout(task, text);
  done.set(key, now);
  return now;
}

async function performRollout(task: string, text: string | null): Promise<Rollout> {
  const room = roomFor(task, text);
  const end = await createRehearsalAgent().run({
    workspace: room.app,
    home: room.logs,
    host: { workspace: room.app, home: room.logs, logDir: room.logs, temp: room.logs },
    model: null,
    skillDir: text === null ? null : room.skill,
    instruction: instructionOf(task),
    logDir: room.logs,
    env: {},
    task: taskOf(task),
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    run: (command) => runIn(room, command),
  });
  expect(end.trouble).toBeNull();
  const { reward } = await verify(room);
  const trajectory = { agent: 'rehearsal', steps: end.steps, finalText: end.finalText, cut: 0, verifier: null };
  return { passed: reward === '1', trajectory };
}

/** Those of the tasks that pass with the skill, in their order. */
export async function passing(ids: readonly string[], text: string | null): Promise<readonly string[]> {
  const passed: string[] = [];
  for (const id of ids) if ((await rollout(id, text)).passed) passed.push(id);
  return passed;
}

/** The text with the edits applied one after the other, validated as in a run; throws where one does not fit. */
export function withEdits(text: string, list: readonly RehearsalEdit[]): string {
  return list.reduce((now, e) => {
    const applied = ops.apply(now, { ...e, cites: [] });
    if (!applied.ok) throw new Error(applied.detail);
    return applied.text;
  }, text);
}
