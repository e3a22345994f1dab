import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { upstreamOf } from '../models/index.ts';
import { type Protocol, protocols, unknownCounts } from '../ports/gateway.ts';
import { AnswerReader } from './answer-reader.ts';
import { counts, data, events, usage, whole } from './answers-fixture.ts';

const upstream = upstreamOf({ model: 'openai/x' }, { variables: {}, folder: '/' });

function read(protocol: Protocol, type: string | null, pieces: readonly (string | Uint8Array)[]): AnswerReader {
  const reader = new AnswerReader(protocol, upstream, type);
  for (const piece of pieces) reader.push(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
  reader.end();
  return reader;
}
const sse = 'text/event-stream; charset=utf-8';
const unknownEnd = (protocol: Protocol) => ({ ...counts[protocol], outputTokens: null });

describe.each(protocols)('an answer of %s', (protocol) => {
  test('in events is counted at its end', () => {
    const reader = read(protocol, sse, events(protocol));
    expect([reader.verdict(), reader.counts]).toEqual([{ kind: 'answer' }, counts[protocol]]);
    expect(reader.chars).toBe('hello, wörld ✓'.length);
    expect(reader.begun).toBe(true);
  });

  test('in one piece is counted the same', () => {
    const reader = read(protocol, 'application/json', [JSON.stringify(whole(protocol))]);
    expect([reader.verdict(), reader.counts]).toEqual([{ kind: 'answer' }, counts[protocol]]);
    expect(reader.chars).toBeGreaterThanOrEqual('hello, wörld ✓'.length);
  });

  test('without a content type is read as what it is', () => {
    expect(read(protocol, null, events(protocol)).counts).toEqual(counts[protocol]);
    expect(read(protocol, 'text/plain', ['  \n', JSON.stringify(whole(protocol))]).counts).toEqual(counts[protocol]);
  });

  test('that broke off tells what is known', () => {
    const all = events(protocol);
    const reader = read(protocol, sse, all.slice(0, 2 - Number(protocol === 'gemini')));
    expect(reader.verdict()).toEqual({ kind: 'ended-early' });
    expect(reader.counts.outputTokens).toBeNull();
    if (protocol === 'messages') expect(reader.counts).toEqual(unknownEnd(protocol));
    if (protocol === 'gemini') expect(reader.counts.inputTokens).toBe(usage.input);
  });

  test('of broken JSON, of nothing, and of something else is none', () => {
    const verdict = (type: string | null, ...pieces: string[]) => read(protocol, type, pieces).verdict().kind;
    expect(verdict(sse, 'data: {"type":"oops", not json\n\n')).toBe('bad-reply');
    expect(verdict(sse, '')).toBe('ended-early');
    expect(verdict('application/json', '{"half":')).toBe('bad-reply');
    expect(verdict('application/json', '{"status":"fine"}')).toBe('bad-reply');
    expect(verdict('text/html', '<html>Log in</html>')).toBe('bad-reply');
    expect(verdict(null, '<html>Log in</html>')).toBe('bad-reply');
  });

  test('that holds a failure is one', () => {
    const error = { type: 'overloaded_error', code: 503, message: 'busy' };
    const body = protocol === 'messages' ? { type: 'error', error } : { error };
    expect(read(protocol, sse, [...events(protocol).slice(0, 1), data(body)]).verdict()).toMatchObject({
      kind: 'error',
      body: { error },
    });
    expect(read(protocol, 'application/json', [JSON.stringify(body)]).verdict()).toMatchObject({ kind: 'error' });
  });

  const separators = ['\n', '\r\n', '\r'] as const;
  test('is the same however it is cut into pieces, and whatever ends its lines', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
        fc.constantFrom(...separators),
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.boolean(),
        (text, separator, cuts, comments) => {
          const lines = events(protocol, text).map((e) => (comments ? `: alive\n\n${e}` : e));
          const bytes = new TextEncoder().encode(lines.join('').replaceAll('\n', separator));
          const at = [0, ...cuts.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          const reader = read(
            protocol,
            sse,
            at.slice(1).map((end, i) => bytes.slice(at[i], end)),
          );
          expect([reader.verdict(), reader.counts, reader.chars]).toEqual([
            { kind: 'answer' },
            counts[protocol],
            text.length,
          ]);
        },
      ),
    );
  });

  test('of anything at all is read without a fault', () => {
    const line = fc.oneof(
      fc.string(),
      fc.jsonValue().map((v) => `data: ${JSON.stringify(v)}\n\n`),
      fc.constantFrom('data: [DONE]\n\n', 'data:\n\n', ':\n', 'event: x\n', '\r', '\n', ...events(protocol)),
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom(sse, 'application/json', null), (lines, type) => {
        const reader = read(protocol, type, [lines.join('')]);
        expect(['answer', 'ended-early', 'bad-reply', 'error']).toContain(reader.verdict().kind);
        const { inputTokens, outputTokens } = reader.counts;
        for (const n of [inputTokens, outputTokens]) expect(n === null || n >= 0).toBe(true);
      }),
    );
  });
});

