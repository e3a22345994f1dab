import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { ProcessEnd } from '../../../process/process-end.ts';
import type { AgentRun } from '../agent.ts';
import { Rooms } from './builtin-fixture.ts';
import { editedBytes } from './files.ts';
import { CannotStart, commandLimitMs, Hands } from './hands.ts';
import { modelTools, performCall } from './tools.ts';

const rooms = new Rooms();
afterAll(() => rooms.close());

async function call(run: AgentRun, name: string, input: unknown) {
  const performed = await performCall(new Hands(run), { name, input });
  if (performed.kind === 'over') throw new Error('over');
  return { output: performed.step.output, isError: performed.isError, exitCode: performed.step.exitCode };
}
const done = (output: string, exitCode: number | null = 0) => ({ output, isError: false, exitCode });

describe('the tools as a model hears of them', () => {
  test('are four, each a plain object without what providers refuse', () => {
    expect(modelTools.map((tool) => tool.name)).toEqual(['bash', 'read', 'write', 'edit']);
    for (const { schema, description } of modelTools) {
      expect(description).not.toBe('');
      expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) as never });
      expect(JSON.stringify(schema)).not.toMatch(/\$schema|9007199254740991/);
    }
    expect(modelTools[1]?.schema).toMatchObject({ required: ['path'] });
  });

  test.each([
    ['an unknown tool', 'look', {}, 'There is no tool "look". The tools are bash, read, write, edit.'],
    ['nothing where something has to be', 'bash', {}, 'bash was not run. command: '],
    ['no object', 'read', 'a.txt', 'read was not run. the input: '],
    ['another kind of value', 'write', { path: 'a', content: 3 }, 'write was not run. content: '],
    ['an empty path', 'edit', { path: '', old: 'a', new: 'b' }, 'edit was not run. path: '],
  ])('%s is told to the model', async (_, name, input, words) => {
    const { output, isError } = await call(rooms.open(), name, input);
    expect(output).toStartWith(words);
    expect(isError).toBe(true);
  });
});

