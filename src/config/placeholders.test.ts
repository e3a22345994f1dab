import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { filled, placeholderProblem, placeholdersIn } from './placeholders.ts';

const values = { model: 'm', skill_dir: '/s' };

describe('placeholders', () => {
  test.each([
    ['{model}', 'm'],
    ['--model={model},{skill_dir}', '--model=m,/s'],
    ['{"model": "{model}"}', '{"model": "m"}'],
    ['{{model}}', '{model}'],
    ['{{{model}}}', '{{model}}'],
    [`\${model} $HOME \${HOME}`, `\${model} $HOME \${HOME}`],
    ['{env:KEY} {MODEL} { model } {}', '{env:KEY} {MODEL} { model } {}'],
    ['{other}', '{other}'],
  ])('%s becomes %s', (text, expected) => {
    expect(filled(text, values)).toBe(expected);
  });

  test('are found where they are filled in, each once', () => {
    expect(placeholdersIn(`{a} {{b}} \${c} {a} {"x": "{d}"}`)).toEqual(['a', 'd']);
  });

  test('an unknown one is told with the nearest, and how its text is written', () => {
    expect(placeholderProblem('{skil_dir}', ['model', 'skill_dir'])).toBe(
      '{skil_dir} is no placeholder: did you mean {skill_dir}? {{skil_dir}} stands for the text itself',
    );
    expect(placeholderProblem('{x}', ['model', 'skill_dir'])).toContain('there are {model}, {skill_dir};');
    expect(placeholderProblem('{model}', [])).toContain('none can stand here;');
    expect(placeholderProblem(`{model} {{x}} \${y}`, ['model'])).toBeNull();
  });

  test('what is filled in is never filled in again, and any text can be written with doubled braces', () => {
    const name = fc.constantFrom('model', 'skill_dir', 'x');
    fc.assert(
      fc.property(name, fc.string(), (n, value) => {
        expect(filled(`<{${n}}>`, { [n]: `{${n}}${value}` })).toBe(`<{${n}}${value}>`);
        expect(filled(`{{${n}}}`, { [n]: value })).toBe(`{${n}}`);
      }),
    );
  });
});
