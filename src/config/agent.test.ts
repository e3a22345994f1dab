import { describe, expect, test } from 'bun:test';
import { SkilloptError } from '../ports/failure.ts';
import { agentName, type CustomAgent, customAgent } from './agent.ts';
import { checkConfig } from './load.ts';

const own = { name: 'my-agent', command: ['my-agent', '--skill', '{skill_dir}'] };
const config = (agent: unknown) => ({ skill: 's', pack: 'p', optimizer: 'rehearsal', agent });

/** What a user is told of an agent that is described wrongly; null = it is right. */
function told(agent: unknown): string | null {
  try {
    checkConfig(config(agent), 'the file');
    return null;
  } catch (error) {
    if (!(error instanceof SkilloptError)) throw error;
    return error.failure.what;
  }
}

describe('an agent of one’s own', () => {
  test('needs a name, a command, and a way for the skill', () => {
    const { agent } = checkConfig(config(own), 'the file');
    expect(agent).toEqual({ ...own, skills: null, protocol: null, env: {}, files: {}, version: null });
    expect(agentName(agent)).toBe('my-agent');
  });

  const right: readonly (readonly [string, Partial<CustomAgent>])[] = [
    ['a place below the workspace', { command: ['a'], skills: '.agents/skills' }],
    ['a place below the home', { command: ['a'], skills: '~/.a/skills/' }],
    ['a program by its path', { command: ['/opt/a/run', '{skill_dir}'] }],
    ['a model', { protocol: 'chat', env: { OPENAI_BASE_URL: '{base_url}/v1', OPENAI_API_KEY: '{key}' } }],
    ['files and their braces', { files: { '.a/c.json': '{"x": {"y": "{skill_dir}", "z": "{{model}}"}}' } }],
    ['a shell', { command: ['sh', '-c', `a --in "\${HOME}" < {instruction_file} > {workspace}/out {skill_dir}`] }],
    ['a version', { version: ['a', 'version'] }],
  ];
  test.each(right)('may have %s', (_, more) => {
    expect(told({ ...own, ...more })).toBeNull();
  });

  const wrong: readonly (readonly [string, object, RegExp])[] = [
    [
      'an unknown placeholder',
      { command: ['a', '{skil_dir}'] },
      /^agent\.command\.1: \{skil_dir\} is no placeholder: did you mean \{skill_dir\}\?/,
    ],
    ['one in its environment', { env: { X: '{modle}' } }, /^agent\.env\.X: \{modle\} .* \{model\}\?/],
    ['one in a file', { files: { a: '{work}' } }, /^agent\.files: "a": \{work\} is no placeholder/],
    ['one in the version', { version: ['a', '{model}'] }, /^agent\.version\.1: .*none can stand here/],
    ['no way for the skill', { command: ['a'] }, /^agent\.skills: the skill would not reach this agent/],
    [
      'a model without its API',
      { command: ['a', '{model}', '{skill_dir}'] },
      /^agent\.protocol: \{model\} is filled in for/,
    ],
    ['an API without the address', { protocol: 'chat' }, /^agent\.protocol: nothing tells the agent where/],
    ['no program', { command: ['', '{skill_dir}'] }, /^agent\.command\.0: is empty/],
    [
      'a program that is filled in',
      { command: ['{workspace}/a', '{skill_dir}'] },
      /^agent\.command\.0: is the program/,
    ],
    ['a program by a relative path', { command: ['./a', '{skill_dir}'] }, /^agent\.command\.0: is a path that depends/],
    ['a version by a relative path', { version: ['bin/a'] }, /^agent\.version\.0: is a path that depends/],
    ['a name with blanks', { name: 'My agent' }, /^agent\.name: is no short name/],
    ['skills above the workspace', { skills: '../skills' }, /^agent\.skills: is no folder below/],
    ['skills from /', { skills: '/skills' }, /^agent\.skills: is no folder below/],
    ['skills in another home', { skills: '~root/skills' }, /^agent\.skills: is no folder below/],
    ['files outside the home', { files: { '../a': '' } }, /^agent\.files: "\.\.\/a" is no path below the home/],
    ['files from /', { files: { '/a': '' } }, /^agent\.files: "\/a" is no path below the home/],
    ['a name that is no variable', { env: { 'A B': '' } }, /^agent\.env: "A B" is no name of a variable/],
    ['a home of its own', { env: { HOME: '/root' } }, /^agent\.env: HOME is the rollout’s own/],
    ['an unknown key', { cmd: 'a' }, /^unknown key agent\.cmd/],
  ];
  test.each(wrong)('may not have %s', (_, more, words) => {
    expect(told({ ...own, ...more })).toMatch(words);
  });

  test('is told from a name and from what is neither', () => {
    expect(told('builtin')).toBeNull();
    expect(told(3)).toBe('agent is neither a name nor a description of one');
    expect(told([])).toBe('agent is neither a name nor a description of one');
  });

  test('says what each key means', () => {
    for (const shape of Object.values(customAgent.shape)) expect(shape.description ?? '').not.toBe('');
  });
});
