import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import type { Question, Said } from './model-server.ts';
import { hashOf, writeFiles } from './own-pack.ts';
import {
  bestSkill,
  expectedOf,
  insert,
  lines,
  optimizer,
  pattern,
  promptOf,
  type QuizOptions,
  QuizSession,
  seedSkill,
  splits,
  target,
} from './quiz.ts';
import { performedAgain } from './sessions.ts';

afterAll(removePlaces);

const key = 'sk-ant-e2e-0123456789abcdefghij';

/** Every file below the session's folder that holds a text. */
function filesWith(own: QuizSession, text: string): readonly string[] {
  return readdirSync(own.place.path('session'), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((f) => f.isFile())
    .map((f) => `${f.parentPath}/${f.name}`)
    .filter((path) => readFileSync(path, 'latin1').includes(text));
}

describe('models make a skill better', () => {
  const ways: readonly (readonly [string, QuizOptions, number])[] = [
    ['openai-compatible, at once', { model: { tools: false } }, 1],
    ['openai-compatible, by tools', {}, 3],
    ['anthropic, by tools', { provider: 'anthropic', env: { ANTHROPIC_API_KEY: key } }, 3],
  ];
  test.each(ways)('%s', async (_name, options, callsEach) => {
    const own = new QuizSession(options);
    const sources = hashOf(own.place.path('quiz')) + hashOf(own.place.path('pack'));
    const run = await own.succeed(['run', 'session', '--yes']);
    expect(run.stdout).toMatch(/^step 1 .*\n +ACCEPT · selection 3\/6 against 0\/6/m);
    expect(run.stdout).toMatch(/^confirmed +improved, 6 of 6 pairs: selection 6\/6 against the seed’s 0\/6/m);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    const testPrompts = splits.test.map(promptOf);
    const tested = () => own.server.asked.filter((q) => testPrompts.some((p) => q.turns[0]?.text.includes(p)));
    expect(tested()).toEqual([]);

    const end = await own.succeed(['finalize', 'session']);
    expect(end.stdout).toMatch(/^result +sealed test: 4\/4 with the result, 0\/4 with the seed, 0\/4 without a skill/m);
    expect(tested()).toHaveLength(3 * splits.test.length);
    expect((await own.succeed(['verify', 'session'])).stdout).toMatch(
      /^verified +session: \d+ decisions .* through the sealed test$/m,
    );
    const spent = own.server.tokens.input + own.server.tokens.output;
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({
      phase: 'finished',
      result: 'improved',
      tokens: spent,
      optimizer: { requests: 2 * callsEach },
    });
    expect(own.asked('optimizer')).toHaveLength(2 * callsEach);
    expect(own.asked('target')).toHaveLength(own.events.filter((e) => e.type === 'rollout.finished').length);
    expect(
      own.server.asked.filter((q) => q.protocol !== (options.provider === 'anthropic' ? 'anthropic' : 'openai')),
    ).toEqual([]);
    expect(hashOf(own.place.path('quiz')) + hashOf(own.place.path('pack'))).toBe(sources);
    expect(own.place.leftovers('session')).toEqual([]);

    // what the optimizer is shown: train alone, and of a task what was asked and done, never what is expected
    const shown = JSON.stringify(own.asked('optimizer').map((q) => [q.system, q.turns]));
    expect(shown).toContain(promptOf(splits.train[0]));
    for (const id of [...splits.selection, ...splits.test]) expect(shown).not.toContain(promptOf(id));
    for (const id of splits.train) if (id.startsWith('base-')) expect(shown).not.toContain(expectedOf(id));
    expect(shown).not.toContain(key);
    if (options.provider === 'anthropic') {
      expect(own.server.asked.filter((q) => q.headers.get('authorization') !== `Bearer ${key}`)).toEqual([]);
      expect([run, end].filter((e) => (e.stdout + e.stderr).includes(key))).toEqual([]);
      expect(filesWith(own, key)).toEqual([]);
      expect(filesWith(own, lines.form).length).toBeGreaterThan(0);
    }
  });
});

/** What such a program writes, as a text of the shell. */
function resultOf(fields: object): string {
  const usage = { input_tokens: 10, output_tokens: 5 };
  return `<<'EOF'\n${JSON.stringify({ type: 'result', num_turns: 1, usage, ...fields })}\nEOF`;
}

describe('a command as the optimizer', () => {
  /** A program in the form of `claude -p --output-format json`; the word that is asked for first costs nothing. */
  const script = (body: string) => ({
    'session/think.sh*': `#!/bin/sh\nprompt=$(cat)\ncase "$prompt" in *'this one word: '*)\n${word}\nexit 0 ;; esac\n${body}\n`,
  });
  const word = `sed 's/WORD/'"\${prompt##*: }"/ ${resultOf({ is_error: false, result: 'WORD', total_cost_usd: 0 })}`;
  const result = (fields: object) => `cat ${resultOf(fields)}`;
  const options = {
    optimizer: { model: 'command/claude', command: ['./think.sh'] },
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  };
  const answers = (edits: readonly object[]) =>
    result({ is_error: false, result: JSON.stringify({ summary: 'Seen.', edits }), total_cost_usd: 0.1 });

  test('gets the whole prompt on stdin; one that exits 1 pauses with what mends it, and what it has cost is counted', async () => {
    const own = new QuizSession(options);
    writeFiles(
      own.place.dir,
      script(`${result({ is_error: true, result: 'the model is not there', total_cost_usd: 0.42 })}\nexit 1`),
    );
    const cut = await own.run(['run', 'session', '--yes']);
    expectFailure(cut, {
      code: 4,
      what: /^the command failed: the model is not there$/,
      where: /^command\/claude \(\.\/think\.sh\)$/,
      fix: /^run \.\/think\.sh by hand to see why/,
    });
    expect(cut.stdout).toMatch(
      /^spent +10 rollouts .* and 1 call of the optimizer’s model \(\$0\.42\) · cost unknown/m,
    );
    expect(cut.stdout).toMatch(/^next +run \.\/think\.sh by hand to see why/m);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({
      phase: 'searching',
      optimizer: { costUsd: 0.42, requests: 1 },
    });
    const finished = own.asked('target').length;

    const edits = [insert(lines.form, ['sum-ada', 'base-cy'])];
    writeFiles(
      own.place.dir,
      script(
        `case "$prompt" in *'Failing task sum-ada'*) ;; *) ${answers([])}\nexit 0 ;; esac\n${answers(edits)}`.replaceAll(
          ' cat <<',
          '\ncat <<',
        ),
      ),
    );
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toContain('ACCEPT · selection 3/6 against 0/6');
    expect(performedAgain(own.events)).toEqual([]);
    const [, calls, cost] = /(\d+) calls of the optimizer’s model \(\$([\d.]+)\)/.exec(end.stdout) ?? [];
    expect(Number(cost)).toBeCloseTo(0.42 + 0.1 * (Number(calls) - 1), 2);
    expect(own.asked('target').length).toBeGreaterThan(finished);
    await own.succeed(['verify', 'session']);
  });
});

describe('an optimizer that is of no use', () => {
  test('three rounds of garbage end the search: the seed is the result, and what comes next is told', async () => {
    const replies = [
      'Nice skill! {"edits": [{"op": "insert_after", "target": "Answer the ques',
      'Hm <think> that is {"summary": "", "edits": []}',
      '',
    ];
    let n = 0;
    const own = new QuizSession({
      play: (q) => (q.model === 'target' ? target(q) : { text: replies[n++ % replies.length]! }),
      model: { tools: false },
    });
    const end = await own.run(['run', 'session', '--exit-code']);
    expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 10, stderr: '' });
    expect(end.stdout).toMatch(/^result +nothing was kept: the seed is the result$/m);
    expect(end.stdout).toMatch(/^ended +the optimizer gave no readable proposal three times in a row/m);
    expect(end.stdout).toMatch(/^next +use another optimizer model/m);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ cause: 'optimizer-failed' });
    expect(own.place.read('session/best_skill.md')).toBe(seedSkill);
    expect(own.asked('optimizer')).toHaveLength(6); // one repair turn each
    await own.succeed(['verify', 'session']);
  });

  test('one bad reply is mended in its repair turn, and edits that can’t be used are told one by one', async () => {
    const told: string[] = [];
    const play = (q: Question): Said => {
      if (q.model === 'target') return target(q);
      const repair = q.turns.length > 1;
      if (repair) told.push(q.turns.at(-1)?.text ?? '');
      if (repair) return optimizer({ ...q, turns: q.turns.slice(0, 1) });
      if (told.length === 0) return { text: '```json\n{"summary": "cut", "edits": [{"op": "ins' };
      const wrong = { ...insert('x', ['base-cy']), target: 'No such line.' };
      return { text: JSON.stringify({ summary: '', edits: [wrong] }) };
    };
    const own = new QuizSession({ play, model: { tools: false } });
    await own.succeed(['run', 'session']);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect(told[0]).toContain('Your hand-in could not be used');
    expect(told[1]).toMatch(/^One edit can't be used as they stand|^One edit/);
  });

  test('an edit with an expected value, a pattern of a check or the name of a task is rejected as a leak', async () => {
    const leaks = [`Some are ${expectedOf('base-max')}.`, `It has to fit ${pattern} then.`, 'As in base-hal.'];
    let round = 0;
    const play = (q: Question): Said => {
      if (q.model === 'target') return target(q);
      const edits = [insert(leaks[round % leaks.length]!, ['base-cy']), insert(lines.form, ['sum-ada'])];
      if (q.turns.length > 1) round += 1; // told that it can't be used, it hands in the same again
      return { text: JSON.stringify({ summary: '', edits }) };
    };
    const own = new QuizSession({ play, model: { tools: false } });
    await own.succeed(['run', 'session']);
    const rejected = own.events.filter((e) => e.type === 'edit.rejected' && e.reason === 'leak');
    expect([...new Set(rejected.map((e) => e.detail))].toSorted()).toEqual([
      'line 1 of the content holds a pattern by which an answer is checked: describe the form in words',
      'line 1 of the content holds a value that a task expects as its answer: say how it is found',
      'line 1 of the content names a task: say which kind of task is meant',
    ]);
    const texts = own.events.filter((e) => e.type === 'skill.added').map((e) => String(e.text));
    for (const leak of leaks) expect(texts.filter((text) => text.includes(leak))).toEqual([]);
    expect(own.asked('target').filter((q) => leaks.some((leak) => q.system.includes(leak)))).toEqual([]);
    expect(own.place.read('session/best_skill.md')).toContain(lines.form);
    await own.succeed(['verify', 'session']);
  });
});
