import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { imagesOfCompose, imagesOfDockerfile } from './base-images.ts';
import type { HarborOptions } from './options.ts';
import { optionsOf } from './preflight-fixture.ts';
import { wallsIn } from './task-needs.ts';
import { nameWithoutDefault, variableFindings } from './variables.ts';

describe('the images that a Dockerfile starts from', () => {
  test.each([
    ['one', 'FROM debian:12\nRUN true\n', ['debian:12']],
    ['stages', 'FROM a AS build\nFROM b\nCOPY --from=build x y\nFROM build\nFROM BUILD', ['a', 'b']],
    ['a platform', 'FROM --platform=linux/amd64 a@sha256:12 as x', ['a@sha256:12']],
    ['scratch', 'from scratch', []],
    ['arguments', `ARG V=3.12\nARG BASE="python"\nFROM \${BASE}:$V-slim`, ['python:3.12-slim']],
    ['a default in place', `ARG V\nFROM python:\${V:-3.13}`, ['python:3.13']],
    ['an argument that only the build gives', 'ARG IMAGE\nFROM $IMAGE', []],
    ['lines that go on, and comments', '# FROM no\nFROM \\\n  # not this\n  a:1 \\\n AS x\r\n', ['a:1']],
    ['the same twice', 'FROM a\nFROM a', ['a']],
  ] as const)('%s', (_name, text, images) => {
    expect(imagesOfDockerfile(text)).toEqual([...images]);
  });

  test('and those of a compose file that it does not build', () => {
    const text = `services:\n  main: {build: ., image: own}\n  db: {image: "postgres:16"}\n  x: {image: "\${X:-redis}"}\n  y: {image: $Y}\n`;
    expect(imagesOfCompose(text)).toEqual(['postgres:16', 'redis']);
    expect(imagesOfCompose('services: [')).toEqual([]);
    expect(imagesOfCompose('[1]')).toEqual([]);
  });

  test('any text is read without an error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(Array.isArray(imagesOfDockerfile(`FROM ${text}`))).toBe(true);
        expect(Array.isArray(imagesOfCompose(text))).toBe(true);
      }),
    );
  });
});

describe('what a task.toml says of the network', () => {
  test.each([
    ['nothing', '[environment]\ncpus = 1', []],
    ['the whole', '[environment]\nnetwork_mode = "public"', []],
    ['none', '[environment]\nnetwork_mode = "no-network"', ['[environment] network_mode = "no-network"']],
    ['the old key', '[environment]\nallow_internet = false', ['[environment] allow_internet = false']],
    ['the old key, allowed', '[environment]\nallow_internet = true', []],
    ['the new key wins', '[environment]\nallow_internet = false\nnetwork_mode = "public"', []],
    ['agent', '[agent]\nnetwork_mode = "allowlist"', ['[agent] network_mode = "allowlist"']],
    ['verifier', '[verifier.environment]\nallow_internet = false', ['[verifier.environment] allow_internet = false']],
    [
      'steps',
      '[[steps]]\nname = "a"\n[steps.agent]\nnetwork_mode = "no-network"',
      ['[steps.agent] network_mode = "no-network"'],
    ],
  ] as const)('%s', (_name, toml, walls) => {
    expect(wallsIn(Bun.TOML.parse(toml) as Record<string, unknown>)).toEqual([...walls]);
  });
});

describe('variables', () => {
  const task = {
    kind: 'folder',
    id: 't',
    dir: '/t',
    env: { environment: {}, verifier: {}, solution: {} },
  } as unknown as HarborOptions['tasks'][number];
  const needs = (environment: Record<string, string>, verifier: Record<string, string> = {}) => [
    {
      task,
      images: [],
      walls: [],
      envs: [
        { table: '[environment.env]', env: environment },
        { table: '[verifier.env]', env: verifier },
      ],
    },
  ];
  test.each([
    [`\${A}`, 'A'],
    [`\${A:-x}`, null],
    [`x\${A}`, null],
    ['$A', null],
  ] as const)('%s', (value, name) => {
    expect(nameWithoutDefault(value)).toBe(name);
  });

  test('each that is not set, once, with where it is asked for', () => {
    const o = optionsOf({
      env: ['ONE'],
      agentEnv: ['TWO', 'SET'],
      environmentEnv: { K: 'given' },
      model: { name: 'p/m', baseUrl: null, keyName: 'KEY', apiFormat: null },
      hostEnv: { SET: '', KEY: '' },
    });
    const found = variableFindings(o, needs({ K: `\${OVERRIDDEN}`, L: `\${ONE}`, M: `\${D:-x}` }, { V: `\${THREE}` }));
    expect(found.map(({ what, where }) => `${what} (${where})`)).toEqual([
      'the variable ONE is not set (harbor.env (and 1 more))',
      'the variable TWO is not set (harbor.agentEnv)',
      'the variable THREE is not set (task t, [verifier.env])',
      'the key of p/m is not set: KEY (model)',
    ]);
  });
});
