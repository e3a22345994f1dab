import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelSettings } from '../config/model.ts';
import type { ModelRequest } from '../ports/model.ts';
import { unknownUsage } from '../ports/usage.ts';
import { createModel } from './index.ts';
import { ask, errorOf, never } from './server-fixture.ts';

let folder: string;
let bin: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'models-test-')));
  bin = join(folder, 'bin');
  mkdirSync(bin);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hostPath = process.env.PATH ?? '/usr/bin:/bin';
const secret = 'sk-command-0123456789';

function script(name: string, lines: string): string {
  const path = join(bin, name);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

function model(settings: ModelSettings, path = `${bin}:${hostPath}`) {
  return createModel(settings, { variables: { PATH: path, HOME: folder, MY_KEY: secret }, folder });
}
const complete = (settings: ModelSettings, request: Partial<ModelRequest> = {}) =>
  model(settings).performCompletion({ ...ask, ...request }, { signal: never });
const fixture = (name: string) => join(import.meta.dir, 'fixtures', `${name}.jsonl`);

/** A program of this name that keeps its arguments, folder and stdin and writes what the real one wrote. */
function replaying(name: string, output: string, code = 0): void {
  script(
    name,
    `printf '%s\\n' "$@" > '${folder}/args'; pwd > '${folder}/cwd'; cat > '${folder}/stdin'; cat '${fixture(output)}'; exit ${code}`,
  );
}

describe('a command of one’s own', () => {
  test('gets the whole prompt on stdin and answers on stdout, in the folder of the config', async () => {
    script('echoing', 'echo "in $(basename "$PWD"), $1:"; cat; echo; echo');
    const reply = await complete({ model: 'command/mine', command: ['./bin/echoing', 'said'] });
    expect(reply).toEqual({
      parts: [{ kind: 'text', text: `in ${folder.split('/').at(-1)}, said:\nBe short.\n\nHello?` }],
      stop: 'end',
      usage: unknownUsage,
    });
  });

  test('is shown a conversation turn by turn', async () => {
    script('echoing', 'cat');
    const reply = await complete(
      { model: 'command/mine', command: ['echoing'] },
      {
        messages: [
          { role: 'user', parts: [{ kind: 'text', text: 'go' }] },
          { role: 'assistant', parts: [{ kind: 'tool-call', id: 'a', name: 'read', input: { n: 1 } }] },
          { role: 'user', parts: [{ kind: 'tool-result', id: 'a', output: 'none', isError: true }] },
        ],
      },
    );
    expect(reply.parts).toEqual([
      {
        kind: 'text',
        text: 'Be short.\n\n[user]\ngo\n\n[assistant]\n[calls read] {"n":1}\n\n[user]\n[result, failed]\nnone',
      },
    ]);
  });

  test('may take a prompt that is longer than any argument, or leave it unread', async () => {
    const long = [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'x'.repeat(2_000_000) }] }];
    script('counting', 'wc -c | tr -d " "');
    const counted = await complete({ model: 'command/mine', command: ['counting'] }, { system: '', messages: long });
    expect(counted.parts).toEqual([{ kind: 'text', text: '2000001' }]);
    script('deaf', 'echo heard nothing');
    const deaf = await complete({ model: 'command/mine', command: ['deaf'] }, { messages: long });
    expect(deaf.parts).toEqual([{ kind: 'text', text: 'heard nothing' }]);
  });

  test('that fails is an error with its last words, without secrets', async () => {
    script('failing', 'echo "working"; echo "no luck with $MY_KEY" >&2; exit 3');
    const error = await errorOf(complete({ model: 'command/mine', command: ['failing'] }));
    expect(error).toMatchObject({ kind: 'command-failed', usage: unknownUsage });
    expect(error.failure.what).toBe('the command ended with code 3: no luck with [secret]');
  });

  test('that fails is told by the line that speaks of an error', async () => {
    script(
      'crashing',
      'printf "SyntaxError: no such thing\\nError: cannot start\\n    at main\\n\\nRuntime v20\\n" >&2; exit 1',
    );
    const error = await errorOf(complete({ model: 'command/mine', command: ['crashing'] }));
    expect(error.failure.what).toBe('the command ended with code 1: Error: cannot start');
  });

  test('that takes too long is ended', async () => {
    script('slow', `echo $$ > '${folder}/pid'; exec sleep 60`);
    const error = await errorOf(complete({ model: 'command/mine', command: ['slow'], firstByteSec: 0.5 }));
    expect(error).toMatchObject({ kind: 'silent', failure: { retryable: false } });
  });

  test('is ended when the call is cancelled', async () => {
    script('stuck', `echo up > '${folder}/up'; exec sleep 60`);
    const cancel = new AbortController();
    const reason = new Error('enough');
    const ended = model({ model: 'command/mine', command: ['stuck'] })
      .performCompletion(ask, { signal: cancel.signal })
      .catch((e: unknown) => e);
    while (!readdirSync(folder).includes('up')) await Bun.sleep(2);
    cancel.abort(reason);
    expect(await ended).toBe(reason);
  });

  test('that is not there is found before a call and by it', async () => {
    const settings = { model: 'command/mine', command: ['no-such-program'] as [string] };
    expect(await model(settings).preflight()).toMatchObject([
      { level: 'error', what: 'no-such-program is not on PATH', where: 'command/mine (no-such-program)' },
    ]);
    expect(await errorOf(complete(settings))).toMatchObject({
      kind: 'command-failed',
      failure: { code: 'config' },
      usage: { costUsd: 0, requests: 0 },
    });
  });

  test('that is there is found by its name and by its path', async () => {
    script('there', 'true');
    writeFileSync(join(bin, 'plain-file'), 'x');
    const level = async (program: string) =>
      (await model({ model: 'command/m', command: [program] }).preflight())[0]?.level;
    expect(
      await Promise.all(['there', './bin/there', join(bin, 'there'), 'plain-file', './bin', 'bin'].map(level)),
    ).toEqual(['ok', 'ok', 'ok', 'error', 'error', 'error']);
  });

  test('has no price that could be told', () => {
    expect(model({ model: 'command/m', command: ['x'], price: { input: 1, output: 1 } }).hasPrice).toBe(false);
    expect(model({ model: 'command/m', command: ['x'] }).takesTools).toBe(false);
  });
});

