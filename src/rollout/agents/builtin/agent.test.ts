import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkilloptError } from '../../../ports/failure.ts';
import type { ModelErrorKind } from '../../../ports/model.ts';
import { unknownUsage } from '../../../ports/usage.ts';
import { modelError, someUsage, untilAborted } from '../../chat/chat-fixture.ts';
import { reportOf, resultOf, withBench } from '../../local/bench-runs-fixture.ts';
import type { AgentRun } from '../agent.ts';
import { createBuiltinAgent } from './agent.ts';
import { bash, block, calls, newest, noLimits, perform, Rooms, scriptedModel, shown, text } from './builtin-fixture.ts';

const rooms = new Rooms();
afterAll(() => rooms.close());

const skill = `---
name: harbor
description: The jobs of a harbor office. Use it for every ship.
---
# Harbor

Greet a ship by its full name, with an exclamation mark.
`;

describe('a rollout by tools', () => {
  test('does what the model calls, in order, and ends when it calls nothing more', async () => {
    const writeC = calls(['write', { path: 'c.txt', content: 'c' }]);
    const run = rooms.open({ instruction: 'Write two words.', files: { 'a.txt': 'old\n' } });
    const { end, asked } = await perform(run, [
      calls(
        ['read', { path: 'a.txt' }],
        ['edit', { path: 'a.txt', old: 'old', new: 'new' }],
        ['bash', { command: 'cat a.txt > b.txt; exit 2' }],
      ),
      { ...writeC, parts: [...text('Now c.').parts, ...writeC.parts] },
      'Both are written.',
    ]);
    expect(readFileSync(join(run.workspace, 'b.txt'), 'utf8')).toBe('new\n');
    expect(end).toMatchObject({ exit: 'finished', trouble: null, read: null, visible: null, didWork: true });
    expect(end.finalText).toBe('Both are written.');
    expect(end.steps.map((s) => (s.kind === 'tool' ? [s.name, s.exitCode] : s.kind))).toEqual([
      'message',
      ['read', 0],
      ['edit', 0],
      ['bash', 2],
      'message',
      ['write', 0],
      'message',
    ]);
    expect(end.steps[3]).toMatchObject({ input: 'cat a.txt > b.txt; exit 2', output: '(exit code 2)' });
    expect(asked[0]?.tools.map((tool) => tool.name)).toEqual(['bash', 'read', 'write', 'edit']);
    const [task, reply, results] = asked[1]?.messages ?? [];
    expect(task).toEqual({ role: 'user', parts: [{ kind: 'text', text: 'Write two words.' }] });
    expect(reply?.parts.map((p) => (p.kind === 'tool-call' ? p.id : p.kind))).toEqual(['c0', 'c1', 'c2']);
    expect(results?.parts.map((p) => (p.kind === 'tool-result' ? [p.id, p.isError] : p.kind))).toEqual([
      ['c0', false],
      ['c1', false],
      ['c2', false],
    ]);
    expect(end.usage).toEqual({ inputTokens: 30, outputTokens: 15, costUsd: 0.003, requests: 3 });
  });

  test('tells the model what is wrong with a call, and goes on', async () => {
    const { end, asked } = await perform(rooms.open(), [
      calls(['fly', { to: 'Mars' }], ['bash', { cmd: 'ls' }]),
      bash('true'),
      'Done.',
    ]);
    expect(end.exit).toBe('finished');
    expect(asked[1]?.messages.at(-1)?.parts).toMatchObject([{ isError: true }, { isError: true }]);
    expect(newest(asked[1])).toContain('There is no tool "fly"');
    expect(end.steps[1]).toMatchObject({ kind: 'tool', name: 'fly', input: '{"to":"Mars"}', exitCode: null });
  });

  test('asks once more where a first reply does nothing, and takes the second for the answer', async () => {
    const idle = await perform(rooms.open(), ['It is 4.', 'It is 4.']);
    expect(idle.end).toMatchObject({ exit: 'finished', finalText: 'It is 4.', didWork: true });
    expect(newest(idle.asked[1])).toStartWith('Nothing has been done yet.');
    const working = await perform(rooms.open(), ['I will look.', bash('true'), 'Done.']);
    expect(working.end).toMatchObject({ exit: 'finished', finalText: 'Done.' });
  });

  test('keeps the thoughts of a model apart, and does not send them again', async () => {
    const { end, asked } = await perform(rooms.open(), [
      { ...bash('true'), parts: [...text('<think>hm</think>I look.').parts, ...bash('true').parts] },
      '<think>fine</think>Done.',
    ]);
    expect(end.steps.filter((s) => s.kind === 'thought').map((s) => s.text)).toEqual(['hm', 'fine']);
    expect(end.finalText).toBe('Done.');
    expect(asked[1]?.messages[1]?.parts[0]).toEqual({ kind: 'text', text: 'I look.' });
  });

  test('sends the number of the draw with each request', async () => {
    const { asked } = await perform({ ...rooms.open(), draw: 7 }, [bash('true'), 'Done.']);
    expect(asked.map((r) => r.draw)).toEqual([7, 7]);
  });
});

