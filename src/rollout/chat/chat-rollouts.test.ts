import { afterEach, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModelError, type ModelErrorKind, type ModelReply, modelErrorKinds } from '../../ports/model.ts';
import type { RolloutResult } from '../../ports/outcome.ts';
import type { RolloutReport } from '../../ports/rollouts.ts';
import type { FolderTask, PromptTask } from '../../ports/task.ts';
import { noUsage, unknownUsage } from '../../ports/usage.ts';
import { makeFolders } from '../local/prepare.ts';
import {
  type ChatBench,
  command,
  equals,
  makeChatBench,
  modelError,
  mounted,
  type Play,
  playedModel,
  promptTask,
  reportOf,
  rolloutOf,
  someUsage,
  untilAborted,
} from './chat-fixture.ts';
import type { ChatOptions } from './options.ts';

const benches: ChatBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) {
    expect(await bench.leftovers()).toEqual([]);
    await bench.close();
  }
});

function bench(play: Play, more: Partial<ChatOptions> = {}) {
  const model = playedModel(play);
  const made = makeChatBench(model, more);
  benches.push(made);
  return { ...made, model };
}

async function resultOf(
  play: Play,
  task: PromptTask,
  more: Parameters<typeof rolloutOf>[1] = {},
): Promise<RolloutResult> {
  return finished(await reportOf(bench(play).backend, rolloutOf(task, more)));
}

function finished(report: RolloutReport): RolloutResult {
  if (report.kind !== 'finished') throw new Error(JSON.stringify(report));
  return report.result;
}

const reply = (text: string, more: Partial<ModelReply> = {}): ModelReply => ({
  parts: text === '' ? [] : [{ kind: 'text', text }],
  stop: 'end',
  usage: someUsage,
  ...more,
});
const skillText = '---\nname: s\ndescription: ===== d\n---\r\n# Body\n\n```\ncode\n```\nno end';

describe('what the model is asked', () => {
  test('system text of the task, then the skill word for word; prompt and files in fences that hold', async () => {
    const { backend, model } = bench(() => 'ok');
    const files = [
      { name: 'a.md', text: 'x\n````\ny' },
      { name: 'd/b.txt', text: 'plain\n' },
    ];
    await reportOf(backend, rolloutOf(promptTask({ system: 'Be brief.', files }), { skill: mounted(skillText) }));
    const [asked] = model.asked;
    expect(asked?.system).toBe(
      `Be brief.\n\nYou have a skill named s. It stands between the two lines of ======; follow it where it fits the task.\n======\n${skillText}\n======`,
    );
    expect(asked?.messages).toEqual([
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'Say ok.\n\nFile a.md:\n`````\nx\n````\ny\n`````\n\nFile d/b.txt:\n```\nplain\n```' },
        ],
      },
    ]);
    expect([asked?.tools, asked?.mustCall, asked?.maxOutputTokens]).toEqual([[], null, null]);
  });

  test('without a skill and a system text there is none, and nothing of the checks is ever shown', async () => {
    const { backend, model } = bench(() => 'no');
    const secret = 'the expected value';
    const report = finished(
      await reportOf(
        backend,
        rolloutOf(
          promptTask({ checks: [equals(secret), command(['cat'], { files: [{ name: 'key.txt', text: secret }] })] }),
        ),
      ),
    );
    expect(model.asked[0]?.system).toBe('');
    expect(JSON.stringify(model.asked)).not.toContain(secret);
    const { verifier, ...seen } = report.trajectory!;
    expect(JSON.stringify(seen)).not.toContain(secret);
    expect(verifier?.output).toContain(secret);
  });

  test('every try of every attempt is a draw of its own', async () => {
    const { backend, model } = bench(() => 'ok');
    for (const attempt of [0, 1, 2])
      for (const n of [0, 1, 2]) await reportOf(backend, rolloutOf(promptTask(), { attempt, try: n }));
    expect(new Set(model.asked.map((a) => a.draw)).size).toBe(9);
  });
});

