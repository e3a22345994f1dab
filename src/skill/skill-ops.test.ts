import { describe, expect, test } from 'bun:test';
import type { Edit, EditOp } from '../ports/edit.ts';
import { BoundedCache } from './bounded-cache.ts';
import { skillOps } from './skill-ops.ts';

const SEED = '---\nname: demo\ndescription: Does a thing\n---\n# Demo\n\nRun `scripts/run.py`.\n\n- one\n- two\n';
const edit = (op: EditOp, target: string, content = ''): Edit => ({ op, target, content, cites: [], reason: '' });
const ops = skillOps(SEED, {
  bundledFiles: ['scripts/run.py'],
  secrets: ['sk-live-123456', 'BEGIN\nKEY\nEND', '', 'one'],
});

function outcomeOf(change: Edit, text = SEED): string {
  const applied = ops.apply(text, change);
  return applied.ok ? applied.text : applied.reason;
}

describe('skillOps', () => {
  test('applies what is valid', () => {
    expect(outcomeOf(edit('insert_after', '- one', '- more'))).toBe(SEED.replace('- one\n', '- one\n- more\n'));
  });

  test.each([
    ['not applicable', edit('replace', 'three', 'x'), 'target-missing'],
    ['locked', edit('replace', 'name: demo', 'name: other'), 'target-in-frontmatter'],
    ['invalid after it', edit('append_section', '', '```bash\nls'), 'unbalanced-fence'],
    ['a file that is not there', edit('append_section', '', 'See `scripts/none.py`.'), 'path-unknown'],
    ['the only mention of a file', edit('delete', 'Run `scripts/run.py`.'), 'path-lost'],
    ['too much', edit('append_section', '', 'a\n'.repeat(600)), 'too-large'],
    ['an envelope', edit('insert_after', '- one', '*** End Patch'), 'envelope-markers'],
  ] as const)('rejects: %s', (_name, change, reason) => {
    expect(outcomeOf(change)).toBe(reason);
  });

  test('rejects the whole body going', () => {
    const body = SEED.slice(SEED.indexOf('# Demo'));
    expect(outcomeOf(edit('delete', body))).toBe('invalid-document');
  });

  test.each([
    ['alone', edit('append_section', '', 'Key: sk-live-123456')],
    ['of several lines, with other line ends', edit('append_section', '', 'BEGIN\r\nKEY\r\nEND')],
    ['in an edit that would not apply anyway', edit('replace', 'nowhere', 'sk-live-123456')],
  ])('rejects a known secret: %s', (_name, change) => {
    const applied = ops.apply(SEED, change);
    expect(applied).toMatchObject({ ok: false, reason: 'secret' });
    expect(JSON.stringify(applied)).not.toContain('123456');
  });

  test('rejects a secret that comes together from old and new text', () => {
    const half = ops.apply(SEED, edit('append_section', '', 'Key: sk-live-'));
    if (!half.ok) throw new Error(half.detail);
    expect(outcomeOf(edit('replace', 'Key: sk-live-', 'Key: sk-live-1234'), half.text)).not.toBe('secret');
    expect(outcomeOf(edit('replace', 'Key: sk-', 'Key: sk-live-123456 sk-'), half.text)).toBe('secret');
    const end = ops.apply(SEED, edit('append_section', '', 'Key: K 123456'));
    if (!end.ok) throw new Error(end.detail);
    expect(outcomeOf(edit('replace', 'K ', 'sk-live-'), end.text)).toBe('secret');
  });

  test('a text without frontmatter is rejected', () => {
    expect(outcomeOf(edit('replace', 'a', 'b'), 'a\n')).toBe('invalid-document');
  });

  test('edits build on edited texts', () => {
    const first = edit('insert_after', '- two', '- three');
    const grown = outcomeOf(first);
    const second = edit('replace', '- three', '- three and four');
    expect(outcomeOf(second, grown)).toBe(grown.replace('- three', '- three and four'));
  });

  test('the same edit on another text is another question', () => {
    const change = edit('replace', '- one', '- first');
    expect(outcomeOf(change)).toContain('- first');
    expect(outcomeOf(change, SEED.replace('- one', '- uno'))).toBe('target-missing');
  });

  test('a seed that cannot be read throws', () => {
    expect(() => skillOps('# Demo\n', { bundledFiles: [] })).toThrow('no frontmatter');
  });
});

describe('BoundedCache', () => {
  test('forgets what was unused for longest', () => {
    const cache = new BoundedCache<string, number>(2);
    let made = 0;
    const get = (key: string) => cache.getOrMake(key, () => ++made);
    expect([get('a'), get('b'), get('a'), get('c')]).toEqual([1, 2, 1, 3]);
    expect(cache.size).toBe(2);
    expect([get('a'), get('b')]).toEqual([1, 4]);
  });
});