describe('a rollout by text', () => {
  test('runs the last block of each reply, and ends without one', async () => {
    const run = rooms.open({ files: { 'a.txt': 'x\n' } });
    const { end, asked } = await perform(
      run,
      [block('cat a.txt'), `${block('echo no > no.txt')}\n${block('cp a.txt b.txt; exit 1')}`, 'Copied.'],
      { takesTools: false },
    );
    expect(end).toMatchObject({ exit: 'finished', finalText: 'Copied.', didWork: true });
    expect(existsSync(join(run.workspace, 'no.txt'))).toBe(false);
    expect(existsSync(join(run.workspace, 'b.txt'))).toBe(true);
    expect(asked.every((r) => r.tools.length === 0)).toBe(true);
    expect(asked[0]?.system).toContain('```bash');
    expect(newest(asked[1])).toBe('x\n');
    expect(newest(asked[2])).toBe('(exit code 1)');
    expect(end.steps[1]).toEqual({ kind: 'message', role: 'agent', text: 'I run it.' });
    expect(shown(asked[2]?.messages[3])).toContain('echo no');
  });

  test('runs an open block of a whole reply, and not one of a reply that was cut', async () => {
    const run = rooms.open();
    const { end, asked } = await perform(
      run,
      [
        text('```bash\ntouch cut', { stop: 'length' }),
        '```bash\ntouch open',
        text('Done.', { stop: 'length' }),
        'Done.',
      ],
      { takesTools: false },
    );
    expect(existsSync(join(run.workspace, 'cut'))).toBe(false);
    expect(existsSync(join(run.workspace, 'open'))).toBe(true);
    expect(newest(asked[1])).toStartWith('Your reply was cut');
    expect(newest(asked[3])).toStartWith('Your reply was cut');
    expect(end.exit).toBe('finished');
  });

  test('gives a model that is cut again and again up, as its own doing', async () => {
    const cut = text('and on and on', { stop: 'length' });
    const { end } = await perform(rooms.open(), [block('touch a'), cut, cut, cut], { takesTools: false });
    expect(end).toMatchObject({ exit: 'nonzero', trouble: null, didWork: true });
    expect(end.steps.at(-1)).toEqual({
      kind: 'note',
      text: '3 replies in a row were cut at the limit of tokens.',
    });
  });

  test('takes the place of tools that a server has dropped without a word', async () => {
    const { end, asked } = await perform(rooms.open(), [block('echo hi'), block('echo ho'), 'Done.']);
    expect(asked.map((r) => r.tools.length)).toEqual([4, 0, 0]);
    expect(newest(asked[1])).toContain('There are no tools here');
    expect(newest(asked[1])).toEndWith('\nhi\n');
    expect(asked[1]?.system).toContain('```bash');
    expect(newest(asked[2])).toBe('ho\n');
    expect(end.exit).toBe('finished');
    expect(JSON.stringify(end.steps)).toContain('called no tool and wrote its command into its text');
  });

  test('does not take the place of tools that were called: a block is then a part of the answer', async () => {
    const run = rooms.open();
    const { end } = await perform(run, [bash('true'), block('touch no')]);
    expect(end).toMatchObject({ exit: 'finished', finalText: block('touch no') });
    expect(existsSync(join(run.workspace, 'no'))).toBe(false);
  });

  test('takes the place of tools that a server refuses', async () => {
    const { end, asked } = await perform(rooms.open(), [modelError('bad-request'), block('true'), 'Done.']);
    expect(asked.map((r) => r.tools.length)).toEqual([4, 0, 0]);
    expect(end).toMatchObject({ exit: 'finished', trouble: null });
    expect(JSON.stringify(end.steps)).toContain('refused a request with tools');
  });
});