describe('claude', () => {
  test('is started without tools in an empty folder that is gone afterwards', async () => {
    replaying('claude', 'claude-known-price');
    const reply = await complete({ model: 'command/claude' });
    expect(reply).toEqual({
      parts: [{ kind: 'text', text: 'scripted side answer' }],
      stop: 'end',
      usage: { inputTokens: 2003, outputTokens: 5, costUsd: 0.008112, requests: 1 },
    });
    expect(readFileSync(join(folder, 'args'), 'utf8').split('\n')).toEqual([
      ...['-p', '--output-format', 'json', '--tools', '', '--strict-mcp-config', '--no-session-persistence', ''],
    ]);
    expect(readFileSync(join(folder, 'stdin'), 'utf8')).toBe('Be short.\n\nHello?\n');
    const cwd = readFileSync(join(folder, 'cwd'), 'utf8').trim();
    expect(cwd).not.toBe(folder);
    expect(() => readdirSync(cwd)).toThrow();
  });

  test('is heard at once with its whole answer', async () => {
    replaying('claude', 'claude-known-price');
    const pieces: string[] = [];
    await model({ model: 'command/claude' }).performCompletion(ask, { signal: never, onText: (p) => pieces.push(p) });
    expect(pieces).toEqual(['scripted side answer']);
  });

  test('that guesses at a price has told none', async () => {
    replaying('claude', 'claude-success');
    expect((await complete({ model: 'command/claude' })).usage).toEqual({
      inputTokens: 12238,
      outputTokens: 35,
      costUsd: null,
      requests: 4,
    });
    const priced = await complete({ model: 'command/claude', price: { input: 1, output: 100 } });
    expect(priced.usage.costUsd).toBeCloseTo((12238 + 3500) / 1e6, 12);
  });

  test.each([
    ['claude-401', 'auth'],
    ['claude-429', 'rate-limit'],
    ['claude-500', 'server'],
    ['claude-refused', 'refused-connection'],
  ])('that failed as in %s is told as %s', async (output, kind) => {
    replaying('claude', output, 1);
    const error = await errorOf(complete({ model: 'command/claude' }));
    expect(error.kind).toBe(kind as 'auth');
    expect(error.usage.costUsd).toBe(0);
    expect(error.failure.what).toStartWith('the command failed: ');
  });

  test('that failed after it had spent tells what it cost', async () => {
    const result = { type: 'result', subtype: 'error_max_turns', is_error: true, total_cost_usd: 0.42, num_turns: 3 };
    script('claude', `cat >/dev/null; echo '${JSON.stringify(result)}'; exit 1`);
    const error = await errorOf(complete({ model: 'command/claude' }));
    expect(error).toMatchObject({
      kind: 'command-failed',
      usage: { inputTokens: null, outputTokens: null, costUsd: 0.42, requests: 3 },
      failure: { what: 'the command failed: error_max_turns' },
    });
  });

  test('that reports success and ends with a code is a failure with its cost', async () => {
    replaying('claude', 'claude-known-price', 1);
    const error = await errorOf(complete({ model: 'command/claude' }));
    expect(error).toMatchObject({ kind: 'command-failed', usage: { costUsd: 0.008112 } });
  });

  test('that writes something else is a bad reply', async () => {
    script('claude', 'cat >/dev/null; echo "Welcome to the new version!"');
    expect((await errorOf(complete({ model: 'command/claude' }))).failure.what).toBe(
      'the output is not what this command writes: Welcome to the new version!',
    );
  });

  test('with switches of one’s own is read the same', async () => {
    replaying('my-claude', 'claude-known-price');
    const reply = await complete({ model: 'command/claude', command: ['my-claude', '--model', 'opus'] });
    expect(reply.usage.costUsd).toBe(0.008112);
  });
});

