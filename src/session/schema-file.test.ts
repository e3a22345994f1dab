import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortHash } from '../ports/hash.ts';
import { sessionPaths } from './paths.ts';
import { writeSchema } from './schema-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'schema-file-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const paths = sessionPaths(dir);
const text = () => readFileSync(paths.schema, 'utf8');

test('the schema is written, left, renewed where an older version wrote it, and never over a file of yours', () => {
  expect(writeSchema(paths)).toBe('written');
  const ours = text();
  expect(writeSchema(paths)).toBe('same');

  const older = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'older', type: 'object' };
  const { $schema, ...rest } = older;
  const $comment = `written by skillopt, fingerprint ${shortHash(JSON.stringify([$schema, rest]))}`;
  writeFileSync(paths.schema, `${JSON.stringify({ $schema, $comment, ...rest }, null, 2)}\n`);
  expect(writeSchema(paths)).toBe('written');
  expect(text()).toBe(ours);

  const edited = ours.replace('"title": "', '"title": "My ');
  writeFileSync(paths.schema, edited);
  expect(writeSchema(paths)).toBe('yours');
  expect(text()).toBe(edited);
});