describe('the skill', () => {
  test('is offered by name, description and path, and read when the model reads it', async () => {
    const run = rooms.open({ skill, instruction: 'Greet the ship.' });
    const file = `${run.skillDir}/SKILL.md`;
    const { end, asked } = await perform(run, [calls(['read', { path: file }]), 'Done.']);
    expect(end).toMatchObject({ read: true, visible: true });
    expect(asked[0]?.system).toContain(
      `- harbor: The jobs of a harbor office. Use it for every ship.\n  File: ${file}\n`,
    );
    expect(asked[0]?.system).not.toContain('exclamation');
    expect(newest(asked[1])).toBe(skill);
  });

  test.each([
    ['cat in a shell', (file: string) => `cat ${file}`, true],
    ['a look at one line of it', (file: string) => `grep -h exclamation ${file}`, true],
    ['a look at its frontmatter', (file: string) => `head -n 4 ${file}`, false],
    ['a look at its folder', (file: string) => `ls ${file}`, false],
    ['words of its own', () => 'echo Greet a ship by its name', false],
  ])('by %s', async (_, command, read) => {
    const run = rooms.open({ skill });
    const file = `${run.skillDir}/SKILL.md`;
    const byTool = await perform(run, [bash(command(file)), 'Done.']);
    expect(byTool.end.read).toBe(read);
    const byText = await perform(run, [block(command(file)), 'Done.'], { takesTools: false });
    expect(byText.end.read).toBe(read);
    expect(byText.asked[0]?.system).toContain('read the whole file with `cat`');
  });

  test('that says nothing of its own is read when its file was opened', async () => {
    const run = rooms.open({ skill: '---\nname: harbor\ndescription: Ships.\n---\nShips.\n' });
    const file = `${run.skillDir}/SKILL.md`;
    expect((await perform(run, [bash(`cat ${file}`), 'Done.'])).end.read).toBe(true);
    expect((await perform(run, [bash('ls'), 'Done.'])).end.read).toBe(false);
  });

  test('stands before others, of which one of its name is left out', async () => {
    const other = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\n# ${name}\n`;
    const run = rooms.open({ skill, others: { paper: other('paper'), harbor: other('harbor'), odd: 'no form' } });
    const { end, asked } = await perform(run, [bash('true'), 'Done.']);
    const system = asked[0]?.system ?? '';
    expect([...system.matchAll(/^- (\w+): (.*)$/gm)].map(([, name, says]) => [name, says])).toEqual([
      ['harbor', 'The jobs of a harbor office. Use it for every ship.'],
      ['paper', 'About paper.'],
      ['odd', 'no description'],
    ]);
    expect(JSON.stringify(end.steps)).toContain('it has the name of the one that is measured');
    const without = await perform({ ...run, skillDir: null }, [bash('true'), 'Done.']);
    expect(without.asked[0]?.system).toContain('- harbor: About harbor.');
    expect(without.end).toMatchObject({ read: null, visible: null });
  });

  test('that is not there is a failure of the machinery', async () => {
    const { end, asked } = await perform(rooms.open({ skill: '' }), []);
    expect(end).toMatchObject({
      trouble: { reason: 'skill-not-visible' },
      read: false,
      visible: false,
      didWork: false,
    });
    expect(asked).toEqual([]);
  });

  test('without one nothing is said of skills', async () => {
    const { asked } = await perform(rooms.open(), [bash('true'), 'Done.']);
    expect(asked[0]?.system).not.toContain('kill');
  });
});

