import { describe, expect, test } from 'bun:test';
import { readSkill } from './document.ts';
import { type ValidateOptions, validateEdited } from './validate.ts';

const HEAD = [
  '---',
  'name: demo',
  'description: Does a thing',
  'allowed-tools: Read Grep',
  'x-client: {a: 1}',
  '---',
  '',
].join('\n');
const BODY =
  '# Demo\n\nRun `scripts/run.py`, see [forms](references/forms.md).\n\n```bash\npython scripts/check.py\n```\n';
const BUNDLED = ['SKILL.md', 'scripts/run.py', 'scripts/check.py', 'references/forms.md', 'README', 'assets/logo.png'];

function reasonOf(text: string, seed = HEAD + BODY, options: Partial<ValidateOptions> = {}) {
  const validated = validateEdited(text, readSkill(seed), { bundledFiles: BUNDLED, ...options });
  return validated.ok ? 'ok' : `${validated.reason}: ${validated.detail}`;
}

const withBody = (body: string) => HEAD + body;

describe('the frontmatter', () => {
  test.each([
    ['the seed itself', HEAD + BODY],
    ['another body', withBody(`${BODY}\nMore.\n`)],
    ['a thematic break in the body', withBody(`${BODY}\n---\n\nMore.\n`)],
  ])('stays: %s', (_name, text) => {
    expect(reasonOf(text)).toBe('ok');
  });

  // Fault 16.
  test.each([
    ['--- put at line 1', `---\n${HEAD}${BODY}`, 'invalid-document', 'SKILL.md:2'],
    ['--- put into it', withBody(BODY).replace('name:', '---\nname:'), 'invalid-document', 'SKILL.md:2'],
    ['another name', withBody(BODY).replace('name: demo', 'name: other'), 'frontmatter-changed', 'the keys name '],
    ['unquoted colon', withBody(BODY).replace('Does a thing', 'a: b'), 'invalid-document', 'description: "a: b"'],
    ['allowed-tools dropped', withBody(BODY).replace(/allowed-tools.*\n/, ''), 'frontmatter-changed', 'allowed-tools'],
    ['allowed-tools widened', withBody(BODY).replace('Read Grep', 'Bash'), 'frontmatter-changed', 'allowed-tools'],
    ['a client key changed', withBody(BODY).replace('{a: 1}', '{a: 2}'), 'frontmatter-changed', 'x-client'],
    ['a key added', withBody(BODY).replace('name:', 'model: x\nname:'), 'frontmatter-changed', 'model'],
    ['1100 characters', withBody(BODY).replace('Does a thing', 'd'.repeat(1100)), 'invalid-document', '1100'],
    ['another description', withBody(BODY).replace('Does', 'Makes'), 'frontmatter-changed', 'description'],
    ['a comment', withBody(BODY).replace('name:', '# c\nname:'), 'frontmatter-changed', 'its bytes'],
    ['blanks after ---', withBody(BODY).replace('---\n', '--- \n'), 'frontmatter-changed', 'its bytes'],
    ['a byte order mark added', `\uFEFF${HEAD}${BODY}`, 'frontmatter-changed', 'mark was added'],
    ['no frontmatter', BODY, 'invalid-document', 'no frontmatter'],
    ['unclosed frontmatter', `${HEAD.slice(0, -4)}${BODY}`, 'invalid-document', 'not closed'],
    ['an empty text', '', 'invalid-document', 'no frontmatter'],
  ])('is locked: %s', (_name, text, reason, detail) => {
    const found = reasonOf(text);
    expect(found).toStartWith(reason);
    expect(found).toContain(detail);
  });

  test('a byte order mark of the seed stays', () => {
    const seed = `\uFEFF${HEAD}${BODY}`;
    expect(reasonOf(`${seed}More.\n`, seed)).toBe('ok');
    expect(reasonOf(`${HEAD}${BODY}More.\n`, seed)).toContain('mark was dropped');
  });
});