describe('what an answer is worth', () => {
  test('the share of the weight that passed; a pass by the threshold', async () => {
    const task = promptTask({
      checks: [equals('ok', 3), { kind: 'contains', value: 'never', ignoreCase: false, weight: 1, after: null }],
    });
    expect((await resultOf(() => 'ok', task)).outcome).toEqual({
      status: 'scored',
      hard: 0,
      soft: 0.75,
      rewards: { reward: 0.75 },
      read: null,
    });
    const { backend } = bench(() => 'ok', { passThreshold: 0.75 });
    expect(finished(await reportOf(backend, rolloutOf(task))).outcome).toMatchObject({ hard: 1, soft: 0.75 });
    expect((await resultOf(() => 'ok', promptTask())).outcome).toMatchObject({ hard: 1, soft: 1 });
  });

  test('result, trajectory and usage are told', async () => {
    const result = await resultOf(
      () =>
        reply('ok', {
          parts: [
            { kind: 'text', text: 'o' },
            { kind: 'text', text: 'k' },
          ],
        }),
      promptTask({ system: 'Be brief.' }),
      { skill: mounted(skillText) },
    );
    expect(result).toMatchObject({
      usage: someUsage,
      exit: 'finished',
      versions: { chat: 'played/model' },
      outcome: { hard: 1, read: true },
    });
    expect(result.trajectory).toEqual({
      agent: 'chat',
      steps: [
        { kind: 'message', role: 'system', text: 'Be brief.' },
        { kind: 'note', text: 'The whole skill stood in the system text.' },
        { kind: 'message', role: 'user', text: 'Say ok.' },
        { kind: 'message', role: 'agent', text: 'ok' },
      ],
      finalText: 'ok',
      cut: 0,
      verifier: { output: 'passed  equals "ok"' },
    });
  });

  test.each([
    ['length', 'cut at the limit'],
    ['refused', 'declined'],
  ] as const)('stop %s is the model’s own answer, with a note', async (stop, note) => {
    const result = await resultOf(() => reply('o', { stop }), promptTask());
    expect(result.outcome).toMatchObject({ status: 'scored', hard: 0 });
    expect(JSON.stringify(result.trajectory?.steps.at(-1))).toContain(note);
    expect((await resultOf(() => reply('', { stop }), promptTask())).outcome).toMatchObject({
      status: 'scored',
      hard: 0,
    });
  });

  test('an empty answer is scored; one of no tokens at all is none', async () => {
    expect((await resultOf(() => reply(''), promptTask())).outcome).toMatchObject({ status: 'scored', soft: 0 });
    const none = { ...someUsage, outputTokens: 0 };
    expect((await resultOf(() => reply('', { usage: none }), promptTask())).outcome).toMatchObject({
      status: 'unscored',
      reason: 'provider-error',
    });
    expect((await resultOf(() => reply('', { usage: unknownUsage }), promptTask())).outcome).toMatchObject({
      status: 'scored',
    });
  });

  test('an answer that noAnswer fits is none', async () => {
    const task = promptTask({ noAnswer: ['^x$', '^upstream (error|timeout)'] });
    const result = await resultOf(() => 'upstream error: 502', task);
    expect(result.outcome).toMatchObject({ status: 'unscored', reason: 'provider-error' });
    expect([result.usage, result.trajectory?.finalText]).toEqual([someUsage, 'upstream error: 502']);
    expect((await resultOf(() => 'ok', task)).outcome).toMatchObject({ hard: 1 });
  });

  test('a long answer is checked whole at its end and kept cut', async () => {
    const result = await resultOf(
      () => `${'a '.repeat(30_000)}\nANSWER: ok`,
      promptTask({ checks: [{ kind: 'equals', value: 'ok', ignoreCase: false, weight: 1, after: 'ANSWER:' }] }),
    );
    expect(result.outcome).toMatchObject({ hard: 1 });
    expect(result.trajectory?.cut).toBeGreaterThan(0);
  });
});

