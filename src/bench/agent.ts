import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { agentsPath, foundAgents, missingAgents } from '../e2e/agents/agent-rows-fixture.ts';
import { ScriptedModel } from '../e2e/agents/scripted-model-fixture.ts';
import { upstreamOf } from '../models/index.ts';
import { cliKinds } from '../rollout/agents/cli/kinds.ts';
import { chooseSandbox, thisSandboxHost } from '../rollout/local/sandbox/choose.ts';
import { type AgentGround, layOutAgentGround, rolloutsIn } from './agent-ground.ts';
import { type ByHand, byHand } from './by-hand.ts';
import { type Measured, median } from './figure.ts';
import { inScratch, outputOf, plainEnvironment } from './scratch.ts';

/** The others take so long to start that a task of theirs is no matter of two seconds. */
const agents = ['claude-code', 'codex', 'pi'];
/** What the model thinks before each of its three answers: with it a task by hand takes about two seconds. */
const thinkingMs = 450;
const blocks = 6;
/** Rollouts in a row, and tasks by hand before and after them together. */
const inBlock = 4;

/**
 * What sandbox, relay, gateway and harness cost on a rollout of about two seconds, for each agent that is installed: from the
 * making of a rollout's folders to their removal, its verifier in between (`durationMs` of its line in the log of
 * `skillopt eval`, one worker), against the same done by hand (`by-hand.ts`): folders, skill, the agent with the same
 * switches straight at the model, the tests, the folders away. Nothing is taken off on either side. A block has rollouts
 * in a row, and as many tasks by hand, half of them before and half after; what is told is the median of the blocks'
 * ratios of medians.
 */
export async function agentFigures(binary: string): Promise<readonly Measured[]> {
  const sandbox = await chooseSandbox({ kind: 'auto', host: thisSandboxHost(agentsPath) });
  if (sandbox.kind === 'none') return [{ name: 'agent', unmeasured: sandbox.instead?.what ?? 'there are no walls' }];
  const missing = missingAgents.filter(({ agent }) => agents.includes(agent));
  const figures: Measured[] = missing.map(({ agent, why }) => ({ name: `agent, ${agent}`, unmeasured: why }));
  for (const { row, version } of foundAgents)
    if (agents.includes(row.agent)) figures.push(await agentFigure(binary, row, version));
  return figures;
}

type Row = (typeof foundAgents)[number]['row'];

function agentFigure(binary: string, row: Row, version: string): Promise<Measured> {
  return inScratch(async (folder) => {
    const model = new ScriptedModel();
    model.thinkingMs = thinkingMs;
    await model.start();
    try {
      const place = { binary, row, folder, url: model.url, ground: layOutAgentGround(folder, inBlock) };
      await block(place, 'warm');
      const all = { hand: [] as ByHand[], rollouts: [] as number[], ratios: [] as number[] };
      for (let n = 0; n < blocks; n++) {
        const { hand, rollouts } = await block(place, String(n));
        all.hand.push(...hand);
        all.rollouts.push(...rollouts);
        all.ratios.push(median(rollouts) / median(hand.map(({ wholeMs }) => wholeMs)));
      }
      const handMs = median(all.hand.map(({ wholeMs }) => wholeMs));
      const rolloutMs = median(all.rollouts);
      return {
        name: `agent, ${row.agent}`,
        what: `a rollout of ${row.agent} ${version} in walls and through the gateway, against the same by hand`,
        value: median(all.ratios),
        unit: '×',
        target: { atMost: 1.05 },
        n: all.rollouts.length,
        measured: { rolloutMs, byHandMs: handMs, agentByHandMs: median(all.hand.map(({ agentMs }) => agentMs)) },
        note: `blocks: ${all.ratios.map((ratio) => ratio.toFixed(3)).join(', ')}`,
      };
    } finally {
      await model.stop();
    }
  });
}

type Place = {
  readonly binary: string;
  readonly row: Row;
  readonly folder: string;
  readonly url: string;
  readonly ground: AgentGround;
};

async function block(place: Place, name: string) {
  const some = async (from: number, to: number) => {
    const list: ByHand[] = [];
    for (let n = from; n < to; n++) list.push(await oneByHand(place, n));
    return list;
  };
  const before = await some(0, inBlock / 2);
  const rollouts = await rolloutsMs(place, name);
  const after = await some(inBlock / 2, inBlock);
  return { hand: [...before, ...after], rollouts };
}

function oneByHand({ row, folder, url, ground }: Place, n: number): Promise<ByHand> {
  const kind = cliKinds.find(({ name }) => name === row.agent);
  if (kind === undefined) throw new Error(`there is no agent ${row.agent}`);
  const settings = { model: row.model, baseUrl: `${url}${row.basePath}`, keyEnv: 'KEY' };
  const upstream = upstreamOf(settings, { variables: { KEY: 'a-key' }, folder });
  return byHand(kind, {
    ground,
    task: ground.tasks[n] ?? '',
    root: join(folder, 'by-hand'),
    path: agentsPath,
    model: {
      id: upstream.id,
      name: upstream.model,
      baseUrl: url,
      key: 'a-key',
      protocols: upstream.protocols,
      contextTokens: null,
      maxOutputTokens: null,
    },
  });
}

/** Milliseconds of each rollout of an eval by the binary. Throws when one did not pass, or did not read the skill. */
async function rolloutsMs({ binary, row, folder, url, ground }: Place, name: string): Promise<readonly number[]> {
  const out = join(folder, `eval-${name}`);
  const model = JSON.stringify({ model: row.model, baseUrl: `${url}${row.basePath}`, keyEnv: 'BENCH_KEY' });
  const what = ['--skill', ground.skill, '--pack', ground.pack, '--agent', row.agent, '--set', `model=${model}`];
  await outputOf([binary, 'eval', ...what, '--out', out, '--workers', '1', '--yes', '--json'], {
    env: { ...plainEnvironment(folder), PATH: agentsPath, BENCH_KEY: 'sk-of-the-bench' },
  });
  const rollouts = rolloutsIn(join(out, 'skillopt-eval.jsonl'));
  const wrong = rollouts.find(({ outcome }) => outcome.hard !== 1 || outcome.read !== true);
  if (rollouts.length !== inBlock || wrong !== undefined)
    throw new Error(`not every rollout passed and read the skill: ${JSON.stringify(wrong)}`);
  rmSync(out, { recursive: true });
  return rollouts.map(({ durationMs }) => durationMs);
}
