import { type Ended, Place, type Running } from './binary.ts';
import { ModelServer, type Question, type Said } from './model-server.ts';
import { writeFiles } from './own-pack.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

// A session in which models do the work: a quiz about numbers, a target that answers in the form that is asked for only
// if the skill tells it, and an optimizer that reads the answers that failed. Both are deterministic.

/** The two lines that the seed lacks. Sums need the first, numbers of base 16 both. */
export const lines = {
  form: 'End with a line that begins with ANSWER: and holds the answer alone.',
  base: 'Begin numbers of base 16 with 0x.',
} as const;

export const seedSkill = `---
name: quiz
description: Answers short questions about numbers. Use it for every question of a quiz.
---
# Quiz

Answer the question.
`;
export const bestSkill = `${seedSkill}${lines.base}\n${lines.form}\n`;

/** Tasks by split; the first word of an id names the kind of question. */
export const splits = {
  train: ['sum-ada', 'sum-bo', 'base-cy', 'base-di'],
  selection: ['sum-eve', 'sum-fay', 'sum-gus', 'base-hal', 'base-ida', 'base-jon'],
  test: ['sum-kim', 'sum-lea', 'base-max', 'base-nia'],
} as const;
const ids = Object.values(splits).flat();

/** The number that a task is about; those of base 16 are long enough to be told from ordinary text. */
const numberOf = (id: string): number => (40 + 7 * ids.indexOf(id as never)) * (id.startsWith('sum-') ? 1 : 50_000_017);

/** A pattern by which one test task is checked beside its value. */
export const pattern = '^0x[0-9a-f]{9,12}$';

/** What is asked. */
export function promptOf(id: string): string {
  const number = numberOf(id);
  return id.startsWith('sum-') ? `How much is ${number} plus 1?` : `How is ${number} written in base 16?`;
}

/** The checks of a task. */
function checksOf(id: string): readonly object[] {
  if (id.startsWith('sum-')) return [{ number: numberOf(id) + 1, after: 'ANSWER:' }];
  const value = { equals: `0x${numberOf(id).toString(16)}`, after: 'ANSWER:' };
  return id === splits.test[2] ? [value, { regex: pattern, after: 'ANSWER:' }] : [value];
}

/** What a task's check compares with. */
export const expectedOf = (id: string): string => String(Object.values(checksOf(id)[0] ?? {})[0]);

/** Id of the task that a target is asked. */
export const taskOf = (question: Question): string =>
  ids.find((id) => question.turns[0]?.text.includes(promptOf(id))) ?? '';

/** What the target says: the answer in words of its own, unless the skill tells how it is to be written. */
export function target({ system, turns }: Question): Said {
  const asked = turns.at(-1)?.text ?? '';
  const [, number = '', sum] = /(\d+) (plus 1)?/.exec(asked) ?? [];
  const digits = sum ? String(Number(number) + 1) : Number(number).toString(16);
  const answer = !sum && system.includes(lines.base) ? `0x${digits}` : digits;
  return { text: system.includes(lines.form) ? `Let me see.\nANSWER: ${answer}` : `I think it is ${answer}, or so.` };
}

/** An edit as the optimizer hands it in. */
export type QuizEdit = {
  readonly op: string;
  readonly target: string;
  readonly content: string;
  readonly cites: readonly string[];
  readonly reason: string;
};
export const insert = (content: string, cites: readonly string[]): QuizEdit => ({
  op: 'insert_after',
  target: 'Answer the question.',
  content,
  cites,
  reason: `It was not said: ${content}`,
});

/** The edits that answer the rollouts that it was shown: id of a task → what was asked and done. */
function editsFor(shown: ReadonlyMap<string, string>): readonly QuizEdit[] {
  const all = [...shown].toSorted(([a], [b]) => b.localeCompare(a)); // sums first: the form alone mends them
  const told = (text: string) => /^(\d+\| )?ANSWER: /m.test(text);
  const formless = all.filter(([, text]) => !told(text)).map(([id]) => id);
  const bare = all.filter(([, text]) => told(text) && text.includes('base 16')).map(([id]) => id);
  return [
    ...(formless.length > 0 ? [insert(lines.form, formless)] : []),
    ...(bare.length > 0 ? [insert(lines.base, bare)] : []),
  ];
}

