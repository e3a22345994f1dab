import { type Ended, Place, type Running } from './binary.ts';
import { ModelServer, type Question, type Said } from './model-server.ts';
import { writeFiles } from './own-pack.ts';

// A session that optimizes a description: prompts of a harbour, half of which the skill is meant for. The model that is
// asked opens a skill when a prompt shares a word with its description, unless with what it is said not to be for.

export const body = `
# Tides

Look the port up in the almanac and add the hour of summer time.
`;
/** Prompts about water and ebb are missed by it, and those about tables of wood open it in vain. */
export const seedSkill = `---
name: tides
description: Works with tide tables. # as the harbour master calls them
license: MIT
---
${body}`;
export const bestDescription =
  'Works with tide times. Use it when somebody asks for high water. Also for the ebb in a harbour.';

const ports = ['Alba', 'Brig', 'Corvo', 'Dune', 'Elm', 'Fano'];
/** What is asked, by kind; the first word of an id is the kind. */
const prompts: Readonly<Record<string, (port: string) => string>> = {
  water: (port) => `The mail boat wants in at ${port} on Friday: from when on is the water high enough?`,
  ebb: (port) => `At ${port} the pilots only leave during ebb. When does that begin tonight?`,
  table: (port) => `Lay a table in the mess of ${port} for twelve guests, with a plan of who sits where.`,
  wage: (port) => `What does the crew of ${port} earn in a month, overtime included?`,
};
const meant: Readonly<Record<string, boolean>> = { water: true, ebb: true, table: false, wage: false };

export const tasks = Object.entries(prompts).flatMap(([kind, prompt]) =>
  ports.map((port) => ({ id: `${kind}-${port.toLowerCase()}`, prompt: prompt(port), should_trigger: meant[kind] })),
);
const otherSkills = [
  { name: 'payroll', description: 'Books what crews earn. Use it for overtime and wages.' },
  { name: 'weather', description: 'Reads forecasts of wind and swell.' },
];
const pack = { version: 1, name: 'harbour', otherSkills, tasks };

const plain = new Set([
  'with',
  'for',
  'when',
  'the',
  'in',
  'it',
  'a',
  'of',
  'and',
  'is',
  'use',
  'also',
  'at',
  'what',
  'not',
]);
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^a-z]+/)
      .map((word) => word.replace(/s$/, ''))
      .filter((word) => word.length > 1 && !plain.has(word)),
  );

/** The skill that shares most words with the prompt. */
export function target({ system, turns }: Question): Said {
  const prompt = wordsOf((turns.at(-1)?.text ?? '').split('\n---\n')[0] ?? '');
  const listed = [...system.matchAll(/^- ([\w-]+): (.*)$/gm)].map(([, name = '', description = '']) => {
    const shared = [...wordsOf(description)].filter((word) => prompt.has(word)).length;
    return { name, shared };
  });
  const best = listed.toSorted((a, b) => b.shared - a.shared)[0];
  return { text: best === undefined || best.shared === 0 ? 'None.' : `\`${best.name}\`` };
}

/** One edit for each kind of prompt that goes wrong. */
export function optimizer({ turns }: Question): Said {
  const first = turns[0]?.text ?? '';
  const wrong = first.split('It went right at these')[0] ?? '';
  const ids = (kind: string) => [...wrong.matchAll(new RegExp(`^(${kind}-\\w+): `, 'gm'))].map(([, id]) => id);
  const edit = (kind: string, op: string, at: string, content: string) =>
    ids(kind).length === 0
      ? []
      : [{ op, target: at, content, cites: ids(kind), reason: `It says nothing of ${kind}.` }];
  const edits = [
    ...edit('table', 'replace', 'tables', 'times'),
    ...edit('water', 'append', '', 'Use it when somebody asks for high water.'),
    ...edit('ebb', 'append', '', 'Also for the ebb in a harbour.'),
  ];
  return { text: JSON.stringify({ summary: 'Words were missing.', edits }) };
}

export const play = (question: Question): Said => (question.model === 'target' ? target : optimizer)(question);

/** Skill, pack and session (in `session/`) in a place of their own, and the server that both models are at. */
export class TidesSession {
  readonly place = new Place();
  readonly server: ModelServer;

  constructor(options: { readonly play?: (question: Question) => Said } = {}) {
    this.server = new ModelServer(options.play ?? play);
    writeFiles(this.place.dir, { 'tides/SKILL.md': seedSkill });
    this.bringPack(pack);
    this.configure();
  }

  bringPack(value: object): void {
    writeFiles(this.place.dir, { 'pack/tasks.json': JSON.stringify(value) });
  }

  /** Writes the config, with other values for some keys. */
  configure(more: Readonly<Record<string, unknown>> = {}): void {
    const model = (name: string) => ({ model: `openai-compatible/${name}`, baseUrl: this.server.url, tools: false });
    const whole = {
      skill: '../tides',
      pack: '../pack',
      backend: 'chat',
      optimize: 'description',
      seed: '18', // two prompts of each kind in each split
      model: model('target'),
      optimizer: model('optimizer'),
      search: { draftSize: 3, dryRounds: 2, memory: true },
      budget: { rollouts: 120 },
      workers: 4,
      ...more,
    };
    writeFiles(this.place.dir, { 'session/skillopt.config.json': JSON.stringify(whole, null, 2) });
  }

  start(args: readonly string[]): Running {
    return this.place.start(args);
  }

  run(args: readonly string[]): Promise<Ended> {
    return this.place.run(args);
  }

  succeed(args: readonly string[]): Promise<Ended> {
    return this.place.succeed(args);
  }

  asked(model: 'target' | 'optimizer'): readonly Question[] {
    return this.server.asked.filter((q) => q.model === model);
  }
}
