import { describe, expect, test } from 'bun:test';
import { ModelError } from '../ports/model.ts';
import type { ModelCall } from '../ports/proposals.ts';
import { createReflectingOptimizer } from './reflecting.ts';
import {
  edit,
  failing,
  handInText,
  modelError,
  perCall,
  proposed,
  reflect,
  ScriptedModel,
  says,
  skill,
} from './reflecting-fixture.ts';

const model = (...script: ConstructorParameters<typeof ScriptedModel>[1]) => new ScriptedModel(false, script);

describe('calls that fail', () => {
  test.each([
    'auth',
    'quota',
    'refused-connection',
    'rate-limit',
    'overloaded',
    'server',
    'silent',
    'model-not-found',
    'bad-request',
    'command-failed',
  ] as const)('%s ends the reflection with its failure, and the call is reported', async (kind) => {
    const error = modelError(kind);
    const { result, calls } = await reflect(model(error));
    expect(result).toEqual({ kind: 'failed', failure: error.failure });
    expect(calls).toEqual([{ model: 'scripted/model', usage: perCall, durationMs: 5, problem: error.failure.what }]);
  });

  test('a request that is too long is sent once more, half as long', async () => {
    const long = failing('alpha', { finalText: 'word '.repeat(20_000) });
    const m = model(modelError('context-too-long'), says(handInText(edit())));
    expect((await proposed(m, { failing: [long] }, { maxCalls: 1 })).edits).toEqual([edit()]);
    expect(m.requests[1]!.messages.length).toBe(1);
    const size = (n: number) => m.sent(n).split(skill)[1]!.length;
    expect(size(1)).toBeLessThanOrEqual(size(0) / 2 + 1_000);
    expect(m.sent(1)).toContain(skill);
    const { result } = await reflect(model(modelError('context-too-long'), modelError('context-too-long')));
    expect(result.kind).toBe('failed');
  });

  test('a web page in place of an answer is no reply of a model', async () => {
    const { kind, failure, usage } = modelError('bad-reply');
    const page = new ModelError(kind, { ...failure, code: 'config' }, usage, null);
    const { result, calls } = await reflect(model(page));
    expect(result).toMatchObject({ kind: 'failed', failure: { code: 'config' } });
    expect(calls.length).toBe(1);
  });

  test('no further call is made when a limit is spent', async () => {
    const { result, calls } = await reflect(model(says('Hm.')), {}, { mayCall: () => false });
    expect(result).toMatchObject({ kind: 'unusable', detail: expect.stringContaining('a limit is spent') });
    expect(calls.length).toBe(1);
  });

  test('a stop ends it at once, and the call that was under way is reported before anyone else hears of it', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const m = model(() => {
      stop.signal.addEventListener('abort', () => heard.push('stopped'));
      stop.abort(new Error('stopped by hand'));
      return says(handInText(edit()));
    });
    const onCall = (call: ModelCall) => heard.push(call.problem ?? 'answered');
    const end = await reflect(m, {}, { signal: stop.signal, onCall }).then(
      () => null,
      (error) => error,
    );
    expect(end).toEqual(new Error('stopped by hand'));
    expect(heard).toEqual(['stopped before it answered', 'stopped']);
  });

  test('each call is another draw', async () => {
    const m = model(says('Hm.'), says(handInText()), says(handInText()), says('{"guidance": ""}'));
    await reflect(m, { round: 1 });
    await reflect(m, { round: 2 });
    await reflect(m, { round: 2, kind: 'slow-update', failing: [] });
    expect(new Set(m.requests.map((r) => r.draw)).size).toBe(4);
  });
});

describe('preflight', () => {
  const looked = (takesTools: boolean, form: 'auto' | 'tools' | 'one-shot') =>
    createReflectingOptimizer({
      model: new ScriptedModel(takesTools, []),
      form,
      maxCalls: 8,
      minibatchSize: null,
      readers: 1,
      now: () => 0,
    });

  test('says what the model’s says', async () => {
    for (const [takes, form] of [
      [true, 'tools'],
      [false, 'auto'],
      [true, 'one-shot'],
    ] as const)
      expect(await looked(takes, form).preflight()).toEqual(await new ScriptedModel(true, []).preflight());
  });

  test('tools that the model does not take are an error, with the fix', async () => {
    const findings = await looked(false, 'tools').preflight();
    expect(findings[1]).toMatchObject({
      level: 'error',
      where: 'reflection.form',
      fix: expect.stringContaining('one-shot'),
    });
    const { result } = await reflect(model(), {}, { form: 'tools' });
    expect(result).toMatchObject({ kind: 'failed', failure: { code: 'config', where: 'reflection.form' } });
  });
});
