import { describe, expect, test } from 'bun:test';
import { checkConfig } from '../config/load.ts';
import { makeRedactor } from '../journal/redact.ts';
import { SkilloptError } from '../ports/failure.ts';
import { refuseSecrets } from './config-secrets.ts';

const key = 'aVerySecretValue-0123';
const redact = makeRedactor([{ name: 'MY_TOKEN', value: key }]);
const refusal = async (more: object): Promise<SkilloptError | null> => {
  const config = checkConfig(
    { skill: './skill', pack: './tasks', agent: 'x', optimizer: 'rehearsal', ...more },
    'c.json',
  );
  try {
    await refuseSecrets(config, () => 'c.json', redact);
    return null;
  } catch (e) {
    if (e instanceof SkilloptError) return e;
    throw e;
  }
};

describe('a config that holds a secret', () => {
  test.each([
    ['a known value', `--header=${key}`],
    ['a key by its form', `sk-ant-api03-${'aB3dE6gH9'.repeat(11).slice(0, 93)}AA`],
    ['a password in an address', 'https://joe:hunter2345@example.org'],
  ])('is refused by the key, and the secret is not repeated: %s', async (_, argument) => {
    const error = await refusal({ optimizer: { model: 'command/mine', command: ['mine', '--say', argument] } });
    expect(error?.failure).toMatchObject({ code: 'config', where: 'c.json' });
    expect(error?.failure.what).toContain('optimizer.command.2 holds a secret');
    expect(JSON.stringify(error?.failure)).not.toContain(argument);
  });

  test('names of variables, addresses and programs are none', async () => {
    const model = { model: 'openai-compatible/x', baseUrl: 'http://localhost:8000/v1', keyEnv: 'MY_SECRET_TOKEN' };
    expect(await refusal({ model, optimizer: { model: 'command/mine', command: ['./my agent', '-p'] } })).toBeNull();
  });
});
