import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { skillReaders } from './agents-view.ts';
import { lintSkill } from './lint.ts';

const skill = (yaml: string, body = '# Demo\n\nDo it.\n') => `---\n${yaml}---\n${body}`;
const sound = 'name: demo\ndescription: Does it when asked.\n';
const lint = (text: string, files: readonly string[] = []) => lintSkill(text, { directoryName: 'demo', files });
const rules = (text: string, files?: readonly string[]) =>
  lint(text, files).findings.map((f) => `${f.level} ${f.line} ${f.rule}`);
const unseen = (text: string) =>
  lint(text)
    .agents.filter((a) => a.sees === 'no')
    .map((a) => a.agent)
    .join(' ');

describe('lint', () => {
  test('a sound skill has no finding, and every agent sees it as it is', () => {
    const found = lint(skill(sound));
    expect(found.findings).toEqual([]);
    expect(found.agents.map(({ agent, sees, how }) => [agent, sees, how])).toEqual(
      Object.keys(skillReaders).map((agent) => [agent, 'yes', '']),
    );
    expect(found.size).toEqual({ lines: 7, alwaysTokens: 6, bodyTokens: 4, files: 0 });
  });

  test.each<[string, string, readonly string[]]>([
    ['no frontmatter', '# Demo\n', ['error 1 frontmatter']],
    ['not closed', '---\nname: demo\n', ['error 1 frontmatter']],
    ['a colon in a value', skill('name: demo\ndescription: Use when: a\n'), ['error 3 frontmatter']],
    ['all that is missing', skill('license: MIT\n', ' \n'), ['error 1 name', 'error 1 description', 'error 4 body']],
    ['long name', skill(`name: ${'a'.repeat(65)}\ndescription: if\n`), ['error 2 name']],
    ['name is not the folder', skill('name: other\ndescription: if\n'), ['error 2 name-folder']],
    ['name in capitals', skill('description: if\nname: Demo\n'), ['error 3 name-folder', 'error 3 name-form']],
    ['angle brackets', skill('name: demo\ndescription: if <x>\n'), ['warning 3 description-form']],
    ['unknown key', skill(`${sound}model: x\n`), ['warning 4 unknown-key']],
    ['list of tools', skill(`${sound}allowed-tools: [Read]\n`), ['warning 4 allowed-tools']],
    ['byte order mark', `\uFEFF${skill(sound)}`, ['error 1 byte-order-mark']],
    ['CRLF', skill(sound).replaceAll('\n', '\r\n'), ['warning 1 line-ends']],
    ['when is not said', skill('name: demo\ndescription: Makes things.\n'), ['advice 3 description-when']],
    ['dead reference', skill(sound, '# A\n\n[b](references/b.md)\n'), ['warning 7 dead-reference']],
    ['merge marker', skill(sound, 'a\n<<<<<<< HEAD\n'), ['warning 6 leftover-marker']],
    ['somebody’s folder', skill(sound, 'a\n\ncd /Users/ann/x\n'), ['warning 7 own-path']],
    ['open fence', skill(sound, 'a\n```sh\nls\n'), ['warning 6 open-fence']],
    ['many lines', skill(sound, 'a\n'.repeat(501)), ['warning 5 size']],
    ['capitals', skill(sound, 'MUST NEVER ALWAYS NEVER\n'), ['advice 5 capitals']],
  ])('%s', (_name, text, expected) => {
    expect(rules(text)).toEqual([...expected]);
  });

  test('a reference that leads somewhere is none to tell, one that is deep is', () => {
    const text = skill(sound, '[b](references/b.md) [c](references/x/c.md)\n');
    expect(rules(text, ['references/b.md', 'references/x/c.md'])).toEqual(['advice 5 deep-reference']);
  });

  test('names commands and tools with their lines', () => {
    const found = lint(skill(`${sound}allowed-tools: Bash(git add:*) Read\n`, 'a\n```sh\njq . x | wc -l\n```\n'));
    expect(found.commands.map(({ name, line }) => [name, line])).toEqual([
      ['git', 4],
      ['jq', 8],
      ['wc', 8],
    ]);
    expect(found.allowedTools).toEqual(['Bash(git add:*)', 'Read']);
  });

  test('errors come first, then by line', () => {
    expect(rules(skill('name: other\ndescription: Makes <x>.\nmodel: y\n', 'MUST NEVER ALWAYS NEVER\n'))).toEqual([
      'error 2 name-folder',
      'warning 3 description-form',
      'warning 4 unknown-key',
      'advice 3 description-when',
      'advice 6 capitals',
    ]);
  });
});