describe('a call without an answer', () => {
  const unscored: Partial<Record<ModelErrorKind, string>> = {
    'rate-limit': 'provider-rate-limit',
    overloaded: 'provider-error',
    server: 'provider-error',
    'cut-off': 'provider-error',
    silent: 'provider-error',
    'bad-reply': 'provider-error',
    'command-failed': 'provider-error',
  };

  test.each(modelErrorKinds.filter((kind) => kind !== 'context-too-long'))('%s', async (kind) => {
    const report = await reportOf(
      bench(() => Promise.reject(modelError(kind))).backend,
      rolloutOf(promptTask(), { skill: mounted(skillText) }),
    );
    const { failure, usage } = modelError(kind);
    const reason = unscored[kind];
    if (reason === undefined) expect(report).toEqual({ kind: 'failed', key: 'key', failure, usage });
    else {
      expect(finished(report)).toMatchObject({ outcome: { status: 'unscored', reason }, usage, exit: 'crashed' });
      expect(JSON.stringify(report)).toContain(`it was ${kind}`);
    }
  });

  test('a web page in place of an answer is no outcome: there is no such server', async () => {
    const { kind, failure, usage } = modelError('bad-reply');
    const page = new ModelError(kind, { ...failure, code: 'config' }, usage, null);
    const report = await reportOf(
      bench(() => Promise.reject(page)).backend,
      rolloutOf(promptTask(), { skill: mounted(skillText) }),
    );
    expect(report).toEqual({ kind: 'failed', key: 'key', failure: page.failure, usage });
  });

  test.each([null, mounted(skillText)])(
    'a request too long for the model is worth nothing, and not tried again',
    async (skill) => {
      const task = promptTask({ checks: [{ kind: 'regex', pattern: '^$', flags: '', weight: 1, after: null }] });
      const result = await resultOf(() => Promise.reject(modelError('context-too-long')), task, { skill });
      expect(result.outcome).toEqual({ status: 'scored', hard: 0, soft: 0, rewards: { reward: 0 }, read: null });
      expect(JSON.stringify(result.trajectory?.steps)).toContain('longer than the model takes');
    },
  );

  test('late without a word is no outcome of the model; late with one is scored', async () => {
    const silent = await resultOf((_r, o) => untilAborted(o.signal), promptTask({ agentTimeoutSec: 0.05 }));
    expect(silent).toMatchObject({
      outcome: { status: 'unscored', reason: 'agent-did-no-work' },
      exit: 'timeout',
      usage: unknownUsage,
    });
    const begun = await resultOf(
      (_r, o) => {
        o.onText?.('o');
        o.onText?.('k');
        return untilAborted(o.signal);
      },
      promptTask({ agentTimeoutSec: 0.05 }),
    );
    expect(begun).toMatchObject({ outcome: { status: 'scored', hard: 1, agentTimedOut: true }, exit: 'timeout' });
    // What came before a wait belongs to a try that failed.
    const again = await resultOf(
      (_r, o) => {
        o.onText?.('ok');
        o.onWait?.({ why: 'cut off', n: 2, of: 3, ms: 1 });
        return untilAborted(o.signal);
      },
      promptTask({ agentTimeoutSec: 0.05 }),
    );
    expect(again).toMatchObject({ outcome: { status: 'unscored', reason: 'agent-did-no-work' }, exit: 'timeout' });
    // It does not depend on the model heeding the signal.
    expect(await resultOf(() => new Promise(() => {}), promptTask({ agentTimeoutSec: 0.05 }))).toMatchObject({
      exit: 'timeout',
    });
  });

  test('the time of waits that the provider asks for is not the model’s', async () => {
    const waits = async (waitMs: number | null) => {
      const play: Play = async (_request, o) => {
        if (waitMs !== null) o.onWait?.({ why: 'rate limit', n: 1, of: 3, ms: waitMs });
        await new Promise((resolve) => setTimeout(resolve, 150));
        return 'ok';
      };
      return (await resultOf(play, promptTask({ agentTimeoutSec: 0.05 }))).exit;
    };
    expect([await waits(60_000), await waits(null)]).toEqual(['finished', 'timeout']);
  });

  test('any other exception is the environment’s', async () => {
    expect((await resultOf(() => Promise.reject(new TypeError('odd')), promptTask())).outcome).toEqual({
      status: 'unscored',
      reason: 'environment',
      detail: 'odd',
    });
  });

  test('cancelled while it waits, it is told at once, with a spend that is known', async () => {
    const stop = new AbortController();
    const { backend } = bench(() => {
      queueMicrotask(() => stop.abort());
      return new Promise(() => {}); // it does not heed the signal
    });
    const reports: RolloutReport[] = [];
    for await (const report of backend.performRollouts([rolloutOf(promptTask())], { signal: stop.signal }))
      reports.push(report);
    expect(reports).toEqual([{ kind: 'cancelled', key: 'key' }]);
    const early = await reportOf(backend, rolloutOf(promptTask(), { signal: AbortSignal.abort() }));
    expect(early).toEqual({ kind: 'cancelled', key: 'key', usage: noUsage });
    const during = new AbortController();
    const paid = bench(() => 'ok');
    const later: RolloutReport[] = [];
    const task = promptTask({ checks: [command(['sleep', '300'])] });
    const whenVerified = ({ phase }: { readonly phase: string }) => {
      if (phase === 'verifier') void paid.busy().then(() => during.abort());
    };
    for await (const report of paid.backend.performRollouts([rolloutOf(task)], {
      signal: during.signal,
      onProgress: whenVerified,
    }))
      later.push(report);
    expect(later).toEqual([{ kind: 'cancelled', key: 'key', usage: someUsage }]);
  });
});