describe('bash', () => {
  test.each([
    ['what it prints', 'echo a; echo b >&2', done('a\nb\n')],
    ['nothing', 'true', done('(no output)')],
    ['a code', 'echo a; exit 3', done('a\n(exit code 3)', 3)],
    ['a code alone', 'exit 4', done('(exit code 4)', 4)],
    ['a code behind a line without an end', 'printf a; exit 3', done('a\n(exit code 3)', 3)],
    ['a signal', 'kill -9 $$', done('(ended by SIGKILL)', null)],
    ['a word of bash', '[[ a == a ]] && echo yes', done('yes\n')],
    ['nothing to read', 'cat; echo end', done('end\n')],
    ['a variable of the one before', 'echo "[$x]"; x=1', done('[]\n')],
  ])('shows %s', async (_, command, expected) => {
    expect(await call(rooms.open(), 'bash', { command })).toEqual(expected);
  });

  test('shows beginning and end of a long output, and says how much is gone', async () => {
    const { output } = await call(rooms.open(), 'bash', { command: 'seq 1 100000' });
    expect(output.length).toBeLessThan(17_000);
    expect(output).toStartWith('1\n2\n');
    expect(output).toMatch(/100000\n\(\d+ bytes of this output are cut out of its middle; narrow it down/);
  });

  test('takes a command that is too long for an argument, and leaves no trace of it', async () => {
    const run = rooms.open();
    const lines = Array.from({ length: 20_000 }, (_, n) => `echo ${n} >> out.txt`);
    const command = [...lines, 'cat; ls "$TMPDIR" | wc -l; exit 5'].join('\n');
    expect(command.length).toBeGreaterThan(200_000);
    expect(await call(run, 'bash', { command })).toEqual(done('1\n(exit code 5)', 5));
    expect(readFileSync(join(run.workspace, 'out.txt'), 'utf8').split('\n')).toHaveLength(20_001);
    expect(await call(run, 'bash', { command: 'ls "$TMPDIR"' })).toEqual(done('(no output)'));
  });

  test('ends a command at its own limit, and tells what it had printed', async () => {
    const run = rooms.open();
    const limits: (number | undefined)[] = [];
    const slow: AgentRun = {
      ...run,
      run: async (command, options) => {
        limits.push(options?.timeoutMs);
        const ended = await run.run(command, options);
        return { ...ended, cause: 'timeout', exitCode: null, signal: 'SIGTERM', durationMs: 60_001 } as ProcessEnd;
      },
    };
    const { output, isError, exitCode } = await call(slow, 'bash', { command: 'echo begun' });
    expect(output).toStartWith('begun\n(ended after 60 s, the limit of one command');
    expect([isError, exitCode]).toEqual([true, null]);
    expect(limits).toEqual([60_000]);
  });

  test.each([
    [10_000, 60_000],
    [600_000, 150_000],
    [7_200_000, 600_000],
  ])('of %d ms in all one command has %d', (all, one) => {
    expect(commandLimitMs(all)).toBe(one);
  });

  test('tells the model what its own doing has made impossible, and gives up where nothing ever ran', async () => {
    const run = rooms.open();
    const hands = new Hands(run);
    const command = (text: string) => performCall(hands, { name: 'bash', input: { command: text } });
    await command('rm -rf "$PWD"');
    const next = await command('ls');
    expect(next).toMatchObject({ kind: 'done', isError: true, step: { exitCode: null } });
    expect(JSON.stringify(next)).toContain('The command was not run: ');
    let thrown: unknown = null;
    try {
      await performCall(new Hands(run), { name: 'bash', input: { command: 'ls' } });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CannotStart);
  });

  test('that the rollout’s end cuts off is over, with what it had printed', async () => {
    const stop = new AbortController();
    const run = rooms.open({ signal: stop.signal });
    const performing = performCall(new Hands(run), {
      name: 'bash',
      input: { command: 'echo begun; touch begun; sleep 600' },
    });
    while (!existsSync(join(run.workspace, 'begun'))) await new Promise((next) => setTimeout(next, 5));
    stop.abort();
    expect(await performing).toEqual({
      kind: 'over',
      step: {
        kind: 'tool',
        name: 'bash',
        input: 'echo begun; touch begun; sleep 600',
        output: 'begun\n(the rollout was ended while it ran)',
        exitCode: null,
      },
    });
    expect(await performCall(new Hands(run), { name: 'bash', input: { command: 'ls' } })).toEqual({
      kind: 'over',
      step: null,
    });
  });
});

describe('read', () => {
  const files = {
    'a.txt': 'one\ntwo\nthree\n',
    'bare.txt': 'one\ntwo',
    'empty.txt': '',
    'sub/b c.txt': 'in a folder\n',
    '-n': 'a name like an option\n',
  };
  test.each([
    ['a file', { path: 'a.txt' }, done('one\ntwo\nthree\n')],
    ['one whose last line has no end', { path: 'bare.txt' }, done('one\ntwo')],
    ['an empty one', { path: 'empty.txt' }, done('(the file is empty)')],
    ['a name with a blank', { path: 'sub/b c.txt' }, done('in a folder\n')],
    ['a name like an option', { path: '-n' }, done('a name like an option\n')],
    ['a part', { path: 'a.txt', offset: 2, limit: 1 }, done('two\n(lines 2 to 2 of 3; go on with offset 3)')],
    ['the rest', { path: 'a.txt', offset: 2, limit: 10 }, done('two\nthree\n')],
    ['the last line without its end', { path: 'bare.txt', offset: 2 }, done('two')],
  ])('shows %s', async (_, input, expected) => {
    expect(await call(rooms.open({ files }), 'read', input)).toEqual(expected);
  });

  test.each([
    ['none', { path: 'no.txt' }, 'no.txt: There is no such file.'],
    ['a folder', { path: 'sub' }, 'sub: It is a folder: b c.txt'],
    ['a device', { path: '/dev/zero' }, '/dev/zero: It is no ordinary file.'],
    ['a line beyond the end', { path: 'a.txt', offset: 4 }, 'a.txt: It has 3 lines only.'],
    ['a path with a NUL', { path: 'a\0b' }, 'a\0b: A path holds no NUL.'],
  ])('says of %s what is wrong', async (_, input, output) => {
    expect(await call(rooms.open({ files }), 'read', input)).toEqual({ output, isError: true, exitCode: 1 });
  });

  test('finds ~/ in the private home, and takes nothing in a path for code', async () => {
    const run = rooms.open({ files: { "it's $(touch bad) `touch bad`": 'fine\n' } });
    writeFileSync(join(run.home, 'mine'), 'private\n');
    expect(await call(run, 'read', { path: '~/mine' })).toEqual(done('private\n'));
    expect(await call(run, 'read', { path: "it's $(touch bad) `touch bad`" })).toEqual(done('fine\n'));
    expect(existsSync(join(run.workspace, 'bad'))).toBe(false);
  });

  test('shows a large file by its beginning and end, and where to go on', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n + 1} ${'x'.repeat(40)}`);
    const { output } = await call(rooms.open({ files: { 'big.txt': `${lines.join('\n')}\n` } }), 'read', {
      path: 'big.txt',
    });
    expect(output.length).toBeLessThan(49_000);
    expect(output).toStartWith('line 1 x');
    expect(output).toMatch(
      /bytes are cut out of the middle: read fewer lines at a time\)\n\(lines 1 to 2000 of 3000; go/,
    );
  });

  test('knows a file that is no text', async () => {
    const run = rooms.open();
    writeFileSync(join(run.workspace, 'bin'), Buffer.from([1, 0, 2, 10]));
    expect((await call(run, 'read', { path: 'bin' })).output).toBe('bin: It is no text file; look at it with bash.');
  });
});

describe('write', () => {
  test('writes what it is given, byte for byte, with the folders for it', async () => {
    const run = rooms.open();
    const content = `a\n'"$(x)\`\\ \t\u{1F6A2}\r\n${'long '.repeat(60_000)}no end`;
    expect(await call(run, 'write', { path: 'new/deep/f.txt', content })).toEqual(
      done(`Wrote ${Buffer.byteLength(content)} bytes to new/deep/f.txt.`),
    );
    expect(readFileSync(join(run.workspace, 'new/deep/f.txt'), 'utf8')).toBe(content);
    await call(run, 'write', { path: 'new/deep/f.txt', content: '' });
    expect(readFileSync(join(run.workspace, 'new/deep/f.txt'), 'utf8')).toBe('');
  });

  test('says what is in its way', async () => {
    const run = rooms.open({ files: { plain: 'x' } });
    expect(await call(run, 'write', { path: '.', content: 'x' })).toMatchObject({ output: '.: It is a folder.' });
    const into = await call(run, 'write', { path: 'plain/f', content: 'y'.repeat(200_000) });
    expect(into).toMatchObject({ isError: true, exitCode: 1 });
    expect(into.output).toMatch(/^plain\/f: It could not be done: .+/);
    expect(readFileSync(join(run.workspace, 'plain'), 'utf8')).toBe('x');
  });
});

