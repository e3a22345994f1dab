import { describe, expect, test } from 'bun:test';
import { render, resolved } from './templates.ts';

describe('templates', () => {
  test.each([
    ['Hello {{name}}, {{ name }}!', { name: 'Ada' }, 'Hello Ada, Ada!'],
    ['{{n}} {{yes}}', { n: 3.5, yes: false }, '3.5 false'],
    ['{{a.b}} {{list[1]}}', { a: { b: 'x' }, list: ['p', 'q'] }, 'x q'],
    ['{{text}}.', { text: 'one line\n' }, 'one line.'],
    ['a { b } c }}', {}, 'a { b } c }}'],
    ['{{x}}', { x: '$& $1' }, '$& $1'],
  ])('%j is filled in', (template, variables, text) => {
    expect(render(template, variables)).toEqual({ ok: true, text });
  });

  test.each([
    ['{{ name | upper }}', /name \| upper/],
    ['{% if a %}x{% endif %}', /\{%/],
    ['{# note #}', /\{#/],
    ['{{- name -}}', /- name -/],
    ['{{ a + b }}', /a \+ b/],
    ['{{ f(x) }}', /f\(x\)/],
    ['{{ open', /\{\{/],
    ['{{missing}}', /missing\}\} has no value/],
    ['{{nothing}}', /nothing\}\} has no value/],
    ['{{o}}', /no text but a list or an object/],
    ['{{toString}}', /has no value/],
    ['{{name.length}}', /has no value/],
  ])('%j is refused with its reason', (template, why) => {
    expect(render(template, { name: 'Ada', nothing: null, o: {} })).toEqual({
      ok: false,
      why: expect.stringMatching(why),
    });
  });

  test('variables stand in variables, but never in themselves', () => {
    expect(resolved({ a: '{{b}}!', b: '{{c}}', c: 'x' })).toEqual({
      variables: { a: 'x!', b: 'x', c: 'x' },
      why: null,
    });
    expect(resolved({ a: '{{b}}', b: '{{a}}' }).why).toMatch(/leads back to itself/);
    expect(resolved({ a: '{{ b | trim }}', b: 'x' }).why).toMatch(/in the variable a/);
    expect(resolved({ code: 'if (x) { y }' }).why).toBeNull();
  });
});