describe('commands of checks', () => {
  const verdictOf = async (task: PromptTask, answer = 'ok') => (await resultOf(() => answer, task)).outcome;

  test('get the answer on stdin and the files beside them; exit code 0 passes', async () => {
    const files = [{ name: 'data/want.txt', text: 'ok' }];
    const own = [{ name: 'check.sh', text: '#!/bin/sh\ntest "$(cat)" = "$(cat data/want.txt)"\n' }];
    for (const argv of [['sh', 'check.sh'], ['./check.sh']]) {
      const task = promptTask({ files, checks: [command(argv, { files: own })] });
      expect(await verdictOf(task)).toMatchObject({ hard: 1 });
      expect(await verdictOf(task, 'other')).toMatchObject({ status: 'scored', hard: 0 });
    }
    expect(await verdictOf(promptTask({ checks: [command(['true'])] }), 'x'.repeat(500_000))).toMatchObject({
      hard: 1,
    });
  });

  test('with after they get what follows it, and fail without it', async () => {
    const task = promptTask({ checks: [{ ...command(['sh', '-c', 'test "$(cat)" = "\nok"']), after: 'CODE:' }] });
    expect(await verdictOf(task, 'x\nCODE:\nok')).toMatchObject({ hard: 1 });
    expect(await verdictOf(task, 'ok')).toMatchObject({ status: 'scored', hard: 0 });
  });

  test.each([
    ['verifier-timeout', command(['sleep', '300'], { timeoutSec: 0.1 })],
    ['verifier-crash', command(['no-such-program-here'])],
    ['verifier-crash', command(['sh', '-c', 'no-such-program-here'])],
    ['verifier-crash', command(['sh', '-c', 'kill -9 $$'])],
  ] as const)('%s: what says nothing of the answer is no score', async (reason, check) => {
    expect(await verdictOf(promptTask({ checks: [equals('ok'), check, equals('ok')] }))).toMatchObject({
      status: 'unscored',
      reason,
    });
  });

  test('nothing of the host reaches them, and what they leave running is ended', async () => {
    const { backend, secret } = bench(() => 'ok');
    const script = `env > seen; ! grep -q ${'$'}{0} seen && { setsid sleep 300 >/dev/null 2>&1 & }`;
    const task = promptTask({ checks: [command(['bash', '-c', script, secret])] });
    expect(finished(await reportOf(backend, rolloutOf(task))).outcome).toMatchObject({ hard: 1 });
  });

  test('what they print stands in the verifier’s output, without folders of this machine', async () => {
    const { backend, tempRoot } = bench(() => 'ok');
    const { trajectory } = finished(
      await reportOf(backend, rolloutOf(promptTask({ checks: [command(['sh', '-c', 'pwd; echo why >&2; exit 3'])] }))),
    );
    const [title, ...printed] = trajectory?.verifier?.output.split('\n') ?? [];
    expect(title).toBe('failed  command sh -c pwd; echo why >&2; exit 3');
    // Two pipes are read as they come: which of two lines at the same moment is first, nobody promises.
    expect(printed.filter((line) => line !== '').sort()).toEqual(['$APP_DIR', 'why']);
    expect(JSON.stringify(trajectory)).not.toContain(tempRoot);
  });

  test('without consent none runs: told before the start, and refused at it', async () => {
    const task = promptTask({ checks: [command(['true'])] });
    const { backend, model } = bench(() => 'ok', { unsandboxedAllowed: false, tasks: [task, promptTask()] });
    const findings = await backend.preflight();
    expect(findings).toMatchObject([{ level: 'error', where: 'task task' }]);
    expect(findings[0]?.fix).toContain('--allow-unsandboxed');
    expect(await reportOf(backend, rolloutOf(task))).toMatchObject({
      kind: 'failed',
      failure: { code: 'preflight' },
      usage: noUsage,
    });
    expect(model.asked).toEqual([]);
    expect(await bench(() => 'ok', { unsandboxedAllowed: false, tasks: [promptTask()] }).backend.preflight()).toEqual(
      [],
    );
  });

  test('a program that is not there is found before the start', async () => {
    const tasks = [
      promptTask({ id: 'one', checks: [command(['no-such-program-here']), command(['sh']), command(['./own'])] }),
    ];
    const findings = await bench(() => 'ok', { tasks }).backend.preflight();
    expect(findings.filter((f) => f.level === 'error')).toMatchObject([
      { where: 'task one', fix: 'install no-such-program-here' },
    ]);
  });

  test('a sweep ends what an earlier process left', async () => {
    const { backend, sessionId, tempRoot } = bench(() => 'ok');
    const folders = await makeFolders(tempRoot, sessionId, 'key');
    writeFileSync(join(folders.workspace, 'x'), 'x');
    expect(readFileSync(join(folders.workspace, 'x'), 'utf8')).toBe('x');
    expect(await backend.sweep()).toEqual([`folder ${folders.root}`]);
  });
});

