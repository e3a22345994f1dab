import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, symlinkSync, truncateSync } from 'node:fs';
import { taskFiles } from '../taskpack/pack-fixture.ts';
import { expectFailure, jsonOf, Place, removePlaces } from './binary.ts';
import { writeFiles } from './own-pack.ts';

afterAll(removePlaces);

/** Sources of each format, after what is public of it. */
const sources = {
  promptfoo: {
    'capitals/promptfooconfig.yaml': `description: Capitals
providers: [openai:some-model]
prompts: [file://prompt.txt]
tests:
  - description: France
    vars: {country: France}
    assert:
      - {type: equals, value: Paris}
      - type: llm-rubric
        value: is polite
  - file://more.csv
`,
    'capitals/prompt.txt': 'What is the capital of {{country}}?\n',
    'capitals/more.csv': 'country,__expected\nItaly,icontains: rome\nSpain,llm-rubric: is nice\n',
  },
  'skill-creator': {
    'capitals/SKILL.md': '---\nname: capitals\ndescription: Knows capitals.\n---\n# Capitals\n',
    'capitals/evals/evals.json': JSON.stringify({
      skill_name: 'capitals',
      evals: [
        {
          id: 1,
          prompt: 'Write a line.',
          files: ['evals/files/in.txt'],
          expectations: ['The output contains "Paris"', 'It is short'],
        },
        { id: 2, prompt: 'Draw a map.', expected_output: 'A map', expectations: ['It is pretty'] },
      ],
    }),
    'capitals/evals/files/in.txt': 'France\n',
    'capitals/evals/triggers.json':
      '[{"query": "Capital of Peru?", "should_trigger": true}, {"query": "2+2?", "should_trigger": false}]',
  },
  skillopt: {
    'capitals/train/items.json':
      '[{"id":"a","question":"A?","answers":["x"]},{"id":"b","question":"B?","answers":["x"]},{"id":"g","question":"E?","answers":["x"]}]',
    'capitals/val/items.jsonl': '{"id":"c","question":"C?","answer":"x"}\n{"id":"d","question":"D?","answer":"x"}\n',
    'capitals/test/items.csv': 'id,question,answer\ne,E?,x\nf,F?,x\nh,H?,x\n',
  },
  harbor: {
    ...Object.fromEntries(
      ['task-a', 'task-b', 'other'].flatMap((id) =>
        Object.entries(taskFiles(id)).map(([name, text]) => [`capitals/org/set/${name}`, text ?? '']),
      ),
    ),
    'capitals/org/set/task-steps/task.toml': '[[steps]]\nname = "a"\n',
    'capitals/org/set/task-steps/instruction.md': 'Two steps.\n',
  },
} as const;

const place = (files: Readonly<Record<string, string | Uint8Array>>) => {
  const here = new Place();
  writeFiles(here.dir, files as Record<string, string>);
  return here;
};

describe('import makes a pack', () => {
  test('of promptfoo tests', async () => {
    const here = place(sources.promptfoo);
    const end = await here.succeed(['import', 'capitals']);
    expect(end).toMatchObject({ stderr: '' });
    expect(end.stdout.split('\n')).toEqual([
      'imported    promptfoo: 2 tasks of 3 entries → capitals-pack',
      expect.stringMatching(/^left {8}promptfooconfig\.yaml:9 test 1: assert 2 \(llm-rubric\): a judging model/),
      expect.stringMatching(/^ {12}more\.csv:3 test 3: assert 1 \(llm-rubric\)/),
      expect.stringMatching(/^ {12}more\.csv:3 test 3: none of its asserts/),
      'unused      providers',
      expect.stringMatching(/^list {8}capitals-pack\/IMPORT\.md has all/),
      'next        skillopt eval --skill SKILL.md --pack capitals-pack',
      '',
    ]);
    expect(readdirSync(here.path('capitals-pack')).toSorted()).toEqual(['IMPORT.md', 'tasks.json']);
    expect(JSON.parse(here.read('capitals-pack', 'tasks.json'))).toEqual({
      version: 1,
      name: 'capitals-pack',
      tasks: [
        { id: 'France', prompt: 'What is the capital of France?', checks: [{ regex: '^Paris$' }] },
        { id: 'test-2', prompt: 'What is the capital of Italy?', checks: [{ contains: 'rome', ignoreCase: true }] },
      ],
    });
  });

  test('of the evals of a skill', async () => {
    const here = place(sources['skill-creator']);
    const result = jsonOf(await here.succeed(['import', 'capitals', '--to', 'deep/pack', '--json']));
    expect(result).toMatchObject({
      format: 'skill-creator',
      source: 'capitals',
      pack: here.path('deep/pack'),
      entries: 4,
      tasks: [
        { id: 'eval-1', from: 'evals/evals.json:1' },
        { id: 'capital-of-peru', from: 'evals/triggers.json:1' },
        { id: '2-2', from: 'evals/triggers.json:1' },
      ],
      next: 'skillopt eval --skill SKILL.md --pack deep/pack',
    });
    expect(here.read('deep/pack/evals/files/in.txt')).toBe('France\n');
    expect(here.read('deep/pack/IMPORT.md')).toMatch(/eval 1: “It is short”: a judge would have to/);
  });

  test('of a SkillOpt folder, with its splits', async () => {
    const here = place(sources.skillopt);
    const end = await here.succeed(['import', 'capitals']);
    expect(end.stdout).toContain('imported    skillopt: 7 tasks of 8 entries → capitals-pack\n');
    expect(end.stdout).toMatch(/^left {8}test\/items\.csv:2 item e of test: a leak: train asks the same/m);
    expect(JSON.parse(here.read('capitals-pack', 'splits.json'))).toEqual({
      splits: { train: ['a', 'b', 'g'], selection: ['c', 'd'], test: ['f', 'h'] },
    });
  });

  test('of a part of a Harbor dataset', async () => {
    const here = place(sources.harbor);
    const end = await here.succeed(['import', 'capitals', '--glob', 'org/*/task-*', '--to', 'mine']);
    expect(end.stdout).toContain('imported    harbor: 2 tasks of 3 entries → mine\n');
    expect(end.stdout).toMatch(/^left {8}org\/set\/task-steps a task: task\.toml:1: a task of several steps/m);
    expect(readdirSync(here.path('mine')).toSorted()).toEqual(['IMPORT.md', 'task-a', 'task-b']);
  });
});

