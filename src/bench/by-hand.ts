import { closeSync, cpSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentModel } from '../rollout/agents/agent.ts';
import type { CliKind } from '../rollout/agents/cli/cli-kind.ts';
import { findProgram, startWords } from '../rollout/agents/cli/find-program.ts';
import type { AgentGround } from './agent-ground.ts';

/** Milliseconds of one task done by hand: in all, and of the agent's process alone. */
export type ByHand = { readonly wholeMs: number; readonly agentMs: number };

/**
 * Does a task as one would by hand, without this program: private folders with the skill where the agent looks for it, the
 * agent with the same switches and files straight at the model, the task's tests, and the folders away. Throws when the
 * tests do not pass.
 */
export async function byHand(
  kind: CliKind,
  o: {
    readonly ground: AgentGround;
    readonly task: string;
    readonly root: string;
    readonly path: string;
    readonly model: AgentModel;
  },
): Promise<ByHand> {
  const { ground, root, path, model } = o;
  const program = findProgram(kind.program, path);
  const words = program === null ? null : startWords(program);
  if (words === null) throw new Error(`${kind.program} can’t be started`);
  const at = (name: string) => join(root, name);
  const startedAt = performance.now();
  for (const name of ['app', 'home', 'tmp', 'logs/agent', 'logs/verifier', '.git'])
    mkdirSync(at(name), { recursive: true });
  cpSync(join(o.task, 'environment/note.txt'), at('app/note.txt'));
  for (const { base, path: where } of kind.skillMounts)
    cpSync(ground.skill, join(at(base === 'home' ? 'home' : 'app'), where, ground.skillName), { recursive: true });
  const { args, env, homeFiles } = kind.launch({
    workspace: at('app'),
    home: at('home'),
    temp: at('tmp'),
    logDir: at('logs/agent'),
    skillName: ground.skillName,
    model,
    protocol: kind.speaks.find((one) => model.protocols.includes(one)) ?? null,
    modelName: null,
    modelId: null,
    maxTurns: null,
    maxUsd: null,
    timeoutMs: 120_000,
    asRoot: process.getuid?.() === 0,
    mcp: {},
  });
  for (const [file, text] of Object.entries(homeFiles)) {
    mkdirSync(dirname(join(at('home'), file)), { recursive: true });
    writeFileSync(join(at('home'), file), text);
  }
  const all = { PATH: path, LANG: 'C.UTF-8', HOME: at('home'), TMPDIR: at('tmp'), APP_DIR: at('app') };
  const out = openSync(at('logs/agent/stdout'), 'w');
  const errors = openSync(at('logs/agent/stderr'), 'w');
  const agentAt = performance.now();
  const agent = Bun.spawn([...words, ...args], {
    cwd: at('app'),
    env: { ...all, ...env },
    stdin: new Blob([ground.instruction]),
    stdout: out,
    stderr: errors,
  });
  await agent.exited;
  const agentMs = performance.now() - agentAt;
  closeSync(out);
  closeSync(errors);
  const tests = Bun.spawn(['bash', join(o.task, 'tests/test.sh')], {
    cwd: at('app'),
    env: { ...all, LOGS_DIR: at('logs') },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  await tests.exited;
  const reward = readFileSync(at('logs/verifier/reward.txt'), 'utf8').trim();
  if (reward !== '1')
    throw new Error(`${kind.name} by hand did not pass: ${readFileSync(at('logs/agent/stderr'), 'utf8')}`);
  rmSync(root, { recursive: true });
  return { wholeMs: performance.now() - startedAt, agentMs };
}
