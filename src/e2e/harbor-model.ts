import { skillLines } from '../rollout/agents/rehearsal.ts';
import { Place } from './binary.ts';
import { edits, config as exampleConfig, instructionOf } from './hello-harbor.ts';
import { ModelServer, type Question, type Said } from './model-server.ts';
import { writeFiles } from './own-pack.ts';

// The bundled example done by agents with a model: a target that works by what the skill says once it has read it, and
// an optimizer that offers the example's good edits for the failures that it is shown. Both are deterministic.

const folded = (text: string): string => text.replace(/\s+/g, ' ').toLowerCase();

/** The commands of the skill's lines that speak of the task, in their order. */
export function commandsFor(skill: string, instruction: string): readonly string[] {
  return skillLines(skill).flatMap(({ phrase, command }) =>
    folded(instruction).includes(folded(phrase)) ? [command] : [],
  );
}

/** What the target says to the built-in agent: it reads the skill's file, does what fits, and ends. */
export function target({ system, turns, tools }: Question): Said {
  const byTools = tools.length > 0;
  const file = /^ {2}File: (.*)$/m.exec(system)?.[1];
  const [first, ...later] = turns;
  const replies = later.filter((t) => t.role === 'assistant').length;
  const blockOf = (command: string) => ({ text: `I run it.\n\`\`\`bash\n${command}\n\`\`\`` });
  if (file === undefined) return { text: 'Nobody has told me how this is done here.' };
  if (replies === 0)
    return byTools
      ? { text: 'The skill first.', calls: [{ name: 'read', input: { path: file } }] }
      : blockOf(`cat '${file}'`);
  if (replies > 1) return { text: 'It is done.' };
  const last = turns.at(-1);
  const commands = commandsFor(byTools ? (last?.results[0] ?? '') : (last?.text ?? ''), first?.text ?? '');
  if (commands.length === 0) return { text: 'No line of the skill speaks of this task.' };
  return byTools
    ? { calls: commands.map((command) => ({ name: 'bash', input: { command } })) }
    : blockOf(commands.join('\n'));
}

/** The good edits of the example that answer the tasks shown. */
function editsFor(shown: readonly string[]): readonly object[] {
  return edits
    .filter(({ kind }) => kind === 'useful' || kind === 'neutral')
    .flatMap(({ phrase, op, target: at, content, reason }) => {
      const cites = shown.filter((id) => folded(instructionOf(id)).includes(folded(phrase)));
      return cites.length === 0 ? [] : [{ op, target: at, content, reason, cites }];
    });
}

/** The hand-in for these tasks. */
export const handInFor = (shown: readonly string[]) => ({
  summary: 'Lines for these tasks were missing.',
  edits: editsFor(shown),
});

/** What the optimizer says: it lists, reads every failing rollout, and hands in. */
export function optimizer({ turns }: Question): Said {
  const last = turns.at(-1);
  const calls = turns.at(-2)?.calls ?? [];
  switch (calls[0]?.name) {
    case undefined:
      return { calls: [{ name: 'list_rollouts', input: {} }] };
    case 'list_rollouts': {
      const [failing = ''] = (last?.results[0] ?? '').split('Passing:');
      const found = [...failing.matchAll(/^- ([\w-]+): \d+ lines/gm)].map(([, id]) => id);
      return { calls: found.map((id) => ({ name: 'read_rollout', input: { id } })) };
    }
    case 'read_rollout': {
      const shown = calls.map((c) => (c.input as { id: string }).id);
      return { calls: [{ name: 'hand_in', input: handInFor(shown) }] };
    }
    default:
      return { text: 'There is nothing more to say.' };
  }
}

/** What the target says when the built-in agent is the optimizer: it reads rules and index, writes its hand-in, and ends. */
export function targetProposes({ turns }: Question): Said {
  const told = turns[0]?.text ?? '';
  const [rules = ''] = /\/\S*\/RULES\.md/.exec(told) ?? [];
  const [handIn = ''] = /\/\S*\/proposal\.json/.exec(told) ?? [];
  switch (turns.filter((t) => t.role === 'assistant').length) {
    case 0:
      return { calls: [rules, rules.replace('RULES', 'index')].map((path) => ({ name: 'read', input: { path } })) };
    case 1: {
      const [failing = ''] = (turns.at(-1)?.results[1] ?? '').split(/^These pass/m);
      const shown = [...failing.matchAll(/([\w-]+) · failing\//g)].map(([, id]) => id ?? '');
      const content = JSON.stringify(handInFor(shown), null, 2);
      return { calls: [{ name: 'write', input: { path: handIn, content } }] };
    }
    default:
      return { text: 'It is handed in.' };
  }
}

export type HarborOptions = {
  readonly provider?: 'openai-compatible' | 'anthropic';
  /** Keys of the config; undefined takes one away. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Keys of both models, and of the target's alone. */
  readonly models?: Readonly<Record<string, unknown>>;
  readonly model?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly target?: (question: Question) => Said;
  /** Milliseconds that one command may take. */
  readonly deadlineMs?: number;
};

/** The bundled example with a model that does its tasks, as a session in `session/`. */
export class HarborSession {
  readonly place = new Place();
  readonly server: ModelServer;

  constructor(private readonly options: HarborOptions = {}) {
    const { provider = 'openai-compatible', config = {}, models = {}, model = {} } = options;
    const does = options.target ?? target;
    this.server = new ModelServer((q) => (q.model === 'target' ? does(q) : optimizer(q)));
    const baseUrl = this.server.url;
    const { splits } = exampleConfig;
    const whole = {
      skill: 'example:hello-harbor',
      pack: 'example:hello-harbor',
      agent: 'builtin',
      model: { model: `${provider}/target`, baseUrl, ...models, ...model },
      optimizer: { model: `${provider}/optimizer`, baseUrl, ...models },
      allowUnsandboxed: true,
      splits,
      search: { draftSize: 2, dryRounds: 2, memory: true },
      budget: { rollouts: 60 },
      workers: 4,
      ...config,
    };
    writeFiles(this.place.dir, { 'session/skillopt.config.json': JSON.stringify(whole, null, 2) });
  }

  private get env(): Readonly<Record<string, string>> {
    return { PATH: process.env.PATH ?? '/usr/bin:/bin', TMPDIR: this.place.temp, ...this.options.env };
  }

  private get how() {
    const { deadlineMs } = this.options;
    return { env: this.env, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
  }

  run(args: readonly string[]) {
    return this.place.run(args, this.how);
  }

  succeed(args: readonly string[]) {
    return this.place.succeed(args, this.how);
  }

  /** The outcomes of finished rollouts, with their arm: whether a skill was there. */
  get outcomes(): readonly { readonly hasSkill: boolean; readonly outcome: Readonly<Record<string, unknown>> }[] {
    return this.place
      .events('session')
      .filter((e) => e.type === 'rollout.finished')
      .map((e) => ({
        hasSkill: !String(e.key).startsWith('none/'),
        outcome: e.outcome as Readonly<Record<string, unknown>>,
      }));
  }

  asked(model: 'target' | 'optimizer'): readonly Question[] {
    return this.server.asked.filter((q) => q.model === model);
  }
}
