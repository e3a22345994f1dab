import { join } from 'node:path';

/** The simulated world as a server on the loopback address: it stands in for the models and knows the truth. */
export type WorldServer = { readonly base: string; stop(): Promise<void> };

/** Starts the server with the system's Python. Throws when there is none. */
export async function startWorldServer(): Promise<WorldServer> {
  const child = Bun.spawn(['python3', join(import.meta.dir, 'server.py'), '--port', '0'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const address = /listening on (\S+)/.exec(new TextDecoder().decode(value))?.[1];
  if (address === undefined) throw new Error('the world’s server did not start: is there a python3 (3.11 or newer)?');
  return {
    base: `http://${address}`,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** A world made for one run, with the addresses for the program and for the judge. */
export type MadeWorld = {
  /** Base URL of its chat models. */
  readonly models: string;
  readonly tasks: WorldTasks;
  /** True expected test score of a text. */
  truth(text: string): Promise<{ readonly test: number; readonly seed: number; readonly best: number }>;
  stats(): Promise<WorldStats>;
  forget(): Promise<void>;
};

export type WorldTask = { readonly id: string; readonly prompt: string; readonly answer: string };
export type WorldTasks = Readonly<Record<'train' | 'selection' | 'test', readonly WorldTask[]>> & {
  readonly skill: string;
};
export type WorldStats = {
  readonly rollouts: { readonly total: number; readonly errored: number; readonly test: number };
  readonly optimizer_calls: Readonly<Record<string, number>>;
  readonly unreadable_optimizer_prompts: number;
  readonly peak_in_flight: number;
};

export async function makeWorld(server: WorldServer, config: Readonly<Record<string, unknown>>): Promise<MadeWorld> {
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${server.base}${path}`, init);
    if (!answer.ok) throw new Error(`the world answered ${answer.status} to ${path}: ${await answer.text()}`);
    return answer.json();
  };
  const { id, base } = (await ask('/worlds', config)) as { id: string; base: string };
  return {
    models: `${server.base}${base}`,
    tasks: (await ask(`/w/${id}/tasks`)) as WorldTasks,
    async truth(text) {
      const said = (await ask(`/w/${id}/truth`, { skill: text })) as Record<'test' | 'seed_test' | 'best_test', number>;
      return { test: said.test, seed: said.seed_test, best: said.best_test };
    },
    stats: async () => (await ask(`/w/${id}/stats`)) as WorldStats,
    async forget() {
      await ask(`/w/${id}/forget`, {});
    },
  };
}