describe('what agents make of it', () => {
  test.each<[string, string, string]>([
    ['a sound one', skill(sound), ''],
    ['name is not the folder', skill('name: other\ndescription: if\n'), ''],
    ['a colon in a value', skill('name: demo\ndescription: Use when: a: b\n'), 'pi'],
    ['no name', skill('description: if\n'), 'opencode gemini-cli'],
    ['no description', skill('name: demo\n'), 'codex pi opencode gemini-cli'],
    ['no frontmatter', '# Demo\n', 'codex pi opencode gemini-cli'],
    ['byte order mark', `\uFEFF${skill(sound)}`, 'codex gemini-cli'],
    ['CRLF', skill(sound).replaceAll('\n', '\r\n'), ''],
    ['open quote', skill('name: demo\ndescription: "Use if\n'), 'codex pi opencode'],
    ['1,500 characters', skill(`name: demo\ndescription: ${'a'.repeat(1500)}\n`), ''],
    ['not for models', skill(`${sound}disable-model-invocation: true\n`), 'claude-code pi'],
    ['two at once', `\uFEFF${skill('name: demo\ndescription: Use when: a: b\n')}`, 'codex pi gemini-cli'],
  ])('%s', (_name, text, expected) => {
    expect(unseen(text)).toBe(expected);
  });

  test('a damage that nobody has tried is unknown', () => {
    const found = lint(skill('name: demo\nname: demo\ndescription: if\n'));
    expect(new Set(found.agents.map((a) => a.sees))).toEqual(new Set(['unknown']));
  });

  test('what is seen otherwise than it stands there is told', () => {
    const how = (text: string) => Object.fromEntries(lint(text).agents.map((a) => [a.agent, a.how]));
    expect(how(skill(`name: x\ndescription: ${'a'.repeat(1500)}\n`))).toMatchObject({
      'claude-code': 'under the folder’s name',
      codex: 'with its description cut short',
      pi: '',
    });
    expect(how('# Demo\n')['claude-code']).toBe('with the first line of the body as its description');
  });
});

test('any text is looked at, and every line that is told is one of its own', () => {
  const piece = fc.constantFrom(
    '---\n',
    'name: demo\n',
    'description: "x',
    '"\n',
    '\uFEFF',
    '\r\n',
    '```\n',
    '[a](b/c.md)',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      const text = pieces.join('');
      const lines = text.split('\n').length;
      for (const f of lint(text).findings) {
        expect(f.line).toBeGreaterThanOrEqual(1);
        expect(f.line).toBeLessThanOrEqual(lines + 1);
      }
    }),
  );
});

test('of a thousand dead references the first are told one by one, the rest by their number', () => {
  const links = Array.from({ length: 1000 }, (_, i) => `[x](files/nope-${i}.md)`).join('\n');
  const { findings } = lintSkill(`---\nname: demo\ndescription: When asked.\n---\n${links}\n`, {
    directoryName: 'demo',
    files: [],
  });
  const dead = findings.filter((f) => f.rule === 'dead-reference');
  expect(dead).toHaveLength(51);
  expect(dead[0]).toMatchObject({ line: 5, what: expect.stringContaining('files/nope-0.md is named') });
  expect(dead[50]).toMatchObject({ line: 54, what: expect.stringMatching(/^950 more files are named/) });
});
