import { describe, expect, test } from 'bun:test';
import { readAtif } from './atif.ts';
import { readInSteps } from './reading.ts';

const read = (...steps: readonly object[]) => readAtif(JSON.stringify({ schema_version: 'ATIF-v1.7', steps }));
const agent = (more: object) => ({ source: 'agent', message: '', ...more });
const call = (id: string | null, args: unknown, name = 'bash') => ({
  tool_call_id: id,
  function_name: name,
  arguments: args,
});
const result = (id: string | null, content: unknown) => ({ source_call_id: id, content });
const tool = (input: string, output: string, name = 'bash') => ({ kind: 'tool', name, input, output, exitCode: null });

describe('a step of Harbor’s format', () => {
  test('is thought, words and tools, in this order', () => {
    const step = agent({
      reasoning_content: 'hm',
      message: [{ type: 'text', text: 'one' }, { type: 'image', source: {} }, 'two'],
      tool_calls: [call('a', { command: 'ls' })],
      observation: { results: [result('a', 'x')] },
    });
    expect(read(step)?.steps).toEqual([
      { kind: 'thought', text: 'hm' },
      { kind: 'message', role: 'agent', text: 'one\n[image]\ntwo' },
      tool('ls', 'x'),
    ] as never);
  });

  const two = [call('a', { cmd: ['ls', '-l'] }), call('b', { path: '/x' }, 'read')];
  test.each([
    ['results by the calls that they name', [result('b', 'B'), result('a', 'A')], ['A', 'B'], []],
    ['several results of one call', [result('a', '1'), result('a', '2')], ['1\n2', ''], []],
    ['results that name none, in order', [result(null, 'A'), result(null, 'B')], ['A', 'B'], []],
    ['a result of no call', [result('z', 'Z'), result('a', 'A')], ['A', ''], ['Z']],
    ['none', [], ['', ''], []],
  ] as const)('pairs %s', (_, results, outputs, notes) => {
    const steps = read(agent({ tool_calls: two, observation: { results } }))?.steps ?? [];
    expect(steps.slice(0, 2)).toEqual([tool('ls -l', outputs[0]), tool('{"path":"/x"}', outputs[1], 'read')] as never);
    expect(steps.slice(2)).toEqual(notes.map((text) => ({ kind: 'note' as const, text })));
  });
});

test('what it was told at its start is left out, what it hears later is not', () => {
  const found = read(
    { source: 'system', message: 'be good' },
    { source: 'user', message: 'do it' },
    agent({ message: 'yes' }),
    { source: 'user', message: 'go on' },
    agent({ message: 'done' }),
  );
  expect(found?.steps.map((step) => (step.kind === 'message' ? [step.role, step.text] : []))).toEqual([
    ['agent', 'yes'],
    ['user', 'go on'],
    ['agent', 'done'],
  ]);
  expect(found?.finalText).toBe('done');
  expect(read({ source: 'user', message: 'do it' })).toEqual({ steps: [], finalText: '', next: null });
});

test('a file that goes on in another names it, and the other repeats nothing', () => {
  const first = readAtif(
    JSON.stringify({ steps: [agent({ message: 'a' })], continued_trajectory_ref: 'trajectory.cont-1.json' }),
  );
  expect(first?.next).toBe('trajectory.cont-1.json');
  expect(read(agent({ message: 'a', is_copied_context: true }), agent({ message: 'b' }))?.steps).toEqual([
    { kind: 'message', role: 'agent', text: 'b' },
  ]);
});

describe('a skill was read', () => {
  const skill = `---
name: s
description: d
---
# Head of it all

Every total is rounded to the next cent, never down.
Dates are written as the customer wrote them.
Write the file with a line end at its end.
A line that begins with a semicolon is a comment.
`;
  const lines = skill.split('\n').slice(6, 8);
  const shown = (output: string, input = 'cat SKILL.md') => [tool(input, output) as never];
  test.each([
    ['two lines of its body in what a tool gave', shown(lines.join('\n')), true],
    ['numbered and quoted', shown(JSON.stringify(lines.map((line, i) => `${i}\t${line}`))), true],
    ['as words of the user', [{ kind: 'message', role: 'user', text: skill }], true],
    ['one line alone', shown(lines[0]!), null],
    [
      'what it wrote itself',
      [
        { kind: 'message', role: 'agent', text: skill },
        { kind: 'thought', text: skill },
      ],
      null,
    ],
    ['what it wrote and had shown', shown(skill, `cat <<EOF\n${skill}EOF`), null],
    ['nothing', [], null],
  ] as const)('%s', (_, steps, expected) => {
    expect(readInSteps(steps, skill)).toBe(expected);
  });
  test('no lines of its own, no proof', () => {
    expect(readInSteps(shown('text'), '---\nname: s\ndescription: d\n---\nshort\n')).toBeNull();
    expect(readInSteps(shown('text'), 'no skill at all')).toBeNull();
  });
});