describe('the body', () => {
  test.each([
    ['empty', HEAD],
    ['blank', `${HEAD}\n \t\n`],
  ])('is not %s', (_name, text) => {
    expect(reasonOf(text)).toBe('invalid-document: the body would be empty');
  });

  test.each([
    ['NUL', withBody(`${BODY}\0`)],
    ['half a surrogate pair', withBody(`${BODY}\ud800`)],
    ['control character', withBody(`${BODY}\u001b`)],
    ['bidi override', withBody(`${BODY}\u202e`)],
    ['CRLF in an LF file', withBody(`${BODY}a\r\n`)],
    ['a carriage return in an LF file', withBody(`${BODY}a\rb\n`)],
  ])('holds no %s', (_name, text) => {
    expect(reasonOf(text)).toStartWith('bad-text');
  });

  test('a control character of the seed may stay, and no other may come', () => {
    const seed = withBody(`${BODY}\u001b`);
    expect(reasonOf(`${seed}More.\n`, seed)).toBe('ok');
    expect(reasonOf(`${seed}M\u0007ore.\n`, seed)).toContain('U+0007');
  });

  test('a CRLF file stays CRLF, a mixed one may be anything', () => {
    const crlf = (HEAD + BODY).replaceAll('\n', '\r\n');
    expect(reasonOf(`${crlf}More.\r\n`, crlf)).toBe('ok');
    expect(reasonOf(`${crlf}More.\n`, crlf)).toContain('are CRLF');
    const mixed = `${crlf}one\n`;
    expect(reasonOf(`${crlf}two\r\n`, mixed)).toBe('ok');
  });

  const lines = (count: number) => withBody(`${BODY}${'a\n'.repeat(count - 7)}`);
  const letters = (count: number) => withBody(BODY + 'a'.repeat(count - BODY.length));

  test.each([
    ['500 lines', lines(500), HEAD + BODY, {}, 'ok'],
    ['501 lines', lines(501), HEAD + BODY, {}, 'too-large: the body would have 501 lines, more than 500'],
    ['20000 characters', letters(20_000), HEAD + BODY, {}, 'ok'],
    ['20001 characters', letters(20_001), HEAD + BODY, {}, 'too-large: the body would have about 5001 tokens'],
    ['half as much again as a large seed', lines(900), lines(600), {}, 'ok'],
    ['more than that', lines(901), lines(600), {}, 'too-large: the body would have 901 lines, more than 900'],
    ['a cap of the caller', lines(11), HEAD + BODY, { maxLines: 10 }, 'too-large'],
    ['a token cap of the caller', letters(500), HEAD + BODY, { maxTokens: 100 }, 'too-large'],
  ])('size: %s', (_name, text, seed, options, expected) => {
    expect(reasonOf(text, seed, options)).toStartWith(expected);
  });

  test('differs from the incumbent in more than trailing blanks', () => {
    expect(reasonOf(HEAD + BODY, HEAD + BODY, { incumbent: `${HEAD}${BODY}  \n` })).toStartWith('no-change');
    expect(reasonOf(`${HEAD}${BODY}x`, HEAD + BODY, { incumbent: HEAD + BODY })).toBe('ok');
  });
});

describe('code fences', () => {
  test.each([
    ['balanced', '```\na\n```\n', 'ok'],
    ['tildes', '~~~sh\n```\n~~~\n', 'ok'],
    ['nested by more backticks', '````md\n```bash\nls\n```\n````\n', 'ok'],
    ['in a list', '- a\n\n  ```bash\n  ls\n  ```\n- b\n', 'ok'],
    ['inline code of three', 'a ```b``` c\n', 'ok'],
    ['an indented block is no fence', 'a\n\n    ```\n', 'ok'],
    ['unclosed', '```bash\nls\n', 'unbalanced-fence'],
    ['unclosed at the very end', 'a\n\n```', 'unbalanced-fence'],
    ['closed by too few', '````\na\n```\n', 'unbalanced-fence'],
    ['closed by the other kind', '```\na\n~~~\n', 'unbalanced-fence'],
    ['nested with as many backticks', '```md\n```bash\nls\n```\n```\n', 'unbalanced-fence'],
    ['in a list, never closed', '- a\n\n  ```bash\n  ls\n\nb\n', 'unbalanced-fence'],
  ])('%s', (_name, added, expected) => {
    expect(reasonOf(withBody(`${BODY}\n${added}`))).toStartWith(expected);
  });

  test('the lines that open are named', () => {
    expect(reasonOf(withBody(`${BODY}\n\`\`\`bash\nls\n`))).toContain('opened in line 15');
  });

  test('an open fence of the seed is its own, one more is not', () => {
    const seed = withBody(`${BODY}\n- a\n\n  \`\`\`\n  x\n\nb\n`);
    expect(reasonOf(`${seed}\nmore\n`, seed)).toBe('ok');
    expect(reasonOf(`${seed}\n\`\`\`sh\nmore\n`, seed)).toStartWith('unbalanced-fence');
  });
});

