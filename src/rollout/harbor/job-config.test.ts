import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { sha256 } from '../../ports/hash.ts';
import { runProcess } from '../../process/run-process.ts';
import { request } from '../self-check-tools.ts';
import { dockerAnswers, harborIsHere } from './bench-fixture.ts';
import { harborEnvironment } from './harbor-env.ts';
import { jobConfig, overlayText } from './job-config.ts';
import { jobsOf } from './jobs.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { harborOptions, harborTask } from './options-fixture.ts';

const secret = 'sk-secret-0123456789';
let work = '';
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'harbor-config-'));
  const files = {
    'pack/one/instruction.md': 'do it\n',
    'pack/one/task.toml': 'schema_version = "1.0"\n',
    'pack/one/environment/Dockerfile': 'FROM debian:bookworm-slim\nWORKDIR /app\n',
    'pack/one/tests/test.sh': '#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n',
    'skills/greeter/SKILL.md': '---\nname: greeter\ndescription: d\n---\nbody\n',
    'other/helper/SKILL.md': '---\nname: helper\ndescription: d\n---\nbody\n',
    'overlay.yaml': overlayText('session', 'job'),
    'file.txt': 'x\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(work, path, '..'), { recursive: true });
    writeFileSync(join(work, path), text);
  }
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Everything that a user may ask for, as far as Harbor takes it together. */
const asked: Readonly<Record<string, () => Partial<HarborOptions>>> = {
  'as little as can be': () => ({}),
  'an agent of Harbor’s with a model, mounts and more': () => ({
    environment: { type: 'docker' },
    agent: { name: 'claude-code' },
    model: {
      name: 'anthropic/claude-sonnet-4-5',
      baseUrl: 'http://host.docker.internal:1',
      keyName: 'MY_KEY',
      apiFormat: 'anthropic_messages',
    },
    environmentKwargs: { keep_containers: false },
    agentKwargs: { max_turns: 5 },
    env: ['SHARED'],
    agentEnv: ['AGENT_ONLY'],
    environmentEnv: { PATH: '/opt/agents/bin:/usr/bin:/bin' },
    mounts: [{ source: join(work, 'file.txt'), target: '/opt/file.txt' }],
    otherSkills: [join(work, 'other/helper')],
    agentSec: 30,
    setupSec: 40,
  }),
};

function configOf(more: Partial<HarborOptions>, agentTimeoutSec: number | null = null) {
  const hostEnv = { ...process.env, MY_KEY: secret, SHARED: secret, AGENT_ONLY: secret };
  const o = harborOptions({ dir: work, hostEnv, ...more });
  const skill = { name: 'greeter', hash: sha256('x'), text: 'x', bundleDir: null };
  const task = harborTask({ id: 'one', dir: join(work, 'pack/one'), agentTimeoutSec });
  const requests = [request('a', task, skill), request('b', task)] as never;
  const [job] = jobsOf(requests, o.sessionId);
  const config = jobConfig(job!, o, {
    name: 'skillopt-job',
    jobsDir: join(work, 'jobs'),
    concurrency: 2,
    overlay: 'type' in o.environment ? join(work, 'overlay.yaml') : null,
    skillDir: (entry) => (entry.skill === null ? null : join(work, 'skills', entry.skill.name)),
  });
  return { o, config, job: job! };
}

for (const [what, more] of Object.entries(asked))
  describe(what, () => {
    test('each entry has its agent, and only the arms with a skill have it', () => {
      const { config, job, o } = configOf(more());
      expect(config.agents.length).toBe(2);
      for (const agent of config.agents) expect('name' in agent || 'import_path' in agent).toBe(true);
      const others = o.otherSkills;
      expect(config.agents.map(({ skills }) => skills ?? [])).toEqual([
        [join(work, 'skills/greeter'), ...others],
        others,
      ]);
      expect(config.agents.map(({ env }) => (env as Record<string, string>).SKILLOPT_ROLLOUT)).toEqual(
        job.entries.map(({ id }) => id),
      );
      expect([config.n_attempts, config.retry.max_retries, config.quiet]).toEqual([1, 0, true]);
    });

    test('all paths are absolute, and no value of a secret stands in it', () => {
      const { config } = configOf(more());
      const environment = config.environment as {
        readonly mounts?: readonly { readonly source: string; readonly target: string }[];
        readonly extra_docker_compose?: readonly string[];
      };
      const paths = [
        config.jobs_dir,
        ...config.tasks.map(({ path }) => path),
        ...config.agents.flatMap(({ skills }) => (skills ?? []) as readonly string[]),
        ...(environment.extra_docker_compose ?? []),
        ...(environment.mounts ?? []).flatMap(({ source, target }) => [source, target]),
      ];
      expect(paths.filter((path) => !isAbsolute(path))).toEqual([]);
      expect(JSON.stringify(config)).not.toContain(secret);
    });

    // a dry run for containers asks whether Docker answers
    const needsDocker = isDocker(configOf(more()).o.environment) && process.env.REQUIRE_HARBOR !== '1';
    test.skipIf(!harborIsHere || (needsDocker && !dockerAnswers()))(
      'Harbor takes it to the letter',
      async () => {
        const { o, config } = configOf(more());
        const file = join(work, 'config.json');
        writeFileSync(file, JSON.stringify({ ...config, n_concurrent_trials: 3 }));
        const env = { ...harborEnvironment(o), MY_KEY: secret, SHARED: secret, AGENT_ONLY: secret };
        const end = await runProcess({
          command: ['harbor', 'run', '-c', file, '-y', '--dry-run'],
          cwd: work,
          env,
          timeoutMs: 120_000,
        });
        expect([end.exitCode, `${end.stdout}${end.stderr}`]).toEqual([0, expect.not.stringContaining('failed')]);
      },
      300_000,
    );
  });

(harborIsHere ? test : test.skip)(
  'a key that Harbor does not know would be refused',
  async () => {
    const { o, config } = configOf({});
    const file = join(work, 'odd.json');
    writeFileSync(file, JSON.stringify({ ...config, n_concurent_trials: 3 }));
    const command = ['harbor', 'run', '-c', file, '-y', '--dry-run'] as const;
    const end = await runProcess({ command, cwd: work, env: harborEnvironment(o), timeoutMs: 120_000 });
    expect([end.exitCode, `${end.stdout}${end.stderr}`]).toEqual([1, expect.stringContaining('n_concurent_trials')]);
  },
  300_000,
);

test('an agent’s limit of time is the user’s, else the task’s, else the one for tasks without any', () => {
  const seconds = (more: Partial<HarborOptions>, ofTask: number | null) =>
    configOf(more, ofTask).config.agents.map(({ override_timeout_sec }) => override_timeout_sec ?? null);
  expect(seconds({ agentSec: 30 }, null)).toEqual([30, 30]);
  expect(seconds({ agentSec: 30 }, 90)).toEqual([30, 30]);
  expect(seconds({}, 90)).toEqual([null, null]);
  expect(seconds({ defaultAgentSec: 77 }, null)).toEqual([77, 77]);
});

test('containers end at once, reach this machine, and carry what they are known by', () => {
  expect(JSON.parse(overlayText('s1', 'j1'))).toEqual({
    services: {
      main: {
        init: true,
        stop_grace_period: '1s',
        extra_hosts: ['host.docker.internal:host-gateway'],
        labels: { 'skillopt.session': 's1', 'skillopt.job': 'j1' },
      },
    },
  });
});