describe('begun', () => {
  const begun = (...pieces: string[]) => {
    const reader = new AnswerReader('chat', upstream, sse);
    for (const piece of pieces) reader.push(new TextEncoder().encode(piece));
    return reader.begun;
  };
  test('is an answer with its first whole event or comment', () => {
    expect(begun('data: {"a"', ':1}\n')).toBe(false);
    expect(begun('data: {"a"', ':1}\n', '\n')).toBe(true);
    expect(begun(': waiting')).toBe(false);
    expect(begun(': waiting\n')).toBe(true);
    expect(begun('event: x\n\n')).toBe(false);
  });
});

describe('quirks', () => {
  test('an end without a reason, as some servers have it', () => {
    const chunk = data({ choices: [{ delta: { content: 'x' } }] });
    expect(read('chat', sse, [chunk, 'data: [DONE]\n\n']).verdict()).toEqual({ kind: 'answer' });
    expect(read('chat', sse, ['data: [DONE]\n\n']).verdict()).toEqual({ kind: 'ended-early' });
    const aborted = data({ choices: [{ delta: {}, finish_reason: 'abort' }] });
    expect(read('chat', sse, [chunk, aborted]).verdict()).toEqual({ kind: 'ended-early' });
  });

  test('an answer without usage is one of unknown spend', () => {
    const reader = read('chat', sse, [data({ choices: [{ delta: {}, finish_reason: 'stop' }] })]);
    expect([reader.verdict().kind, reader.counts]).toEqual(['answer', unknownCounts]);
  });

  test('a last event that no empty line follows', () => {
    const text = events('gemini').join('').trimEnd();
    expect(read('gemini', sse, [text]).verdict()).toEqual({ kind: 'answer' });
  });

  test('Gemini’s list of parts, in place of events', () => {
    const parts = events('gemini').map((e) => JSON.parse(e.slice('data: '.length)));
    const reader = read('gemini', 'application/json', [JSON.stringify(parts)]);
    expect([reader.verdict().kind, reader.counts, reader.chars]).toEqual(['answer', counts.gemini, 14]);
    expect(read('gemini', 'application/json', ['[{"error":{"code":429}}]']).verdict()).toMatchObject({ kind: 'error' });
  });

  test('a refused prompt of Gemini is an answer', () => {
    const blocked = data({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 7 } });
    expect(read('gemini', sse, [blocked]).counts).toMatchObject({ inputTokens: 7, outputTokens: 0 });
  });

  test.each([
    ['response.incomplete', 'incomplete', 'answer'],
    ['response.failed', 'failed', 'error'],
  ])('%s of Responses', (type, status, kind) => {
    const response = {
      status,
      output: [],
      error: { code: 'server_error' },
      usage: { input_tokens: 5, output_tokens: 2 },
    };
    const reader = read('responses', sse, [data({ type, response })]);
    expect(reader.verdict().kind).toBe(kind as 'answer');
    expect(reader.counts).toMatchObject({ inputTokens: 5, outputTokens: 2 });
  });

  test('what is paid beside tokens is noted', () => {
    const beyond = (protocol: Protocol, body: object) =>
      read(protocol, 'application/json', [JSON.stringify(body)]).beyondTokens;
    expect(beyond('messages', { content: [], usage: { server_tool_use: { web_search_requests: 1 } } })).toBe(true);
    expect(beyond('messages', { content: [], usage: { server_tool_use: { web_search_requests: 0 } } })).toBe(false);
    expect(beyond('responses', { output: [{ type: 'web_search_call' }] })).toBe(true);
    expect(beyond('responses', { output: [{ type: 'function_call' }] })).toBe(false);
    expect(beyond('gemini', { candidates: [{ groundingMetadata: { groundingChunks: [{}] } }] })).toBe(true);
    expect(beyond('chat', whole('chat'))).toBe(false);
  });
});
