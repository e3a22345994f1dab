import { existsSync } from 'node:fs';
import { walls } from '../../rollout/local/sandbox-fixture.ts';
import { type Ended, jsonOf, type LogLine, Place, type Running } from '../binary.ts';
import { type EvalJson, evalEvents } from '../evals.ts';
import { writeFiles } from '../own-pack.ts';
import { type AgentRow, agentsPath, type RowModel } from './agent-rows-fixture.ts';
import { type ScriptedFault, ScriptedModel } from './scripted-model-fixture.ts';
import type { ScriptedPlay } from './scripted-script-fixture.ts';

/** The key that only this program and the model may ever see. */
export const realKey = 'sk-e2e-real-0123456789abcdef';
/** Stands wherever an agent might look that is not its own place. */
export const foreign = 'FOREIGN-TEXT-OF-SOMEBODY-ELSE';
/** A line of the body that stands nowhere else. */
export const bodyMark = 'Widgets are made of one line, as BODY-MARK says.';

const head = 'name: widget\ndescription: SCRIPTED Makes widgets. Use when asked for a widget.\n';
const skill = `---
${head}---
# Widgets

${bodyMark}
The first command makes it, and shows what its processes know.

DO: echo widget-ok > widget.txt; env; xargs -0 < /proc/1/environ
SAY: WIDGET-DONE
`;

const taskFiles = (name: string) => ({
  [`pack/${name}/task.toml`]: 'version = "1.0"\n[agent]\ntimeout_sec = 300\n[verifier]\ntimeout_sec = 60\n',
  [`pack/${name}/instruction.md`]: 'Please make a widget: a file widget.txt in the current folder.\n',
  [`pack/${name}/environment/Dockerfile`]: 'FROM debian:12\nWORKDIR /app\n',
  [`pack/${name}/tests/test.sh*`]: `#!/bin/bash
[ "$(cat "$APP_DIR/widget.txt" 2> /dev/null)" = widget-ok ] && reward=1 || reward=0
echo $reward > "$LOGS_DIR/verifier/reward.txt"
`,
});

export type BenchOptions = {
  readonly play?: ScriptedPlay;
  readonly fault?: ScriptedFault;
  /** What is done to the skill's text. */
  readonly skill?: (text: string) => string;
  readonly args?: readonly string[];
  /** In place of the row's model. */
  readonly other?: RowModel;
  /** Keys of the model beside its name and address. */
  readonly model?: Readonly<Record<string, unknown>>;
};

export type BenchEnd = {
  readonly end: Ended;
  /** Null = it failed before there was one. */
  readonly report: EvalJson | null;
  readonly outcomes: readonly Outcome[];
};

type Outcome = {
  readonly hasSkill: boolean;
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly usage: Readonly<Record<string, number | null>>;
  readonly exit: string;
};

/** One agent against a scripted model, measured by the built binary on a task of its own, in a home with foreign texts. */
export class AgentBench {
  readonly place = new Place();
  readonly model = new ScriptedModel();

  constructor(private readonly row: AgentRow) {}

  /** Starts `skillopt eval` for it. */
  async start(o: BenchOptions = {}): Promise<Running> {
    this.model.play = o.play ?? 'obey';
    this.model.fault = o.fault ?? null;
    await this.model.start();
    const theirs = { ...shadows('home'), 'CLAUDE.md': foreign, 'AGENTS.md': foreign, 'GEMINI.md': foreign };
    writeFiles(this.place.dir, { ...theirs, ...taskFiles('make'), 'widget/SKILL.md': (o.skill ?? String)(skill) });
    const { agent } = this.row;
    const { model, basePath, protocols } = o.other ?? this.row;
    const named = { model, baseUrl: `${this.model.url}${basePath}`, keyEnv: 'E2E_KEY', protocols, ...o.model };
    const consent = walls.kind === 'none' ? ['--allow-unsandboxed'] : [];
    const common = ['--skill', 'widget', '--pack', 'pack', '--agent', agent, '--set', `model=${JSON.stringify(named)}`];
    const args = ['eval', ...common, '--out', 'out', '--yes', '--json', ...consent, ...(o.args ?? [])];
    return this.place.start(args, { env: this.#env, deadlineMs: 280_000 });
  }

  /** The same to its end. */
  async run(o: BenchOptions = {}): Promise<BenchEnd> {
    const end = await (await this.start(o)).ended;
    await this.model.stop();
    return this.endOf(end);
  }

  endOf(end: Ended): BenchEnd {
    const told = existsSync(this.place.path('out/skillopt-eval.jsonl')) ? jsonOf(end) : {};
    const report = 'arms' in told ? (told as unknown as EvalJson) : null;
    return { end, report, outcomes: this.#finished.map(outcomeIn) };
  }

  get #finished(): readonly LogLine[] {
    return evalEvents(this.place, 'out').filter(({ type }) => type === 'rollout.finished');
  }

  /** The trajectories of the arm with the skill, as they are kept. */
  trajectories({ report }: BenchEnd): readonly string[] {
    const files = report?.tasks.flatMap(({ trajectories }) => trajectories.skill ?? []) ?? [];
    return files.map((file) => this.place.read(file));
  }

  get #env(): Readonly<Record<string, string>> {
    return { PATH: agentsPath, HOME: this.place.path('home'), TMPDIR: this.place.temp, E2E_KEY: realKey };
  }
}

/** What the user has installed for agents by the same name, and tells them. */
function shadows(home: string): Readonly<Record<string, string>> {
  const skills = ['.claude/skills', '.agents/skills', '.codex/skills', '.gemini/skills', '.pi/agent/skills'];
  const told = ['.claude/CLAUDE.md', '.codex/AGENTS.md', '.gemini/GEMINI.md', '.pi/agent/AGENTS.md'];
  const other = `---\n${head}---\n${foreign}\nSAY: ${foreign}\n`;
  return {
    ...Object.fromEntries(skills.map((folder) => [`${home}/${folder}/widget/SKILL.md`, other])),
    ...Object.fromEntries([...told, '.config/opencode/AGENTS.md'].map((file) => [`${home}/${file}`, foreign])),
  };
}

function outcomeIn(event: LogLine): Outcome {
  return {
    hasSkill: !String(event.key).startsWith('none/'),
    outcome: event.outcome as Outcome['outcome'],
    usage: event.usage as Outcome['usage'],
    exit: String(event.exit),
  };
}
