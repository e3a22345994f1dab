import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { lastBlock, withoutThoughts } from './replies.ts';

describe('lastBlock', () => {
  const block = (language: string, command: string, fence = '```') => `${fence}${language}\n${command}\n${fence}`;
  test.each([
    ['one block', block('bash', 'ls -A'), ['ls -A', '', true]],
    ['words around it', `First.\n${block('bash', 'ls')}\nThen.`, ['ls', 'First.\nThen.', true]],
    ['the last of several', `${block('bash', 'one')}\n${block('sh', 'two')}`, ['two', block('bash', 'one'), true]],
    ['another language after it', `${block('bash', 'ls')}\n${block('json', '{}')}`, ['ls', block('json', '{}'), true]],
    ['several lines', block('bash', "cat > a <<'E'\nx\n\n y\nE"), ["cat > a <<'E'\nx\n\n y\nE", '', true]],
    ['a longer fence around one', block('bash', 'cat <<E\n```\nE', '````'), ['cat <<E\n```\nE', '', true]],
    ['tildes', block('bash', 'ls', '~~~'), ['ls', '', true]],
    ['left open', '```bash\nls\npwd', ['ls\npwd', '', false]],
    ['in a list', '1. Look:\n   ```bash\nls\n   ```', ['ls', '1. Look:', true]],
    ['line ends of Windows', '```bash\r\nls\r\n```\r\nDone.', ['ls\r', 'Done.', true]],
    ['a word behind the language', '```bash title="x"\nls\n```', ['ls', '', true]],
    ['upper case', block('Bash', 'ls'), ['ls', '', true]],
  ])('%s', (_, text, [command, prose, closed]) => {
    expect(lastBlock(text as string)).toEqual({ command, prose, closed } as never);
  });

  test.each([
    ['words alone', 'All is done.'],
    ['a block without a language', block('', 'ls')],
    ['another language', block('python', 'print(1)')],
    ['an empty block', block('bash', '  ')],
    ['code within a line', 'Run ```bash ls``` now.'],
    ['a block of bash within another one', block('text', '```bash\nls'.replaceAll('`', "'"))],
    ['no blanks but a longer word', block('bashful', 'ls')],
  ])('finds none in %s', (_, text) => {
    expect(lastBlock(text)).toBeNull();
  });

  test('finds any command again that holds no fence', () => {
    const line = fc.string({ unit: 'binary', maxLength: 30 }).filter((l) => !/[\n\r]|^\s*(```|~~~)/.test(l));
    const command = fc.array(line, { minLength: 1, maxLength: 5 }).map((l) => l.join('\n'));
    fc.assert(
      fc.property(
        command.filter((c) => c.trim() !== ''),
        (c) => {
          expect(lastBlock(`Now:\n\n${block('bash', c)}\n`)?.command).toBe(c);
        },
      ),
    );
  });
});

describe('withoutThoughts', () => {
  test.each([
    ['no thoughts', 'Hello.', '', 'Hello.'],
    ['thoughts before it', '<think>\nhm\n</think>\n\nHello.', 'hm', 'Hello.'],
    ['another word for them', '<thinking>hm</thinking>Hello.', 'hm', 'Hello.'],
    ['no end of them', '<think>hm, let me', 'hm, let me', ''],
    ['an end alone, whose beginning the server has written', 'hm\n</think>\nHello.', 'hm', 'Hello.'],
    ['marks that the text speaks of', 'Write <think>x</think> there.', '', 'Write <think>x</think> there.'],
    ['empty thoughts', '<think>\n\n</think>\n\nHello.', '', 'Hello.'],
  ])('%s', (_, text, thought, said) => {
    expect(withoutThoughts(text)).toEqual({ thought, said });
  });
});