describe('codex', () => {
  test('answers with its last message, and tells no price', async () => {
    replaying('codex', 'codex-success');
    const codex = model({ model: 'command/codex' });
    expect(codex.hasPrice).toBe(false);
    expect(await codex.performCompletion(ask, { signal: never })).toEqual({
      parts: [{ kind: 'text', text: 'WIDGET-DONE' }],
      stop: 'end',
      usage: { inputTokens: 19935, outputTokens: 36, costUsd: null, requests: null },
    });
    expect(readFileSync(join(folder, 'args'), 'utf8')).toContain('--sandbox\nread-only\n-\n');
  });

  test('may answer with nothing, and costs what the settings say', async () => {
    replaying('codex', 'codex-silent');
    const settings = { model: 'command/codex', price: { input: 10, output: 0 } };
    expect(model(settings).hasPrice).toBe(true);
    expect(await complete(settings)).toMatchObject({ parts: [], usage: { costUsd: 0.06561 } });
  });

  test.each(['codex-401', 'codex-429', 'codex-cut'])(
    'that failed as in %s says so in its words alone',
    async (output) => {
      replaying('codex', output, 1);
      const error = await errorOf(complete({ model: 'command/codex' }));
      expect(error.kind).toBe('command-failed');
      expect(error.failure.what).toMatch(/401 Unauthorized|last status: 429|stream disconnected/);
    },
  );
});

describe('pi', () => {
  test('answers with its last message; what all its requests took is summed', async () => {
    replaying('pi', 'pi-success');
    const reply = await complete({ model: 'command/pi' });
    expect(reply).toMatchObject({
      parts: [{ kind: 'text', text: 'WIDGET-DONE' }],
      stop: 'end',
      usage: { requests: 3 },
    });
    const ends = readFileSync(fixture('pi-success'), 'utf8')
      .split('\n')
      .filter((l) => l.includes('"role":"assistant"'));
    const cost = ends.reduce((sum, line) => sum + JSON.parse(line).message.usage.cost.total, 0);
    expect(reply.usage.costUsd).toBeCloseTo(cost, 12);
    expect(cost).toBeGreaterThan(0);
  });

  test('that failed says so in its last message, whatever its code', async () => {
    replaying('pi', 'pi-401', 0);
    const error = await errorOf(complete({ model: 'command/pi' }));
    expect(error.kind).toBe('command-failed');
    expect(error.failure.what).toContain('401');
  });

  test('whose model has no price in its list tells none', async () => {
    const usage = { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } };
    const message = { role: 'assistant', content: [{ type: 'text', text: 'x' }], usage, stopReason: 'stop' };
    script('pi', `cat >/dev/null; echo '${JSON.stringify({ type: 'message_end', message })}'`);
    expect((await complete({ model: 'command/pi' })).usage).toMatchObject({ inputTokens: 5, costUsd: null });
  });
});