describe('leftover markers', () => {
  test.each([
    ['merge', '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n'],
    ['search block', 'a\n<<<<<<< SEARCH\n'],
    ['end of a merge', 'a\n>>>>>>>\n'],
    ['patch envelope', '*** Begin Patch\n*** End Patch\n'],
    ['patch of a file', '*** Update File: SKILL.md\n'],
    ['hunk header', '@@ -1,2 +1,3 @@\n'],
    ['file header', '+++ b/SKILL.md\n'],
    ['edit tag', '<edit>\nx\n</edit>\n'],
    ['edit tag at the end of a line', 'x</edit>\n'],
    ['thinking tag', '</think>\nx\n'],
    ['control token', 'x<|im_end|>\n'],
  ])('%s', (_name, added) => {
    const text = withBody(`${BODY}\n${added}`);
    expect(reasonOf(text)).toStartWith('envelope-markers: line 1');
    expect(reasonOf(`${text}more\n`, text)).toBe('ok');
  });

  test.each([
    ['an underlined heading', 'Title\n=======\n'],
    ['quotes and shell', '> a\n>> b\n\ncat <<EOF\n'],
    ['tags of other names', '<example>\nx\n</example>\n'],
    ['a tag in mid line', 'Use `<edit>` for it\n'],
    ['a thematic break', 'a\n\n***\n\nb\n'],
  ])('no marker: %s', (_name, added) => {
    expect(reasonOf(withBody(`${BODY}\n${added}`))).toBe('ok');
  });
});

describe('paths', () => {
  test.each([
    ['a file in inline code', BODY.replace('`scripts/run.py`', 'it'), 'scripts/run.py'],
    ['a link', BODY.replace('[forms](references/forms.md)', 'forms'), 'references/forms.md'],
    ['a file named in a code block', BODY.replace('python scripts/check.py', 'true'), 'scripts/check.py'],
    ['a longer name is another file', BODY.replace('scripts/check.py', 'scripts/check.pyc'), 'scripts/check.py'],
  ])('lost: %s', (_name, body, path) => {
    expect(reasonOf(withBody(body))).toStartWith(`path-lost: the body would no longer name ${path}`);
  });

  test.each([
    ['a link written as code', BODY.replace('[forms](references/forms.md)', '`references/forms.md`')],
    ['code written as a link', BODY.replace('`scripts/run.py`', '[run](./scripts/run.py#usage "run")')],
    ['behind a variable', BODY.replace('python scripts/check.py', 'python "$DIR/scripts/check.py"')],
    ['in prose at the end of a sentence', BODY.replace('`scripts/run.py`', 'scripts/run.py.')],
  ])('still named: %s', (_name, body) => {
    expect(reasonOf(withBody(body))).toBe('ok');
  });

  test.each([
    ['a link', '[x](references/none.md)', 'references/none.md'],
    ['an image', '![x](assets/none.png)', 'assets/none.png'],
    ['a link definition', '[x]: docs/none.md', 'docs/none.md'],
    ['a link in a list of a quote', '> - [x](none.md)', 'none.md'],
    ['a file in inline code', 'Run `scripts/none.py`.', 'scripts/none.py'],
    ['a command in inline code', 'Run `python scripts/none.py --all`.', 'scripts/none.py'],
    ['outside of the skill', '[x](../other/SKILL.md)', '../other/SKILL.md'],
  ])('unknown: %s', (_name, added, path) => {
    expect(reasonOf(withBody(`${BODY}\n${added}\n`))).toStartWith(`path-unknown: the body would refer to ${path},`);
  });

  test.each([
    ['a bundled file', '[x](scripts/check.py) ![y](assets/logo.png)'],
    ['a bundled folder', 'See `references/` and [all](scripts).'],
    ['itself', '[rules](SKILL.md#rules)'],
    ['an anchor', '[x](#rules)'],
    ['a URL', '[x](https://example.com/none.md) <https://example.com>'],
    ['an absolute path', '[x](/etc/none.md) `/app/scripts/none.py`'],
    ['a placeholder', '`scripts/<name>.py` `assets/*.png` `scripts/{a}.sh` [Title](URL)'],
    ['a file of the task', 'Write `out/report.json`, then `report.md`.'],
    ['a link in code', '`[x](none.md)`'],
    ['a link in a code block', '```\n[x](none.md) `scripts/none.py`\n```'],
    ['a path in prose', 'Put scripts/none.py away.'],
    ['a broken escape', '[x](#%E0%A4%A)'],
  ])('known or no path: %s', (_name, added) => {
    expect(reasonOf(withBody(`${BODY}\n${added}\n`))).toBe('ok');
  });

  test('a dead link of the seed may stay and may go', () => {
    const seed = withBody(`${BODY}\n[x](none.md)\n`);
    expect(reasonOf(`${seed}more\n`, seed)).toBe('ok');
    expect(reasonOf(withBody(`${BODY}\nmore\n`), seed)).toBe('ok');
  });

  test('a bare word that is the name of a file is no path', () => {
    const seed = withBody(`${BODY}\nWrite a README for it.\n`);
    expect(reasonOf(withBody(`${BODY}\nWrite it up.\n`), seed)).toBe('ok');
  });
});