describe('edit', () => {
  const edit = (run: AgentRun, path: string, old: string, fresh: string) =>
    call(run, 'edit', { path, old, new: fresh });

  test('replaces the one place, keeps the mode, and says where it was', async () => {
    const run = rooms.open({ files: { 'a.sh': '#!/bin/sh\necho one\necho two\n' } });
    await call(run, 'bash', { command: 'chmod 750 a.sh' });
    expect(await edit(run, 'a.sh', 'echo two', 'echo $2 & "x" \\1')).toEqual(done('Replaced it in line 3 of a.sh.'));
    expect(readFileSync(join(run.workspace, 'a.sh'), 'utf8')).toBe('#!/bin/sh\necho one\necho $2 & "x" \\1\n');
    expect(statSync(join(run.workspace, 'a.sh')).mode & 0o777).toBe(0o750);
    expect(await edit(run, 'a.sh', '\necho one', '')).toMatchObject({ isError: false });
  });

  test.each([
    ['does not occur', 'ten', 'x', 'The old text does not occur in it.'],
    ['occurs twice', 'one', 'x', 'The old text occurs 2 times in it.'],
    ['is the new one', 'two', 'two', 'The new text is the old one'],
  ])('changes nothing where the old text %s', async (_, old, fresh, words) => {
    const run = rooms.open({ files: { a: 'one two one\n' } });
    const { output, isError } = await edit(run, 'a', old, fresh);
    expect(output).toStartWith(`a: ${words}`);
    expect(isError).toBe(true);
    expect(readFileSync(join(run.workspace, 'a'), 'utf8')).toBe('one two one\n');
  });

  test('leaves bytes that are no text as they are, and goes through a link', async () => {
    const run = rooms.open();
    const file = join(run.workspace, 'latin');
    writeFileSync(file, Buffer.from([0xe9, 0x20, 0x61, 0x0a, 0xff, 0x00]));
    symlinkSync('latin', join(run.workspace, 'link'));
    expect(await edit(run, 'link', ' a', ' b')).toMatchObject({ isError: false });
    expect([...readFileSync(file)]).toEqual([0xe9, 0x20, 0x62, 0x0a, 0xff, 0x00]);
    expect(lstatSync(join(run.workspace, 'link')).isSymbolicLink()).toBe(true);
  });

  test('says what is no file for it', async () => {
    const run = rooms.open();
    mkdirSync(join(run.workspace, 'folder'));
    await call(run, 'bash', { command: 'head -c 4000001 /dev/zero > big; mkfifo pipe' });
    expect((await edit(run, 'folder', 'a', 'b')).output).toBe('folder: It is a folder:');
    expect((await edit(run, 'pipe', 'a', 'b')).output).toBe('pipe: It is no ordinary file.');
    expect((await edit(run, 'no', 'a', 'b')).output).toBe('no: There is no such file.');
    expect((await edit(run, 'big', 'a', 'b')).output).toBe('big: It is too large for this tool; use bash.');
  });

  test('takes the line ends of Windows as the file has them', () => {
    const edited = editedBytes(Buffer.from('a\r\nb\r\nc\r\n'), { old: 'a\nb', new: 'x\ny\nz' });
    expect('bytes' in edited ? edited.bytes.toString() : edited.wrong).toBe('x\r\ny\r\nz\r\nc\r\n');
  });

  test('puts any text in the place of any other that occurs once', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\u{e9}', '$', '&') });
    fc.assert(
      fc.property(piece, piece, piece, (before, after, fresh) => {
        const old = '<old>';
        fc.pre(fresh !== old);
        const edited = editedBytes(Buffer.from(before + old + after), { old, new: fresh });
        if ('wrong' in edited) throw new Error(edited.wrong);
        expect(edited.bytes.toString()).toBe(before + fresh + after);
        expect(edited.line).toBe(before.split('\n').length);
      }),
    );
  });
});