describe('import refuses', () => {
  test.each(['promptfoo', 'skill-creator', 'skillopt', 'harbor'] as const)(
    'with --strict what is left of %s',
    async (format) => {
      const here = place(sources[format]);
      expectFailure(await here.run(['import', 'capitals', '--strict']), {
        code: 3,
        what: /not carried over as (it is|they are), and --strict asks for all$/,
        where: /./,
        fix: /leave --strict out/,
      });
      expect(readdirSync(here.dir)).toEqual(['capitals']);
    },
  );

  test('a place where something is, and one inside of the source', async () => {
    const here = place(sources.promptfoo);
    await here.succeed(['import', 'capitals']);
    const before = here.read('capitals-pack', 'tasks.json');
    const taken = {
      code: 2,
      what: /^something is there already, and nothing is written over$/,
      where: /capitals-pack$/,
      fix: /--to DIR$/,
    };
    expectFailure(await here.run(['import', 'capitals']), taken);
    expect(here.read('capitals-pack', 'tasks.json')).toBe(before);
    const inside = {
      code: 2,
      what: /inside of its source, which is never changed/,
      where: /capitals\/capitals-pack$/,
      fix: /--to \.\.\/capitals-pack$/,
    };
    expectFailure(await here.run(['import', '.'], { cwd: here.path('capitals') }), inside);
    expect(existsSync(here.path('capitals', 'capitals-pack'))).toBe(false);
  });

  test.each([
    ['nothing', ['import'], 2, /missing required argument/],
    [
      'a format that there is not',
      ['import', 'a', '--format', 'csv'],
      2,
      /'csv' is invalid\. Allowed choices are auto, skill-creator/,
    ],
    ['a source that is not there', ['import', 'gone'], 2, /no such source/],
    ['a folder of nothing', ['import', 'empty'], 2, /nothing here looks like tasks/],
    ['broken JSON', ['import', 'broken.json'], 3, /^not JSON/],
    ['broken YAML', ['import', 'broken.yaml'], 3, /^not YAML/],
    ['an empty file', ['import', 'empty.json'], 3, /^not JSON/],
    ['a huge file', ['import', 'huge.json'], 3, /has 60000000 bytes/],
    ['a link to nowhere', ['import', 'nowhere.json'], 2, /no such source/],
    ['evals that a judge alone could score', ['import', 'judge.json'], 3, /no task could be carried over/],
    ['a pattern that nothing fits', ['import', 'empty', '--glob', 'x/*'], 2, /nothing fits x\/\*/],
  ] as const)('%s', async (_name, args, code, what) => {
    const here = place({
      'empty/note.txt': '',
      'broken.json': '{"evals": [\n  {"id": }]}',
      'broken.yaml': 'tests:\n  - {a: b\nprompts: x\n',
      'empty.json': '',
      'huge.json': '[]',
      'judge.json': '{"evals": [{"id": 1, "prompt": "a", "expectations": ["It is nice"]}]}',
    });
    truncateSync(here.path('huge.json'), 60_000_000);
    symlinkSync('gone', here.path('nowhere.json'));
    const before = readdirSync(here.dir);
    const end = await here.run([...args]);
    expectFailure(end, { code, what, where: /./, fix: /./ });
    if (/broken/.test(args[1] ?? '')) expect(end.stderr).toMatch(/where {2}\/.*\/broken\.(json:2:10|yaml:3:1)\n/);
    expect(readdirSync(here.dir)).toEqual(before);
    expect(jsonOf(await here.run([...args, '--json']))).toMatchObject({ error: { what: expect.stringMatching(what) } });
  });
});