describe('what the backend is not for', () => {
  const folderTask = { kind: 'folder', id: 'f' } as FolderTask;

  test('task folders are refused with the backend that takes them', async () => {
    const { backend } = bench(() => 'ok', { tasks: [promptTask(), folderTask, folderTask] });
    expect(await backend.preflight()).toMatchObject([
      { level: 'error', where: 'task f and 1 more', fix: 'set "backend": "local"' },
    ]);
    expect(await reportOf(backend, { ...rolloutOf(promptTask()), task: folderTask })).toMatchObject({
      kind: 'failed',
      failure: { code: 'config' },
    });
  });

  test('a skill with files beside it is warned of', async () => {
    const found = async (bundledFiles: readonly string[]) => bench(() => 'ok', { bundledFiles }).backend.preflight();
    expect(await found([])).toEqual([]);
    expect(await found(['a.py', 'b.py'])).toMatchObject([
      { level: 'warning', what: expect.stringContaining('none of the 2 files') },
    ]);
  });

  test('what the model finds before the start is handed on', async () => {
    const finding = { level: 'error', what: 'no key', where: 'model', fix: 'set it' } as const;
    const model = { ...playedModel(() => 'ok'), preflight: async () => [finding] };
    const made = makeChatBench(model, { tasks: [promptTask()] });
    benches.push(made);
    expect(await made.backend.preflight()).toEqual([finding]);
  });
});
