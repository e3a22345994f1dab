import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readSkill } from './document.ts';
import { namedCommands } from './named-commands.ts';

const skill = (body: string, yaml = '') => `---\nname: demo\ndescription: d\n${yaml}---\n${body}`;
const namesOf = (body: string, yaml = '') => namedCommands(readSkill(skill(body, yaml))).map((c) => c.name);
const fence = (content: string, language = 'bash') => `# Demo\n\n\`\`\`${language}\n${content}\n\`\`\`\n`;

describe('the commands that a skill names', () => {
  test.each([
    ['simple commands', 'jq . a.json\npandoc b.md', ['jq', 'pandoc']],
    [
      'pipes and lists',
      'cat a | jq . && make || gcc x; strip y & wget z',
      ['cat', 'jq', 'make', 'gcc', 'strip', 'wget'],
    ],
    ['a redirection is no list', 'make 2>&1 | tee log', ['make', 'tee']],
    ['assignments and words before a command', 'A=1 B="x y" sudo -E make\ntime ./run && env -i gcc', ['make', 'gcc']],
    ['keywords', 'if jq -e . a; then\n  make\nfi\nfor f in *.c; do gcc "$f"; done', ['jq', 'make', 'gcc']],
    ['subshells', '(cd x; make)\nx=$(jq . a)', ['make', 'jq']],
    ['patterns of a case', 'case "$1" in\n  start) make ;;\n  stop | halt) gcc ;;\nesac', ['make', 'gcc']],
    ['comments', '# use jq\nmake # with gcc', ['make']],
    ['quotes over lines', 'python3 -c "\nimport json\nprint(json)\n"\nmake', ['python3', 'make']],
    ['here-documents', "cat <<'END' > x\njq is here\nEND\nmake", ['cat', 'make']],
    ['continued lines', 'make \\\n  gcc \\\n  jq', ['make']],
    ['what a shell has', 'cd x\nexport A=b\necho hi\n[ -e x ] && true\nread line', []],
    ['paths, placeholders and options', './jq\nscripts/jq\n$JQ .\n<command> x\n{{tool}}\nyour-tool x\n--flag\n...', []],
    ['words that are no names', 'Usage: x\nTOTAL 12\nSKILL.md\nfoo()', []],
    [
      'what is installed first',
      'pip install "httpie==3" yq\napt-get install -y jq\nhttpie x\nyq y\njq z',
      ['pip', 'apt-get'],
    ],
    ['what is looked for first', 'command -v jq || exit\nwhich yq\njq .\nyq .', []],
    ['what is defined there', 'greet() { echo hi; }\nfunction part { make; }\ngreet\npart\nalias ll=ls\nll', ['make']],
    ['versions in a name', 'python3.12 x', ['python3.12']],
  ])('%s', (_name, content, expected) => {
    expect(namesOf(fence(content))).toEqual(expected);
  });

  test.each(['sh', 'zsh', 'shell', 'Bash title="x"'])('in a block of %s', (language) => {
    expect(namesOf(fence('jq .', language))).toEqual(['jq']);
  });

  test.each(['', 'python', 'json', 'text', 'console'])('none in a block of "%s"', (language) => {
    expect(namesOf(fence('jq .', language))).toEqual([]);
  });

  test('in a transcript, after the prompt alone', () => {
    expect(namesOf(fence('$ jq .\nmake: nothing to do\n% make', 'console'))).toEqual(['jq', 'make']);
  });

  test('in inline code, after "run" and its like', () => {
    const body =
      '- When it is so, run `jq . | yq .` first.\nExecuting the command ``make`` helps.\nUse `gcc`, or not.\n';
    expect(namesOf(body)).toEqual(['jq', 'yq', 'make']);
    expect(namesOf('Run `/review` or `SKILL.md`, then run `f(x)` and run `SELECT 1`.\n')).toEqual([]);
    expect(namesOf('Install `jq`, then run `jq .`.\n')).toEqual([]);
  });

  test('in allowed-tools', () => {
    expect(namesOf('# Demo\n', 'allowed-tools: Bash(git add:*) Bash(jq *) Read Bash(npx:*)\n')).toEqual([
      'git',
      'jq',
      'npx',
    ]);
  });

  test('each once, with its line in the file', () => {
    const text = skill(`# Demo\n\nRun \`make\`.\n\n\`\`\`sh\n# first\njq .\nmake\n\`\`\`\n`);
    const expected = [
      { name: 'make', line: 7 },
      { name: 'jq', line: 11 },
    ];
    expect(namedCommands(readSkill(text))).toEqual(expected);
    expect(namedCommands(readSkill(text.replaceAll('\n', '\r\n')))).toEqual(expected);
  });

  test('in inline code over lines, the line on which the name stands', () => {
    const text = skill('Now run `\nsudo\njq .`.');
    const [found] = namedCommands(readSkill(text));
    expect(text.split('\n')[(found?.line ?? 0) - 1]).toBe('jq .`.');
  });

  test('any text: every name stands in the line that is told', () => {
    const piece = fc.constantFrom(
      "'",
      '"',
      '`',
      '```sh\n',
      '```\n',
      'run `',
      '$(',
      ')',
      '<<E\n',
      '\\',
      '\n',
      '; ',
      '| ',
      'jq ',
      'E\n',
      '# ',
      '$ ',
      'case x in\n',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
        const text = skill(`# Demo\n${pieces.join('').replaceAll('\0', '')}`);
        const lines = text.replace(/\r\n?/g, '\n').split('\n');
        for (const { name, line } of namedCommands(readSkill(text))) expect(lines[line - 1]).toContain(name);
      }),
    );
  });
});
