import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FolderTask } from '../../ports/task.ts';
import { noUsage } from '../../ports/usage.ts';
import { runProcess } from '../../process/run-process.ts';
import type { AgentRun } from './agent.ts';
import { createRehearsalAgent, sentencesOf, skillLines } from './rehearsal.ts';

let base = '';
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'skillopt-rehearsal-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

let rooms = 0;

/** A rollout in plain folders; `skill` null: the no-skill arm, undefined: a mounted folder without a SKILL.md. */
function runFor(
  instruction: string,
  skill: string | null | undefined,
  signal = new AbortController().signal,
): AgentRun {
  const dir = join(base, String(rooms++));
  const workspace = join(dir, 'app');
  mkdirSync(workspace, { recursive: true });
  if (skill) writeFileSync(join(dir, 'SKILL.md'), skill);
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  return {
    workspace,
    home: dir,
    host: { workspace, home: dir, logDir: dir, temp: dir },
    model: null,
    skillDir: skill === null ? null : dir,
    instruction,
    logDir: dir,
    env,
    task: { id: 'one', env: { environment: {}, verifier: {}, solution: {} } } as unknown as FolderTask,
    timeoutMs: 30_000,
    signal,
    run: (command) => runProcess({ command, cwd: workspace, env, timeoutMs: 30_000, signal }),
  };
}

const line = (phrase: string, command: string) => `- When the task says "${phrase}", run \`${command}\`.`;

