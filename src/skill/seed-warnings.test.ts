import { describe, expect, test } from 'bun:test';
import { readSkill } from './document.ts';
import { seedWarnings } from './seed-warnings.ts';

const skill = (yaml: string, body = '# Demo\n') => `---\nname: demo\ndescription: d\n${yaml}---\n${body}`;
const warningsOf = (text: string, folder = 'demo') => seedWarnings(readSkill(text), folder);

describe('seedWarnings', () => {
  test('a clean seed has none', () => {
    const yaml = 'license: MIT\ncompatibility: any\nallowed-tools: Bash\nmetadata:\n  author: me\n';
    expect(warningsOf(skill(yaml, '# Demo\n\n```bash\nls\n```\n'))).toEqual([]);
  });

  test.each([
    ['name is not the folder', skill(''), 'other', 'not the name of its folder "other"'],
    ['name with capitals', skill('').replace('name: demo', 'name: Demo'), 'Demo', 'lower-case'],
    ['byte order mark', `\uFEFF${skill('')}`, 'demo', 'byte order mark'],
    ['CRLF', skill('').replaceAll('\n', '\r\n'), 'demo', 'CRLF'],
    ['mixed line ends', skill('', 'a\r\nb\n'), 'demo', 'different ways'],
    ['blanks after ---', skill('').replace('---\n', '--- \n'), 'demo', 'blanks after it'],
    ['control character', skill('', '# Demo\n\nx\u001b[2J\n'), 'demo', 'U+001B in line 7;'],
    ['bidi overrides', skill('', `${'\u202ex\n'.repeat(7)}`), 'demo', 'U+202E in line 9 and 2 more;'],
    ['C1 in the description', skill('').replace('description: d', 'description: d\u0085e'), 'demo', 'U+0085 in line 3'],
    ['unknown key', skill('model: x\n'), 'demo', 'key "model"'],
    ['angle brackets', skill('').replace('description: d', 'description: a <b> c'), 'demo', '"<" or ">"'],
    ['long compatibility', skill(`compatibility: ${'a'.repeat(501)}\n`), 'demo', '500 characters'],
    ['metadata with a number', skill('metadata:\n  version: 1\n'), 'demo', 'metadata'],
    ['unknown tag', skill('license: !mine x\n'), 'demo', 'line 4'],
    ['many lines', skill('', 'a\n'.repeat(501)), 'demo', '501 lines'],
    ['many tokens', skill('', 'word '.repeat(4001)), 'demo', 'tokens'],
    ['open fence', skill('', '# Demo\n\n```bash\nls\n'), 'demo', 'line 7'],
  ])('%s', (_name, text, folder, expected) => {
    const warnings = warningsOf(text, folder);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(expected);
  });
});
