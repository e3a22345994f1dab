import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MadeWorld, WorldTask } from './server.ts';

/** Lays out a session on a world: its seed skill, its tasks as a prompt pack, and a config with further keys. */
export function layOutWorld(dir: string, world: MadeWorld, config: Readonly<Record<string, unknown>>): void {
  const { skill, train, selection, test } = world.tasks;
  mkdirSync(join(dir, 'rulebook'), { recursive: true });
  writeFileSync(join(dir, 'rulebook', 'SKILL.md'), skill);
  const entry = ({ id, prompt, answer }: WorldTask) => ({ id, prompt, checks: [{ equals: answer, after: 'ANSWER:' }] });
  const tasks = [...train, ...selection, ...test].map(entry);
  writeFileSync(join(dir, 'tasks.json'), JSON.stringify({ version: 1, noAnswer: ['^INFRA_ERROR'], tasks }));
  const ids = (list: readonly WorldTask[]) => list.map((t) => t.id);
  const reached = { baseUrl: world.models, keyEnv: null };
  const file = {
    skill: 'rulebook',
    pack: 'tasks.json',
    backend: 'chat',
    model: { model: 'openai-compatible/target', ...reached, sendSeed: true },
    optimizer: { model: 'openai-compatible/optimizer/hand-in', ...reached, tools: false },
    splits: { train: ids(train), selection: ids(selection), test: ids(test) },
    ...config,
  };
  writeFileSync(join(dir, 'skillopt.config.json'), JSON.stringify(file, null, 2));
}