describe('skillLines', () => {
  test.each([
    ['a plain line', '- When the task says "ring twice", run `echo a`.', [['ring twice', 'echo a']]],
    ['another marker, and a reason', '* When the task says "x", run `y`, since z.', [['x', 'y']]],
    ['a wrapped item', '- When the task says "x y",\n  run\n  `do it`. More\n  words.', [['x y', 'do it']]],
    ['an item without an end', '- When the task says "x",', []],
    ['a wrapped item of Windows', '- When the task says "x", run\r\n  `y`.\r\n', [['x', 'y']]],
    ['a command of several words and quotes', line('x', `awk '{ print "a" }' f`), [['x', `awk '{ print "a" }' f`]]],
    ['prose that speaks of it', 'When the task says "x", run `y`.', []],
    ['a blank line ends an item', '- When the task says "x",\n\n  run `y`.', []],
    ['another wording', '- If the task says "x", run `y`.', []],
    ['a fenced example', `~~~\n${line('x', 'y')}\n~~~\n${line('z', 'w')}`, [['z', 'w']]],
    ['a fence inside a longer one', `\`\`\`\`\n\`\`\`\n${line('x', 'y')}\n\`\`\`\`\n${line('z', 'w')}`, [['z', 'w']]],
  ])('%s', (_, text, expected) => {
    expect(skillLines(text).map((l) => [l.phrase, l.command])).toEqual(expected);
  });

  test('finds each line again that was written in its form, in document order', () => {
    const phrase = fc.stringMatching(/^[a-z]([a-z ]{0,10}[a-z])?$/);
    const command = fc.stringMatching(/^[a-z]([a-z $'"|>.]{0,20}[a-z])?$/);
    const list = fc.array(fc.tuple(phrase, command));
    fc.assert(
      fc.property(list, fc.constantFrom('\n', '\n\nsome prose\n\n', '\n\n## A heading\n\n'), (lines, between) => {
        const text = lines.map(([p, c]) => line(p, c)).join(between);
        expect(skillLines(text).map((l): [string, string] => [l.phrase, l.command])).toEqual(lines);
      }),
    );
  });
});

test('sentencesOf splits at ends of sentences and of paragraphs, not inside names of files', () => {
  expect(sentencesOf('Sort `a.txt`, please. Keep\nall lines!\n\nNo full stop here\n\nIs that so? Yes')).toEqual([
    'Sort `a.txt`, please.',
    'Keep all lines!',
    'No full stop here',
    'Is that so?',
    'Yes',
  ]);
  expect(sentencesOf(' \n\n ')).toEqual([]);
});

describe('the rehearsal agent', () => {
  test('runs the commands whose phrases the task says, in document order, and names what no line speaks of', async () => {
    const run = runFor(
      'First ring\nTHE BELL. Then write the second word. Nobody knows this one.',
      [
        line('second word', 'echo two >> out.txt'),
        line('never said', 'echo wrong >> out.txt'),
        line('ring the bell', 'cat out.txt; echo one >> out.txt; echo ding >&2; exit 3'),
      ].join('\n'),
    );
    const end = await createRehearsalAgent().run(run);
    expect(readFileSync(join(run.workspace, 'out.txt'), 'utf8')).toBe('two\none\n');
    expect(end).toMatchObject({ exit: 'finished', trouble: null, usage: noUsage, read: true, didWork: true });
    expect(end.steps.map((s) => s.kind)).toEqual(['message', 'tool', 'tool', 'tool', 'message']);
    expect(end.steps[1]).toMatchObject({ name: 'read', input: 'SKILL.md', exitCode: 0 });
    expect(end.steps[3]).toEqual({
      kind: 'tool',
      name: 'sh',
      input: 'cat out.txt; echo one >> out.txt; echo ding >&2; exit 3',
      output: 'two\nding\n',
      exitCode: 3,
    });
    expect(end.finalText).toBe('2 lines of the skill followed. No line speaks of:\n- Nobody knows this one.');
    expect(end.steps.at(-1)).toEqual({ kind: 'message', role: 'agent', text: end.finalText });
  });

  test('says so when no line applies, and when every sentence has one', async () => {
    const agent = createRehearsalAgent();
    const none = await agent.run(runFor('Do this. And that.', '# A skill\n'));
    expect(none.finalText).toBe('No line of the skill speaks of this task:\n- Do this.\n- And that.');
    expect(none).toMatchObject({ exit: 'finished', read: true });
    const all = await agent.run(runFor('Do this.', line('do this', 'true')));
    expect(all.finalText).toBe('One line of the skill followed.');
  });

  test('without a skill it does nothing and says so', async () => {
    const run = runFor('Do this.', null);
    const end = await createRehearsalAgent().run(run);
    expect(end).toMatchObject({ exit: 'finished', trouble: null, read: null });
    expect(end.finalText).toContain('no skill');
    expect(end.steps.filter((s) => s.kind === 'tool')).toEqual([]);
  });

  test('a skill that is not there is a failure of the machinery', async () => {
    const end = await createRehearsalAgent().run(runFor('Do this.', undefined));
    expect(end).toMatchObject({
      exit: 'crashed',
      trouble: { reason: 'skill-not-visible' },
      read: false,
      didWork: false,
    });
  });

  test('ends when the rollout ends: in the delay, and between two commands', async () => {
    const early = new AbortController();
    const run = runFor('Do this.', line('do this', 'touch done'), early.signal);
    const waiting = createRehearsalAgent({ delayMs: 3_600_000 }).run(run);
    early.abort();
    expect(await waiting).toMatchObject({ exit: 'timeout', read: null, didWork: false });
    expect(existsSync(join(run.workspace, 'done'))).toBe(false);

    const late = new AbortController();
    const skill = [line('do this', 'touch first'), line('this', 'touch second')].join('\n');
    const cut = runFor('Do this.', skill, late.signal);
    const end = await createRehearsalAgent().run({
      ...cut,
      run: async (command, options) => {
        const done = await cut.run(command, options);
        if (command.at(-1) === 'touch first') late.abort();
        return done;
      },
    });
    expect(end).toMatchObject({ exit: 'timeout', read: true, didWork: true });
    expect(existsSync(join(cut.workspace, 'first'))).toBe(true);
    expect(existsSync(join(cut.workspace, 'second'))).toBe(false);
  });

  test('a command that the deadline ends stops the work', async () => {
    const run = runFor('Do this.', [line('do this', 'sleep 600'), line('this', 'touch second')].join('\n'));
    const end = await createRehearsalAgent().run({
      ...run,
      run: (command, options) =>
        command[0] === 'sh'
          ? runProcess({ command, cwd: run.workspace, env: run.env, timeoutMs: 50 })
          : run.run(command, options),
    });
    expect(end).toMatchObject({ exit: 'timeout', read: true, didWork: true });
    expect(existsSync(join(run.workspace, 'second'))).toBe(false);
  });
});
