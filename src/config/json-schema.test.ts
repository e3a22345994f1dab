import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { configSchema, configSchemaText, isOurSchema } from './json-schema.ts';
import { configKeys, describedAt } from './keys.ts';
import { checkConfig } from './load.ts';

const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(configSchema());
const root = resolve(import.meta.dir, '../..');

/** Whole configs among the fenced JSON of a document. */
const configsIn = (path: string) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/```json\n([\s\S]*?)```/g)]
    .map((m) => JSON.parse(m[1] ?? ''))
    .filter((data) => 'skill' in data && 'pack' in data);

const bundled = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /skillopt\.config[^/]*\.json$/.test(path) && !path.includes('.schema.'))
  .map((path) => [path, JSON.parse(readFileSync(join(root, 'examples', path), 'utf8'))] as const);

const least = { skill: 's', pack: 'p', optimizer: 'rehearsal' };

describe('the JSON Schema', () => {
  test('takes the configs of the README', () => {
    const configs = configsIn('README.md');
    expect(configs.length).toBeGreaterThanOrEqual(2);
    for (const config of configs) expect([config, validate(config), validate.errors]).toEqual([config, true, null]);
  });

  test.each(bundled)('takes %s', (_, config) => {
    expect([validate({ $schema: './skillopt.config.schema.json', ...config }), validate.errors]).toEqual([true, null]);
  });

  test.each([
    [{ budgt: {} }],
    [{ budget: { rollouts: 'many' } }],
    [{ gate: { ruel: 'bold' } }],
    [{ gate: { rule: 'strict' } }],
    [{ model: { modle: 'a/b' } }],
    [{ splits: { train: ['a'] } }],
    [{ editBudget: { schedule: 'linear', max: 3 } }],
    [{ workers: 0 }],
    [{ skill: undefined }],
    [{ version: 2 }],
  ])('refuses what the program refuses: %j', (more) => {
    const config = JSON.parse(JSON.stringify({ ...least, ...more }));
    expect(validate(config)).toBe(false);
    expect(() => checkConfig(config, 'x')).toThrow();
  });

  test('tells of every key what it means', () => {
    const text = JSON.stringify(configSchema());
    for (const key of configKeys) expect(text).toContain(JSON.stringify(describedAt(key)));
  });
});

test('the file is known again, and one that was changed is not', () => {
  const text = configSchemaText();
  expect(isOurSchema(text)).toBe(true);
  expect(JSON.parse(text)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' });
  for (const other of [text.replace('"type": "object"', '"type": "array"'), '{}', 'no JSON', `${text} `, '[]', 'null'])
    expect(isOurSchema(other)).toBe(false);
});
