import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { protocols } from '../../../ports/gateway.ts';
import { fakeModel, seatFor } from './cli-fixture.ts';
import type { CliLaunch, McpLaunch } from './cli-kind.ts';
import { cliKinds } from './kinds.ts';

const everyWay = cliKinds.flatMap((kind) => kind.speaks.map((protocol) => [kind.name, protocol, kind] as const));
const text = (launch: CliLaunch) => JSON.stringify(launch);

describe('every coding agent', () => {
  test.each(everyWay)(
    '%s by %s: model, place and key are told; the key stands in no argument and no file',
    (...row) => {
      const [, protocol, kind] = row;
      const launch = kind.launch(seatFor({ protocol }));
      expect(text(launch)).toContain(fakeModel.baseUrl);
      expect(text(launch)).toContain(fakeModel.name);
      expect(Object.values(launch.env)).toContain(fakeModel.key);
      expect(JSON.stringify([launch.args, launch.homeFiles])).not.toContain(fakeModel.key);
    },
  );

  test.each(cliKinds.map((kind) => [kind.name, kind] as const))(
    '%s by its own login: neither place nor key',
    (_, kind) => {
      const own = { model: null, protocol: null };
      const launch = kind.launch(seatFor({ ...own, modelName: 'some-9', modelId: 'vendor/some-9' }));
      expect(text(launch)).not.toContain('127.0.0.1');
      expect(Object.keys(launch.env).filter((name) => /KEY/.test(name))).toEqual([]);
      expect(text(launch)).toContain('some-9');
      expect(text(kind.launch(seatFor(own)))).not.toMatch(/some-9|undefined/);
    },
  );

  test('each API is spoken by one that can be named in place of another', () => {
    for (const protocol of protocols) {
      expect(cliKinds.filter(({ speaks }) => speaks.includes(protocol)).length).toBeGreaterThan(1);
    }
  });

  test('whatever a seat holds, files are whole, lie below the home, and hold no key', () => {
    const names = fc.string({ minLength: 1 });
    const servers: fc.Arbitrary<McpLaunch> = fc.oneof(
      fc.record({
        kind: fc.constant('stdio' as const),
        command: fc.array(fc.string(), { minLength: 1 }),
        env: fc.array(names),
      }),
      fc.webUrl().map((url) => ({ kind: 'http' as const, url })),
    );
    const ways = fc.constantFrom(...everyWay);
    const tokens = fc.option(fc.integer({ min: 1, max: 2_000_000 }));
    fc.assert(
      fc.property(ways, names, tokens, tokens, fc.dictionary(names, servers), (way, name, takes, writes, mcp) => {
        const [, protocol, kind] = way;
        const room = { contextTokens: takes, maxOutputTokens: writes };
        const model = { ...fakeModel, id: `openai/${name}`, name, ...room };
        const launch = kind.launch(seatFor({ protocol, model, mcp, maxTurns: 3, maxUsd: 1 }));
        for (const [path, content] of Object.entries(launch.homeFiles)) {
          expect(path).toMatch(/^[.\w-]+(\/[.\w@-]+)+$/);
          if (path.endsWith('.json')) JSON.parse(content);
          expect(content).not.toContain(fakeModel.key);
        }
        expect([...launch.args, ...Object.values(launch.env)].every((word) => typeof word === 'string')).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

test('the page on agents names packages and versions as they are here', async () => {
  const page = await Bun.file(join(import.meta.dir, '../../../../docs/agents.md')).text();
  const row = (name: string) => page.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';
  const cells = (name: string) => row(name).split('|').slice(2, -1);
  expect(cells('npm package').map((cell) => cell.trim())).toEqual(cliKinds.map((kind) => `\`${kind.npmPackage}\``));
  expect(cells('version measured').map((cell) => cell.trim())).toEqual(cliKinds.map(({ tested }) => tested));
  expect(cells('program').map((cell) => cell.trim())).toEqual(cliKinds.map(({ program }) => `\`${program}\``));
});
