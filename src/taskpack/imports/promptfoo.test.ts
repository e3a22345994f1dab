import { afterAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { imported, refused, removeImported } from './imports-fixture.ts';
import { knownAsserts } from './promptfoo-assert.ts';
import { assertOfText } from './promptfoo-rows.ts';

afterAll(removeImported);

const config = (text: string) => ({ 'promptfooconfig.yaml': text });

describe('a config', () => {
  test('becomes a task for each test, judged as before', async () => {
    const { report, task, score } = await imported(
      config(`
description: Capitals
providers: [openai:some-model]
prompts: ['What is the capital of {{country}}? {{hint}}']
defaultTest:
  vars: {hint: One word.}
  assert:
    - {type: not-icontains, value: sorry}
tests:
  - description: The French one
    vars: {country: France}
    assert:
      - {type: equals, value: Paris}
  - vars: {country: Italy, hint: In Italian.}
    assert:
      - {type: icontains, value: 'Rom{{ending}}', weight: 3}
  - vars: {country: Spain, ending: id}
    assert:
      - {type: icontains, value: 'MADR{{ending}}', weight: 3}
  - vars: {country: Peru}
    options: {disableDefaultAsserts: true, prefix: '# ', suffix: ' !'}
    assert: [{type: contains-all, value: [Lima, '{{country}}']}]
`),
    );
    expect(report.tasks.map(({ id }) => id)).toEqual(['The-French-one', 'test-3', 'test-4']);
    expect(report.entries).toBe(4);
    expect(task('The-French-one').instruction).toBe('What is the capital of France? One word.');
    expect(task('test-4').instruction).toBe('# What is the capital of Peru? One word. !');
    expect(['Paris', 'paris', 'Sorry, Paris', 'Paris.', ''].map((answer) => score('The-French-one', answer))).toEqual([
      1, 0.5, 0, 0.5, 0.5,
    ]);
    expect(['madrid', 'It is MADRID, sorry', 'Lisbon'].map((answer) => score('test-3', answer))).toEqual([
      1, 0.75, 0.25,
    ]);
    expect(['Lima in Peru', 'Peru: Lima', 'Lima'].map((answer) => score('test-4', answer))).toEqual([1, 1, 0]);
    expect(report.losses.filter((loss) => loss.kind === 'left').map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'test 2: assert 1 (icontains): the variable {{ending}} has no value',
      'test 2: assert 1 of defaultTest: its test is left',
      'test 2: none of its own asserts could be carried over: those of defaultTest alone would pass too easily',
    ]);
  });

  test('tells each thing that it leaves, with its line', async () => {
    const { told } = await imported(
      config(`prompts: ['{{q}}']
tests:
  - vars: {q: a}
    assert:
      - type: contains
        value: x
      - type: llm-rubric
        value: is polite
      - type: python
        value: file://grade.py
      - {type: contains, value: y, weight: 0}
      - {type: contains, value: z, transform: output.trim()}
  - vars: {q: b}
  - vars: {q: c}
    providerOutput: said
    assert: [{type: contains, value: x}]
  - vars: {q: d}
    assert: [{type: cost, threshold: 1}]
  - file://made.py:tests
  - huggingface://datasets/x
  - path: file://made.py
    config: {}
  - 7
scenarios: []
`),
    );
    expect(told('left')).toEqual([
      'promptfooconfig.yaml:24 scenarios: tests made of two lists; write them out as tests',
      'promptfooconfig.yaml:19 tests, entry 5: tests are made by a program (made.py:tests), which is not run here',
      expect.stringMatching(/^promptfooconfig.yaml:20 tests, entry 6: the tests lie elsewhere \(huggingface:/),
      'promptfooconfig.yaml:21 tests, entry 7: tests are made by a program, which is not run here',
      'promptfooconfig.yaml:23 tests, entry 8: it is neither a test nor the name of a file',
      'promptfooconfig.yaml:7 test 1: assert 2 (llm-rubric): a judging model would have to decide it',
      expect.stringMatching(/^promptfooconfig.yaml:9 test 1: assert 3 \(python\): it is a program/),
      'promptfooconfig.yaml:11 test 1: assert 4 (contains): with a weight of 0 it decides nothing',
      'promptfooconfig.yaml:12 test 1: assert 5 (contains): the answer is worked on by a program before',
      'promptfooconfig.yaml:13 test 2: it has no assert: nothing would score the task',
      'promptfooconfig.yaml:14 test 3: its answer is written down; there is nothing to ask a model',
      'promptfooconfig.yaml:16 test 3: assert 1: its test is left',
      expect.stringMatching(/^promptfooconfig.yaml:18 test 4: assert 1 \(cost\)/),
      expect.stringMatching(/^promptfooconfig.yaml:17 test 4: none of its asserts/),
    ]);
  });

  test('leaves a test that only what all tests share would score', async () => {
    const { report, told } = await imported(
      config(`prompts: ['{{q}}']
defaultTest: {assert: [{type: not-contains, value: sorry}]}
tests:
  - {vars: {q: a}, assert: [{type: llm-rubric, value: nice}]}
  - {vars: {q: b}}
`),
    );
    expect(report.tasks.map(({ id }) => id)).toEqual(['test-2']);
    expect(told('left').join('\n')).toContain('would pass too easily');
  });

  test('sets, weights, references and lists of values keep what they count for', async () => {
    const { task, score, told } = await imported(
      config(`prompts: ['{{q}} {{n}}']
assertionTemplates: {digit: {type: regex, value: '[0-9]'}}
tests:
  - vars: {q: Count, n: [1, 2]}
    assert:
      - type: assert-set
        weight: 4
        assert:
          - {type: contains, value: '{{n}}', weight: 3}
          - {type: starts-with, value: A}
      - {$ref: '#/assertionTemplates/digit'}
      - type: assert-set
        threshold: 0.5
        assert: [{type: contains, value: p}, {type: contains, value: q}]
      - {$ref: '#/no/such'}
  - vars: {q: All, n: [1, 2]}
    options: {disableVarExpansion: true}
    assert: [{type: contains, value: x}]
`),
    );
    expect(task('test-1-2').instruction).toBe('Count 2');
    expect(task('test-1-2').checks.map(({ weight }) => weight)).toEqual([3, 1, 1]);
    expect(['A 2', '2', 'A 1', 'none'].map((answer) => score('test-1-2', answer))).toEqual([1, 0.8, 0.4, 0]);
    const left = told('left');
    for (const name of ['1.1', '1.2'])
      expect(left.join('\n')).toContain(`test 1, combination ${name.at(-1)}: assert 3`);
    expect(left.filter((line) => /assert 3\.\d/.test(line))).toHaveLength(4);
    expect(left.filter((line) => /assert 4: it is no assert/.test(line))).toHaveLength(2);
    expect(left.filter((line) => /test 2: the variable \{\{n\}\} is no text/.test(line))).toHaveLength(1);
  });

  test('a threshold is told, and how to have it', async () => {
    const { told } = await imported(
      config(`prompts: [x]
tests: [{threshold: 0.5, assert: [{type: contains, value: a}, {type: contains, value: b}]}]
`),
    );
    expect(told('changed')).toEqual([expect.stringMatching(/test 1: threshold 0\.5.*"passThreshold": 0\.5/)]);
  });
});

describe('prompts', () => {
  const tests = 'tests: [{vars: {q: Why?}, assert: [{type: contains, value: a}]}]\n';

  test.each([
    ['none', '', { prompt: null }],
    ['a text', "prompts: 'Ask: {{q}}'", 'Ask: Why?'],
    ['a file', 'prompts: file://p/one.txt', 'First\nWhy?'],
    ['a file by its name alone', 'prompts: [p/one.txt]', 'First\nWhy?'],
    ['a file with a label', 'prompts: [{id: file://p/one.txt, label: short}]', 'First\nWhy?'],
    ['a map of files', 'prompts: {p/two.md: other}', '# Why?\n'],
    ['files by a pattern', 'prompts: file://p/*.md', '# Why?\n'],
    ['messages', 'prompts: file://p/chat.json', 'Why?'],
    ['messages in YAML', 'prompts: file://p/chat.yaml', 'Why? again'],
    ['lines of JSON', 'prompts: file://p/lines.jsonl', 'one Why?'],
    ['a table', 'prompts: file://p/table.csv', 'cell, Why?'],
  ])('%s', async (_name, prompts, expected) => {
    const files = {
      'p/one.txt': 'First\n{{q}}\n---\nSecond {{q}}\n',
      'p/two.md': '# {{q}}\n',
      'p/chat.json': '[{"role":"system","content":"Be {{q}}"},{"role":"user","content":"{{q}}"}]',
      'p/chat.yaml': '- {role: user, content: "{{q}} again"}\n',
      'p/lines.jsonl': '"one {{q}}"\n"two"\n',
      'p/table.csv': 'prompt,label\n"cell, {{q}}",a\n',
    };
    const given = { ...files, ...config(`${prompts}\n${tests}`) };
    if (typeof expected !== 'string') {
      expect(await refused(given)).toMatchObject({
        code: 'pack',
        where: expect.stringContaining('{{prompt}} has no value'),
      });
      return;
    }
    const { pack } = await imported(given);
    expect(pack.tasks[0]?.instruction).toBe(expected);
  });

  test('the text of the system goes before the skill', async () => {
    const { task } = await imported({
      'c.json': '[{"role":"system","content":"Be {{q}}"},{"role":"user","content":"{{q}}"}]',
      ...config(`prompts: file://c.json\n${tests}`),
    });
    expect(task('test-1').system).toBe('Be Why?');
  });

  test.each([
    ['exec:./make.sh', /made by a program/],
    ['file://make.py:ask', /made by a program/],
    ['langfuse://mine:1', /another service/],
    ['file://gone.txt', /gone\.txt is not there/],
    ['file://../out.txt', /lies outside/],
    ['file://*.txt', /no file fits/],
    ['file://picture.png', /no text file/],
    [
      '[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]',
      /several turns/,
    ],
    ['[{"role":"user","content":[{"type":"text"}]}]', /more than text/],
    ['{"contents": []}', /no list of messages/],
    ['{{ q | upper }}', /only \{\{variable\}\}/],
  ])('%s is left, with the reason', async (prompt, why) => {
    const given = config(
      JSON.stringify({ prompts: [prompt], tests: [{ vars: { q: 'x' }, assert: [{ type: 'contains', value: 'a' }] }] }),
    );
    expect(await refused(given)).toMatchObject({
      code: 'pack',
      what: 'no task could be carried over',
      where: expect.stringMatching(why),
    });
  });

  test('of several the first is used, or the one that a test names', async () => {
    const { task, told } = await imported(
      config(`prompts:
  - {raw: 'one {{q}}', label: a}
  - {raw: 'two {{q}}', label: 'b:long'}
  - {raw: 'three {{q}}', label: c}
tests:
  - {vars: {q: x}, assert: [{type: contains, value: a}]}
  - {vars: {q: x}, prompts: [b], assert: [{type: contains, value: a}]}
  - {vars: {q: x}, prompts: [zz], assert: [{type: contains, value: a}]}
`),
    );
    expect([task('test-1').instruction, task('test-2').instruction]).toEqual(['one x', 'two x']);
    expect(told('left')).toEqual([
      expect.stringMatching(/^promptfooconfig.yaml:4 another prompt/),
      expect.stringMatching(/:8 test 3: there is no prompt for it/),
      expect.stringMatching(/:8 test 3: assert 1: its test is left/),
    ]);
  });
});

describe('tests in files', () => {
  test('of every form are read with their lines', async () => {
    const { report, score, told } = await imported({
      't/a.yaml': '- {vars: {q: a}, assert: [{type: equals, value: A}]}\n- {vars: {q: j}, assert: [{type: pi}]}\n',
      't/b.json': '[{"vars": {"q": "b"},\n "assert": [{"type": "equals", "value": "B"}]}]',
      't/c.jsonl':
        '{"vars": {"q": "c"}, "assert": [{"type": "equals", "value": "C"}]}\n\n{"vars": {"q": "j"}, "assert": [{"type": "pi"}]}\n',
      't/d.csv':
        '\ufeffq,__expected,__expected2,__description,__suffix\nd,D,,Fourth,!\n"e\nf",icontains-any: E; F,not-contains:x,,\nj,llm-rubric:nice,,,\n',
      ...config(
        "prompts: ['{{q}}']\ntests:\n  - file://t/a.yaml\n  - t/b.json\n  - file://t/*.jsonl\n  - file://t/d.csv\n",
      ),
    });
    expect(report.tasks).toEqual([
      { id: 'test-1', from: 't/a.yaml:1' },
      { id: 'test-3', from: 't/b.json:1' },
      { id: 'test-4', from: 't/c.jsonl:1' },
      { id: 'Fourth', from: 't/d.csv:2' },
      { id: 'test-7', from: 't/d.csv:3' },
    ]);
    expect(['D', 'd'].map((answer) => score('Fourth', answer))).toEqual([1, 0]);
    expect(['e; f', 'E; Fx'].map((answer) => score('test-7', answer))).toEqual([1, 0.5]);
    expect(
      told('left')
        .filter((line) => !line.includes('none of'))
        .map((line) => line.split(' ')[0]),
    ).toEqual(['t/a.yaml:2', 't/c.jsonl:3', 't/d.csv:5']);
  });

  test('and such a file alone, with the variable prompt as what is asked', async () => {
    const { task } = await imported({ 'cases.csv': 'prompt,__expected\nSay A,contains:A\n' }, { path: 'cases.csv' });
    expect(task('test-1').instruction).toBe('Say A');
  });

  test.each([
    ['broken YAML', 'a.yaml', '- {vars: {q: a}\n- x', /a\.yaml:2:1$/, /^not YAML/],
    ['broken JSON', 'a.json', '[\n {"vars": ]', /a\.json:2:11$/, /^not JSON/],
    ['a broken line', 'a.jsonl', '{}\n{"vars": \n', /a\.jsonl:2$/, /^not JSON/],
    ['broken CSV', 'a.csv', 'q,__expected\n1,2,3\n', /a\.csv:2$/, /^not CSV/],
  ])('%s is told with its place', async (_name, file, text, where, what) => {
    expect(await refused({ [file]: text, ...config(`prompts: ['{{q}}']\ntests: file://${file}\n`) })).toMatchObject({
      code: 'pack',
      where: expect.stringMatching(where),
      what: expect.stringMatching(what),
    });
  });

  test('values that lie in files are copied in; programs and what lies outside are left', async () => {
    const { task, score, told } = await imported({
      'v/text.txt': ' Long text \n',
      'v/data.yaml': 'a: 1\n',
      'v/want.json': '{"k": [1]}',
      'v/all.yaml': 'q: file://v/text.txt\n',
      ...config(`prompts: ['{{q}}|{{d}}']
tests:
  - {vars: {q: file://v/text.txt, d: file://v/data.yaml}, assert: [{type: equals, value: file://v/want.json}]}
  - {vars: [v/all.yaml], assert: [{type: contains, value: x}]}
  - {vars: {q: file://v/make.js, d: x}, assert: [{type: contains, value: x}]}
  - {vars: {q: file://../up.txt, d: x}, assert: [{type: contains, value: x}]}
  - {vars: {q: ok, d: x}, assert: [{type: contains, value: file://check.py}, {type: equals, value: ok}]}
`),
    });
    expect(task('test-1').instruction).toBe('Long text|{"a":1}');
    expect(['{"k":[1]}', '{"k":[2]}'].map((answer) => score('test-1', answer))).toEqual([1, 0]);
    const left = told('left').join('\n');
    expect(left).toMatch(/test 2: the variable \{\{d\}\} has no value/);
    expect(left).toMatch(/test 3: the variable q: v\/make.js is a program/);
    expect(left).toMatch(/test 4: the variable q: \.\.\/up.txt lies outside/);
    expect(left).toMatch(/test 5: assert 1 \(contains\): check.py is a program/);
  });
});

describe('an assert as one text', () => {
  test.each([
    ['Paris', { type: 'equals', value: 'Paris' }],
    ['equals: Paris ', { type: 'equals', value: 'Paris' }],
    ['Note: this is text', { type: 'equals', value: 'Note: this is text' }],
    ['contains:a: b', { type: 'contains', value: 'a: b' }],
    ['not-icontains-any: a, b', { type: 'not-icontains-any', value: 'a, b' }],
    ['similar(0.8):Hello', { type: 'similar', value: 'Hello' }],
    ['similar:cosine(0.8):Hello', { type: 'similar:cosine', value: 'Hello' }],
    ['trajectory:tool-used:x', { type: 'trajectory:tool-used', value: 'x' }],
    ['is-json', { type: 'is-json' }],
    ['fn:output.length', { type: 'javascript', value: 'output.length' }],
    ['grade: be nice', { type: 'llm-rubric', value: 'be nice' }],
    ['file://a.py:check', { type: 'python', value: 'file://a.py:check' }],
    ['containsx: a', { type: 'equals', value: 'containsx: a' }],
  ])('%s', (text, assert) => {
    expect(assertOfText(text)).toEqual(assert as ReturnType<typeof assertOfText>);
  });
});

test('nothing is dropped silently: each assert is in a check, or in the list', async () => {
  const types = [...knownAsserts, 'odd'].flatMap((type) => [type, `not-${type}`]);
  const value = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.constantFrom('{{q}}', '{{gone}}', '{{ q | upper }}', 'file://gone.txt', '(a+)+'),
    fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 2 }),
    fc.constantFrom(null, 3, true, { a: 1 }, undefined),
  );
  const assert = fc.record({ type: fc.constantFrom(...types), value }, { requiredKeys: ['type'] });
  const odd = fc.constantFrom<unknown>('text', 7, null, {}, { type: 3 }, { type: 'contains', value: 'x', weight: -1 });
  const set = fc.record({
    type: fc.constant('assert-set'),
    assert: fc.array(assert, { maxLength: 3 }),
    threshold: fc.option(fc.constant(0.5), { nil: undefined }),
  });
  const tests = fc.array(
    fc.record({
      vars: fc.constantFrom({ q: 'a' }, { q: ['a', 'b'] }),
      assert: fc.array(fc.oneof(assert, assert, set, odd), { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(tests, async (drawn) => {
      // one task is always there, so that the import is one
      const sure = { vars: { q: 'sure' }, assert: [{ type: 'contains', value: 'x' }] };
      const all = [sure, ...drawn.map((one, index) => ({ ...one, vars: { ...one.vars, own: index } }))];
      const { report, pack } = await imported({
        'promptfooconfig.json': JSON.stringify({
          prompts: ['{{q}} {{own}}'],
          tests: all.map((one, index) => ({ ...one, vars: { ...one.vars, own: index } })),
        }),
      });
      const left = report.losses.filter((loss) => loss.kind === 'left').map(({ what }) => what);
      const checks = new Map(pack.tasks.map((task) => [task.id, task.kind === 'prompt' ? task.checks.length : 0]));
      for (const [index, one] of all.entries()) {
        const parts = Array.isArray(one.vars.q) ? one.vars.q.length : 1;
        const asserts = one.assert.flatMap((a) => (isSet(a) ? a.assert : [a])).length;
        const name = `test ${index + 1}`;
        for (let part = 1; part <= parts; part++) {
          const id = parts === 1 ? `test-${index + 1}` : `test-${index + 1}-${part}`;
          const mine = left.filter(
            (what) => what === name || what.startsWith(`${name}:`) || what.startsWith(`${name}, combination ${part}`),
          );
          const wholly = mine.some((what) => what === name || what === `${name}, combination ${part}`);
          const told = mine.filter(
            (what) => /: assert \d+(\.\d+)?( |$)/.test(what) && !/assert \d+ \(assert-set\)$/.test(what),
          );
          expect([id, checks.has(id)]).toEqual([id, !wholly]);
          if (!wholly) expect([id, (checks.get(id) ?? 0) + told.length]).toEqual([id, asserts]);
          else expect([id, told.length]).toEqual([id, asserts]);
        }
      }
    }),
    { numRuns: 40 },
  );
});

function isSet(value: unknown): value is { readonly assert: readonly unknown[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'assert-set';
}
