import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Conversation, type ToolCall } from './conversation.ts';

const call = (id: string): ToolCall => ({ kind: 'tool-call', id, name: 'bash', input: {} });
const long = (sign: string) => sign.repeat(10_000);
const outputs = (c: Conversation) =>
  c
    .messages()
    .flatMap((m) => m.parts)
    .flatMap((p) => (p.kind === 'tool-result' ? [p.output] : []));
const shown = (output: string, holdsSkill = false) => ({ output, isError: false, holdsSkill });

describe('a conversation', () => {
  test('has each side in turn, whatever happens, and a turn is never empty', () => {
    const event = fc.constantFrom('said', 'silent', 'result', 'observed', 'tell');
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const c = new Conversation('do it');
        for (const e of events) {
          if (e === 'said') c.said([{ kind: 'text', text: 'x' }]);
          if (e === 'silent') c.said([]);
          if (e === 'result') c.result(call('c'), shown('out'));
          if (e === 'observed') c.observed('out', false);
          if (e === 'tell') c.tell('go on');
        }
        const roles = c.messages().map((m) => m.role);
        expect(roles).toEqual(roles.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')));
        expect(c.messages().every((m) => m.parts.length > 0)).toBe(true);
      }),
    );
  });

  test('puts what is told beside results into the same message', () => {
    const c = new Conversation('do it');
    c.said([call('a'), call('b')]);
    c.result(call('a'), shown('1'));
    c.result(call('b'), shown('2'));
    c.tell('go on');
    expect(c.messages().map((m) => m.parts.length)).toEqual([1, 2, 3]);
  });

  test('gives up older outputs first, then the skill and most of the newest, and then nothing more', () => {
    const c = new Conversation('do it');
    for (const [sign, holdsSkill] of [
      ['s', true],
      ['o', false],
      ['n', false],
    ] as const) {
      c.said([call(sign)]);
      c.result(call(sign), shown(long(sign), holdsSkill));
    }
    expect(c.shorten()).toBe(true);
    expect(outputs(c).map((o) => o.length)).toEqual([10_000, expect.any(Number) as never, 10_000]);
    expect(outputs(c)[1]?.length).toBeLessThan(300);
    expect(outputs(c)[1]).toStartWith('ooo');
    expect(outputs(c)[1]).toContain('given up');
    expect(c.shorten()).toBe(true);
    expect(outputs(c)[0]?.length).toBeLessThan(300);
    expect(outputs(c)[2]?.length).toBeLessThan(4_100);
    expect(c.shorten()).toBe(false);
    // a newer output makes the one that was newest an old one
    c.observed('short', false);
    expect(c.shorten()).toBe(true);
    expect(outputs(c)[2]?.length).toBeLessThan(300);
    expect(c.shorten()).toBe(false);
  });

  test('halves no character', () => {
    const c = new Conversation('do it');
    c.observed('x', false);
    c.said([{ kind: 'text', text: 'x' }]);
    c.observed(`a${'\u{1F6A2}'.repeat(5_000)}`, false);
    expect(c.shorten()).toBe(true);
    expect(JSON.stringify(c.messages()).isWellFormed()).toBe(true);
  });
});