describe('limits', () => {
  test('of requests are exact: what the last reply asks for is done', async () => {
    const run = rooms.open();
    const { end, asked } = await perform(run, [bash('touch a'), bash('touch b')], { limits: { requests: 2 } });
    expect(asked).toHaveLength(2);
    expect(existsSync(join(run.workspace, 'b'))).toBe(true);
    expect(end).toMatchObject({ exit: 'nonzero', trouble: null, didWork: true });
    expect(end.steps.at(-1)).toEqual({
      kind: 'note',
      text: 'The rollout’s limit of 2 requests was reached (agentLimits.requests).',
    });
  });

  test('of tokens and money end it, and one that can’t be held is no outcome', async () => {
    const spent = await perform(rooms.open(), [bash('true'), bash('true')], { limits: { tokens: 30 } });
    expect(spent.end.exit).toBe('nonzero');
    const silent = { ...bash('true'), usage: unknownUsage };
    const unheld = await perform(rooms.open(), [silent, silent, silent], { limits: { usd: 1 } });
    expect(unheld.end.failure).toMatchObject({ code: 'config', where: 'agentLimits.usd' });
    expect(unheld.end.usage).toEqual(unknownUsage);
  });
});

describe('a conversation that is longer than the model takes', () => {
  test('goes on without the outputs of before, and ends as the agent’s own doing where that is not enough', async () => {
    const long = bash('seq 1 3000');
    const tooLong = modelError('context-too-long');
    const run = rooms.open();
    const { end, asked } = await perform(run, [long, long, tooLong, bash('touch after'), tooLong, tooLong, tooLong]);
    expect(existsSync(join(run.workspace, 'after'))).toBe(true);
    const sizes = asked.map((r) => JSON.stringify(r.messages).length);
    expect(sizes[3]).toBeLessThan((sizes[2] ?? 0) - 10_000);
    expect(newest(asked[3])).toContain('3000\n');
    expect(end).toMatchObject({ exit: 'nonzero', trouble: null, didWork: true });
    expect(JSON.stringify(end.steps.at(-1))).toContain('longer than the model takes');
    expect(end.steps.filter((s) => s.kind === 'note' && s.text.includes('given up'))).toHaveLength(1);
  });

  test('that begins too long is the agent’s own doing too', async () => {
    const { end } = await perform(rooms.open(), [modelError('context-too-long')]);
    expect(end).toMatchObject({ exit: 'nonzero', trouble: null });
  });

  test('that a server refuses in the middle is made shorter, and else a fault of the provider', async () => {
    const long = bash('seq 1 3000');
    const refused = modelError('bad-request');
    const shortened = await perform(rooms.open(), [long, long, refused, 'Done.']);
    expect(shortened.end).toMatchObject({ exit: 'finished', trouble: null });
    const never = await perform(rooms.open(), [bash('true'), refused]);
    expect(never.end.trouble).toMatchObject({ reason: 'provider-error' });
  });
});

