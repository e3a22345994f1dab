import type { ModelSettings } from '../../config/model.ts';
import { agentsPath, foundAgents, requiredAgents } from '../../e2e/agents/agent-rows-fixture.ts';
import { ScriptedModel } from '../../e2e/agents/scripted-model-fixture.ts';
import { scriptedAnswer } from '../../e2e/agents/scripted-script-fixture.ts';
import { sha256 } from '../../ports/hash.ts';
import type { RolloutReport } from '../../ports/rollouts.ts';
import type { FolderTask } from '../../ports/task.ts';
import { all, never, request } from '../self-check-tools.ts';
import { withHostAgent } from './agent-mounts.ts';
import { type HarborBench, makeHarborBench } from './bench-fixture.ts';
import { harborModel } from './harbor-model.ts';
import { HarborRollouts } from './harbor-rollouts.ts';
import type { HarborOptions } from './options.ts';

// The coding agents themselves in Harbor's trials, against the scripted model. What it plays stands in the instruction,
// so that trials of one job meet different models.

/** A model for each agent, at an address that is put behind `http://127.0.0.1:PORT`. */
const models: Readonly<Record<string, { readonly model: string; readonly basePath: string }>> = {
  'claude-code': { model: 'anthropic/claude-opus-4-8', basePath: '' },
  codex: { model: 'openai/gpt-5', basePath: '/v1' },
  pi: { model: 'openai-compatible/scripted', basePath: '/v1' },
  opencode: { model: 'openai-compatible/scripted', basePath: '/v1' },
};

/** Agents of this machine that are run in Harbor. */
export const harborAgents: readonly string[] = foundAgents
  .map(({ row }) => row.agent)
  .filter((agent) => Object.hasOwn(models, agent));
/** Agents that have to be here (`REQUIRE_AGENTS`) and are not. */
export const lackingAgents: readonly string[] = Object.keys(models).filter(
  (agent) => requiredAgents.includes(agent) && !harborAgents.includes(agent),
);

export const widgetSkill = `---
name: widget
description: SCRIPTED Makes widgets. Use when asked for a widget.
---
# Widgets

Widgets are made of one line, as BODY-MARK says.

DO: echo widget-ok > widget.txt
SAY: WIDGET-DONE
`;

const faults = { '401': 401, '429': 429, '500': 500, hang: 'hang' } as const;
export type Fault = keyof typeof faults;

/** One agent in Harbor with its CLI mounted, against a model of its own. */
export class RealAgent {
  readonly model: ScriptedModel;
  #bench: HarborBench | null = null;

  /** `host`: where the model listens; it is named as this machine's own address all the same. */
  constructor(
    readonly agent: string,
    host = '127.0.0.1',
  ) {
    this.model = new ScriptedModel(host);
    this.model.play = (turn) => scriptedAnswer(/PLAY (ignore)/.test(turn.user) ? 'ignore' : 'obey', turn);
    this.model.fault = (turn) => {
      const named = /FAULT (401|429|500|hang)/.exec(turn.user)?.[1];
      return named === undefined ? null : faults[named as Fault];
    };
  }

  async start(more: Partial<HarborOptions> = {}): Promise<HarborBench> {
    await this.model.start();
    const named = models[this.agent];
    if (named === undefined) throw new Error(`there is no model for ${this.agent}`);
    const settings: ModelSettings = {
      model: named.model,
      baseUrl: `http://127.0.0.1:${this.model.port}${named.basePath}`,
      keyEnv: 'HARBOR_TEST_KEY',
    };
    const bench = await makeHarborBench({ agent: { name: this.agent }, concurrency: 8, ...more });
    this.#bench = bench;
    const { environment, agent } = bench.options;
    const { model, findings } = harborModel(settings, { agent, environment, login: 'key' });
    const broken = findings.filter(({ level }) => level === 'error');
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    const hostEnv = { ...bench.options.hostEnv, HARBOR_TEST_KEY: 'sk-harbor-test-0123456789abcdef' };
    const mounted = await withHostAgent({ ...bench.options, model, hostEnv }, agentsPath);
    if (mounted.options.mounted === undefined) throw new Error(JSON.stringify(mounted.findings));
    return { ...bench, options: mounted.options, backend: new HarborRollouts(mounted.options) };
  }

  async stop(): Promise<void> {
    await this.model.stop();
    await this.#bench?.close();
  }
}

/** A task that only the skill's body can solve. */
export function widgetTask(bench: HarborBench, id: string, say: string, agentTimeoutSec: number): Promise<FolderTask> {
  return bench.task({
    id,
    instruction: `Please make a widget: a file widget.txt in the current folder.\n${say}\n`,
    test: 'if [ "$(cat widget.txt)" = widget-ok ]; then echo 1; else echo 0; fi > "$LOGS_DIR/verifier/reward.txt"',
    agentTimeoutSec,
  });
}

const skill = { name: 'widget', hash: sha256(widgetSkill), text: widgetSkill, bundleDir: null };

/** Rolls them out in one call; the reports by the task's id, of the arm without the skill as `ID without`. */
export async function rollOut(
  bench: HarborBench,
  withSkill: readonly FolderTask[],
  without: readonly FolderTask[] = [],
): Promise<ReadonlyMap<string, RolloutReport>> {
  const requests = [
    ...withSkill.map((task) => request(task.id, task, skill)),
    ...without.map((task) => request(`${task.id} without`, task)),
  ];
  const reports = await all(bench.backend.performRollouts(requests, { signal: never() }));
  return new Map(reports.map((report) => [report.key, report]));
}

/** What a report comes to, in a few words. */
export function told(report: RolloutReport | undefined): string {
  if (report === undefined) return 'nothing';
  if (report.kind === 'failed') return `failed ${report.failure.code}`;
  if (report.kind === 'cancelled') return 'cancelled';
  const { outcome } = report.result;
  return outcome.status === 'scored' ? `scored ${outcome.hard} read ${outcome.read}` : `unscored ${outcome.reason}`;
}