/** What the optimizer says: by tools it lists, reads every failing rollout, and hands in; else all at once. */
export function optimizer({ turns, tools }: Question): Said {
  const hand = (edits: readonly QuizEdit[]) => ({ summary: 'The form was missing.', edits });
  if (tools.length === 0) {
    const [, ...blocks] = (turns[0]?.text ?? '').split(/^(?=Failing task )/m);
    const shown = blocks.map(
      (b) => [b.split(/\s/)[2] ?? '', b.split(/^(?:Passing task|These pass)/m)[0] ?? ''] as const,
    );
    return { text: `Here it is.\n${JSON.stringify(hand(editsFor(new Map(shown))))}` };
  }
  const last = turns.at(-1);
  const calls = turns.at(-2)?.calls ?? [];
  switch (calls[0]?.name) {
    case undefined:
      return { text: 'First I look.', calls: [{ name: 'list_rollouts', input: {} }] };
    case 'list_rollouts': {
      const [failing = ''] = (last?.results[0] ?? '').split('Passing:');
      const found = [...failing.matchAll(/^- ([\w-]+): \d+ lines/gm)].map(([, id]) => id);
      return { calls: found.map((id) => ({ name: 'read_rollout', input: { id } })) };
    }
    default: {
      const shown = calls.map((c, at) => [(c.input as { id: string }).id, last?.results[at] ?? ''] as const);
      return { calls: [{ name: 'hand_in', input: hand(editsFor(new Map(shown))) }] };
    }
  }
}

/** Both, told apart by the name of the model. */
export const quizPlay = (question: Question): Said => (question.model === 'target' ? target : optimizer)(question);

const pack = {
  version: 1,
  name: 'quiz',
  tasks: ids.map((id) => ({ id, prompt: promptOf(id), checks: checksOf(id) })),
};

export type QuizOptions = {
  readonly provider?: 'openai-compatible' | 'anthropic';
  /** Keys of the config. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Keys of both models. */
  readonly model?: Readonly<Record<string, unknown>>;
  /** Keys of the optimizer's model alone; a `model` of its own has another provider. */
  readonly optimizer?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly play?: (question: Question) => Said;
};

/** Skill, pack and session (in `session/`) in a place of their own, and the server that both models are at. */
export class QuizSession {
  readonly place = new Place();
  readonly server: ModelServer;

  constructor(private readonly options: QuizOptions = {}) {
    this.server = new ModelServer(options.play ?? quizPlay);
    writeFiles(this.place.dir, { 'quiz/SKILL.md': seedSkill, 'pack/tasks.json': JSON.stringify(pack) });
    this.configure();
  }

  /** Writes the config, with other values for some keys. */
  configure(more: Readonly<Record<string, unknown>> = {}): void {
    const { provider = 'openai-compatible', model = {}, optimizer: reader = {}, config = {} } = this.options;
    const at = { baseUrl: this.server.url, ...model };
    const named = typeof reader.model === 'string' ? reader : { ...at, ...reader, model: `${provider}/optimizer` };
    const whole = {
      skill: '../quiz',
      pack: '../pack',
      backend: 'chat',
      model: { ...at, model: `${provider}/target` },
      optimizer: named,
      splits,
      search: { draftSize: 1, dryRounds: 2, memory: true },
      budget: { rollouts: 100 },
      workers: 4,
      ...config,
      ...more,
    };
    writeFiles(this.place.dir, { 'session/skillopt.config.json': JSON.stringify(whole, null, 2) });
  }

  /** The environment of its commands. */
  get env(): Readonly<Record<string, string>> {
    return { TMPDIR: this.place.temp, ...this.options.env };
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    return this.place.start(args, { env: { ...this.env, ...env } });
  }

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.start(args, env).ended;
  }

  succeed(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.place.succeed(args, { env: { ...this.env, ...env } });
  }

  inTerminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
    return Terminal.open(this.place, args, { ...options, env: { ...this.env, ...options.env } });
  }

  get events() {
    return this.place.events('session');
  }

  /** The requests that one of the models got. */
  asked(model: 'target' | 'optimizer'): readonly Question[] {
    return this.server.asked.filter((q) => q.model === model);
  }
}