describe('what a model fails of', () => {
  const kinds: readonly (readonly [ModelErrorKind, string])[] = [
    ['auth', 'failure'],
    ['quota', 'failure'],
    ['model-not-found', 'failure'],
    ['refused-connection', 'failure'],
    ['rate-limit', 'provider-rate-limit'],
    ['overloaded', 'provider-error'],
    ['server', 'provider-error'],
    ['cut-off', 'provider-error'],
    ['silent', 'provider-error'],
    ['bad-reply', 'provider-error'],
    ['command-failed', 'provider-error'],
  ];
  test.each(kinds)('%s is a %s, with what was spent until then', async (kind, becomes) => {
    const { end } = await perform(rooms.open(), [bash('true'), modelError(kind)]);
    if (becomes === 'failure') expect(end.failure?.what).toBe(`it was ${kind}`);
    else expect(end).toMatchObject({ trouble: { reason: becomes, detail: `it was ${kind} (played/model)` } });
    expect(end.usage).toMatchObject({ inputTokens: 20, requests: 2 });
    expect(end.steps.filter((s) => s.kind === 'tool')).toHaveLength(1);
  });

  test('a request that is refused with and without tools is a failure', async () => {
    const refused = modelError('bad-request');
    expect((await perform(rooms.open(), [refused, refused])).end.failure?.what).toBe('it was bad-request');
    expect((await perform(rooms.open(), [refused], { takesTools: false })).end.failure).toBeDefined();
  });

  test('a reply of nothing and no tokens is no answer; one of tokens is asked for again', async () => {
    const nothing = text('', { usage: { ...someUsage, outputTokens: 0 } });
    expect((await perform(rooms.open(), [nothing])).end.trouble).toMatchObject({ reason: 'provider-error' });
    const mute = text('');
    const { end, asked } = await perform(rooms.open(), [bash('true'), mute, mute]);
    expect(newest(asked[2])).toStartWith('Your reply was empty');
    expect(end).toMatchObject({ exit: 'finished', trouble: null });
    expect((await perform(rooms.open(), [mute, mute])).end.trouble).toMatchObject({ detail: 'every reply was empty' });
    expect((await perform(rooms.open(), [mute, bash('true'), mute, 'Done.'])).end.finalText).toBe('Done.');
  });

  test('a model that declines has done so by itself', async () => {
    const { end } = await perform(rooms.open(), [text('I can’t do that.', { stop: 'refused' })]);
    expect(end).toMatchObject({ exit: 'finished', trouble: null, finalText: 'I can’t do that.' });
    expect(end.steps.at(-1)).toEqual({ kind: 'note', text: 'The model declined.' });
    expect((await perform(rooms.open(), [text('', { stop: 'refused' })])).end.trouble).toBeNull();
  });

  test('a fault of this program is none of the model', async () => {
    let thrown: unknown = null;
    try {
      await perform(rooms.open(), [new TypeError('ours')]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(TypeError);
  });
});

describe('the end of the rollout', () => {
  test('cuts off a request, and keeps what had come of its answer', async () => {
    const stop = new AbortController();
    const { end } = await perform(rooms.open({ signal: stop.signal }), [
      bash('true'),
      (_, options) => {
        options.onText?.('<think>let me');
        options.onText?.(' see</think>I am');
        stop.abort();
        return untilAborted(options.signal);
      },
    ]);
    expect(end).toMatchObject({ exit: 'timeout', trouble: null, finalText: 'I am', didWork: true });
    expect(end.usage).toEqual(unknownUsage);
    expect(end.steps.slice(-3).map((s) => s.kind)).toEqual(['thought', 'message', 'note']);
  });

  test('does not wait for a model that does not heed it, and starts nothing more', async () => {
    const stop = new AbortController();
    const run = rooms.open({ signal: stop.signal });
    const deaf = await perform(run, [
      () => {
        stop.abort();
        return new Promise(() => {});
      },
    ]);
    expect(deaf.end).toMatchObject({ exit: 'timeout', didWork: false });
    const { end, asked } = await perform(run, []);
    expect(end).toMatchObject({ exit: 'timeout', didWork: false });
    expect(asked).toEqual([]);
  });

  test('cuts off a command, and the calls behind it', async () => {
    const stop = new AbortController();
    const run = rooms.open({ signal: stop.signal });
    const performing = perform(run, [
      calls(['bash', { command: 'touch begun; sleep 600' }], ['bash', { command: 'touch second' }]),
    ]);
    while (!existsSync(join(run.workspace, 'begun'))) await new Promise((next) => setTimeout(next, 5));
    stop.abort();
    const { end } = await performing;
    expect(end).toMatchObject({ exit: 'timeout', didWork: true });
    expect(end.steps.at(-2)).toMatchObject({ kind: 'tool', input: 'touch begun; sleep 600' });
    expect(existsSync(join(run.workspace, 'second'))).toBe(false);
  });
});

test('a rollout whose first command can’t be started is no outcome of the agent', async () => {
  const run = rooms.open();
  const lost: AgentRun = { ...run, run: (command, o) => run.run(command, { ...o, cwd: '/nowhere' }) };
  const { end } = await perform(lost, [bash('true')]);
  expect(end.trouble?.reason).toBe('environment');
  expect(end.trouble?.detail).toContain('/nowhere');
});

describe('before it begins', () => {
  test('it needs a model, and a price where money is limited', async () => {
    const without = createBuiltinAgent({ model: null, limits: noLimits });
    expect(await without.preflight()).toMatchObject([{ level: 'error', where: 'model' }]);
    let thrown: unknown = null;
    try {
      await without.run(rooms.open());
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(SkilloptError);
    const unpriced = createBuiltinAgent({
      model: scriptedModel([], { hasPrice: false }),
      limits: { ...noLimits, usd: 1 },
    });
    expect(await unpriced.preflight()).toMatchObject([{ level: 'error', where: 'agentLimits.usd' }]);
    expect(await createBuiltinAgent({ model: scriptedModel([]), limits: noLimits }).preflight()).toEqual([]);
  });
});

describe('on the local backend', () => {
  const agentOf = (...args: Parameters<typeof scriptedModel>) => ({
    agent: createBuiltinAgent({ model: scriptedModel(...args), limits: noLimits }),
  });
  const wrote = {
    instruction: 'Write ok.',
    test: '[ "$(cat ok.txt)" = ok ]; echo $((1 - $?)) > "$LOGS_DIR/verifier/reward.txt"',
  };

  test('a rollout is scored by what it did, and knows whether the skill was read', async () => {
    const steps = [
      (request: { readonly system: string }) => bash(`cat ${/File: (.*)$/m.exec(request.system)?.[1]}`),
      bash('echo ok > ok.txt'),
      'Done.',
    ];
    await withBench(agentOf(steps), async (local) => {
      const result = await resultOf(local, await local.task(wrote), await local.skill(skill, {}));
      expect(result.outcome).toMatchObject({ status: 'scored', hard: 1, read: true });
      expect(result.usage.requests).toBe(3);
      expect(result.versions).toMatchObject({ builtin: '1' });
      expect(JSON.stringify(result.trajectory)).toContain('<rollout>/skills/s/SKILL.md');
    });
  });

  test('a failure of the provider tells what was spent', async () => {
    await withBench(agentOf([bash('true'), modelError('quota')]), async (local) => {
      expect(await reportOf(local, await local.task(wrote))).toMatchObject({
        kind: 'failed',
        failure: { what: 'it was quota' },
        usage: { requests: 2 },
      });
    });
  });

  test('waits for the provider’s sake do not count towards the deadline', async () => {
    const waiting = [
      async (_: unknown, options: { readonly onWait?: (wait: never) => void }) => {
        options.onWait?.({ why: 'too many requests', n: 2, of: 5, ms: 60_000 } as never);
        return bash('sleep 0.4; echo ok > ok.txt');
      },
      'Done.',
    ];
    await withBench(agentOf(waiting as never), async (local) => {
      const result = await resultOf(local, await local.task({ ...wrote, agentTimeoutSec: 0.2 }));
      expect(result).toMatchObject({ exit: 'finished', outcome: { status: 'scored', hard: 1 } });
    });
  });
});
