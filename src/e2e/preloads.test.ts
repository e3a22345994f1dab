import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Ended, removePlaces, until } from './binary.ts';
import { writeFiles } from './own-pack.ts';
import { guestWord, PostHouse } from './post-house.ts';

afterAll(removePlaces);

type Outcome = {
  readonly outcome: { readonly status: string; readonly hard?: number };
  readonly versions: Readonly<Record<string, string>>;
};
const outcomes = (own: PostHouse) =>
  own.place.events('session').filter((e) => e.type === 'rollout.finished') as unknown as readonly Outcome[];
/** What a command that was refused says. */
function refused(end: Ended, code = 4): string {
  expect({ code: end.code, stderr: end.stderr }).toEqual({ code, stderr: expect.stringMatching(/^failed /m) });
  return end.stderr;
}
const steps = (stdout: string) => stdout.split('\n').filter((line) => /^preloads {4}(npm|pip|setup)[ \d]*:/.test(line));

/** Living processes whose command line holds a word (Linux; elsewhere none are seen). */
function processesWith(word: string): readonly string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false; // it ended while we looked
    }
  });
}

describe('a session with preloads', () => {
  test('installs once, gives agents and verifiers commands and variables, and shows no value', async () => {
    const own = new PostHouse({
      setup: ['echo "setup was told $GUEST_WORD"; ln -s "$(command -v hello)" bin/hi'],
      commands: ['hi'],
    });
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toMatch(
      /^preloads {4}npm \.\.\/hello: installed once into .*, over this machine’s network, as you; no script of a package runs$/m,
    );
    expect(steps(end.stdout)).toEqual(['preloads    npm: ../hello', expect.stringContaining('preloads    setup 1: ')]);
    const all = outcomes(own);
    expect(all.length).toBeGreaterThan(4);
    for (const { outcome, versions } of all) {
      expect(outcome.status).toBe('scored');
      expect(versions).toMatchObject({
        'npm hello': '1.0.0',
        'package hello': expect.any(String),
        node: expect.any(String),
      });
    }
    expect(end.stdout).toContain('ACCEPT');
    expect(own.written()).not.toContain(guestWord);
    expect(own.written()).toContain('the verifier was told [redacted: GUEST_WORD]');
    expect(own.place.read('session/.skillopt/preloads/build.log')).toContain('setup was told [redacted: GUEST_WORD]');
    expect(own.place.leftovers('session')).toEqual([]);
    await own.succeed(['verify', 'session']);

    const again = await own.succeed(['finalize', 'session']);
    expect(steps(again.stdout)).toEqual([]);
  });

  test('goes on with its own copies, and says what was changed; what was installed comes back alike', async () => {
    const plain = { sandbox: { kind: 'none' } }; // so that verifiers see the file that holds them
    const own = new PostHouse({}, plain);
    writeFileSync(own.hold, '');
    const first = own.start(['run', 'session']);
    await until('a rollout has begun', () => own.place.lines('session') > 4);
    first.kill('SIGINT');
    await first.ended;
    rmSync(own.hold);
    const before = outcomes(own).length;
    own.package('hello', 'another word');
    const log = own.place.read('session', 'skillopt.jsonl');
    const cleaned = await own.succeed(['clean', 'session', '--preloads']);
    expect(cleaned.stdout).toContain('what was installed in ');
    expect(readdirSync(own.place.path('session/.skillopt/preloads')).sort()).toEqual(['kept', 'ready.json']);
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toContain('the package hello was changed since the session began with it');
    expect(end.stdout).toContain('installed again, as what was installed is gone');
    expect(own.place.read('session', 'skillopt.jsonl').startsWith(log)).toBe(true);
    expect(outcomes(own).length).toBeGreaterThan(before);
    expect(outcomes(own).some((o) => o.outcome.hard === 1)).toBe(true);
    expect(own.place.events('session').some((e) => JSON.stringify(e).includes('environment.changed'))).toBe(false);

    // without the copies it is taken from its source, and that is another environment
    rmSync(own.place.path('session/.skillopt/preloads'), { recursive: true });
    const forked = await own.succeed(['fork', 'session']);
    expect(forked.stdout).toContain('not paid again');
    const other = await own.succeed(['run', 'session-step1']);
    expect(steps(other.stdout)).toHaveLength(1);
    expect(own.place.events('session-step1').some((e) => JSON.stringify(e).includes('environment.changed'))).toBe(true);
  });

  test('a fork has the copies of its parent: nothing is measured anew', async () => {
    const own = new PostHouse();
    await own.succeed(['run', 'session']);
    own.package('hello', 'another word');
    await own.succeed(['fork', 'session', '--at', '0', '--to', 'deep/down/fork']);
    const fork = JSON.parse(own.place.read('deep/down/fork/skillopt.config.json'));
    expect(fork.preloads.npm).toEqual(['../../../hello']);
    const end = await own.succeed(['run', 'deep/down/fork']);
    expect(end.stdout).toContain('the package hello was changed since the session began with it');
    expect(own.place.events('deep/down/fork').some((e) => JSON.stringify(e).includes('environment.changed'))).toBe(
      false,
    );
    await own.succeed(['verify', 'deep/down/fork']);
  });

  test('an eval of it has what it has installed', async () => {
    const own = new PostHouse();
    await own.succeed(['run', 'session']);
    own.package('hello', 'another word');
    const end = await own.succeed(['eval', 'session', '--split', 'train', '--no-skill']);
    expect(steps(end.stdout)).toEqual([]);
    const outside = await own.succeed([
      'eval',
      '--skill',
      'post-house',
      '--pack',
      'pack',
      '--agent',
      'rehearsal',
      '--allow-unsandboxed',
      '--set',
      'preloads={"npm": ["./hello"], "env": ["GUEST_WORD"]}',
    ]);
    expect(steps(outside.stdout)).toEqual(['preloads    npm: ./hello']);
  });

  test('tells all that is wrong before anything is done', async () => {
    const own = new PostHouse({
      apt: ['jq'],
      env: ['GUEST_WORD', 'NOT_SET'],
      npm: ['../hello', '--global'],
      skills: ['../post-house'],
    });
    const end = await own.run(['run', 'session']);
    const failure = refused(end);
    expect(failure).toContain('preloads.apt: no system package is installed on this machine: jq');
    expect(failure).toContain('preloads.env: the variable NOT_SET is not set');
    expect(failure).toContain('preloads.npm: "--global" is an option of npm, and no package');
    expect(failure).toContain('the other skill post-house has the name of the skill that is measured');
    expect(failure).toContain('the agent rehearsal looks for no other skills');
    expect(own.has('.skillopt/preloads')).toBe(false);
  });

  test('a step that fails is told with its last lines, and a mended config begins anew', async () => {
    const own = new PostHouse({ setup: ['echo about to fail; exit 7'] });
    const failure = refused(await own.run(['run', 'session']));
    expect(failure).toContain(
      'preloads could not be installed: setup 1: echo about to fail; exit 7 ended with exit code 7',
    );
    expect(failure).toContain('  about to fail');
    expect(failure).toContain('mend the line in preloads.setup');
    expect(readdirSync(own.place.path('session/.skillopt/preloads'))).toEqual(['build.log']);
    own.configure({ npm: ['../hello'], env: ['GUEST_WORD'] });
    await own.succeed(['run', 'session']);
  });

  test('a command that nothing brings is told after the installation, and then at once', async () => {
    const own = new PostHouse({ commands: ['surely-not-there'] });
    const first = await own.run(['run', 'session']);
    expect(steps(first.stdout)).toHaveLength(1);
    expect(refused(first)).toContain('the command surely-not-there is not found by rollouts');
    const second = await own.run(['run', 'session']);
    expect(steps(second.stdout)).toHaveLength(0);
    expect(refused(second)).toContain('the command surely-not-there is not found by rollouts');
    expect(own.has('skillopt.jsonl') && own.place.lines('session') > 0).toBe(false);
  });

  test('two processes do not meet: the second is told who is at work', async () => {
    const own = new PostHouse({ setup: ['touch waiting; while [ ! -e go ]; do sleep 0.02; done'] });
    const first = own.start(['run', 'session']);
    await until(
      'setup runs',
      () => own.prefix() !== null && own.has('.skillopt/preloads', own.prefix() ?? '', 'waiting'),
    );
    refused(await own.run(['run', 'session']), 5);
    writeFileSync(own.place.path('session/.skillopt/preloads', own.prefix() ?? '', 'go'), '');
    expect((await first.ended).code).toBe(0);
  });

  test.each([
    ['SIGINT', 'auto'],
    ['SIGKILL', 'auto'],
    ['SIGINT', 'none'],
    ['SIGKILL', 'none'],
  ] as const)('%s while it installs leaves nothing half, sandbox %s', async (signal, kind) => {
    const token = `token-${signal}-${kind}`;
    const own = new PostHouse(
      { setup: [`: ${token}; echo half > bin/half; touch waiting; setsid sleep 600 & while :; do sleep 0.02; done`] },
      { sandbox: { kind } },
    );
    const first = own.start(['run', 'session']);
    await until(
      'setup runs',
      () => own.prefix() !== null && own.has('.skillopt/preloads', own.prefix() ?? '', 'waiting'),
    );
    expect(processesWith(token)).not.toEqual([]);
    first.kill(signal);
    await first.ended;
    if (signal === 'SIGINT') expect(readdirSync(own.place.path('session/.skillopt/preloads'))).toEqual(['build.log']);
    own.configure({ npm: ['../hello'], env: ['GUEST_WORD'], setup: ['test ! -e bin/half'] }, { sandbox: { kind } });
    await own.succeed(['run', 'session']);
    expect(processesWith(token)).toEqual([]);
    expect(readdirSync(own.place.temp)).toEqual([]);
  });

  test('an agent of one’s own finds other skills beside the one under test', async () => {
    const own = new PostHouse(
      { skills: ['../writer/SKILL.md'] },
      { agent: { name: 'finder', command: ['sh', '-c', 'cat .agents/skills/*/SKILL.md'], skills: '.agents/skills' } },
    );
    const text = '---\nname: writer\ndescription: Use it for quills and zebras.\n---\n# Writer\n\nWrite.\n';
    writeFiles(own.place.dir, { 'writer/SKILL.md': text });
    await own.run(['run', 'session']);
    expect(own.written()).toContain('Use it for quills and zebras.');
    expect(outcomes(own)[0]?.versions).toMatchObject({ 'skill writer': expect.any(String) });
    expect(own.place.read('writer/SKILL.md')).toBe(text);
  });

  test('on the backend chat preloads are refused', async () => {
    const own = new PostHouse();
    writeFiles(own.place.dir, {
      'prompts/tasks.json': JSON.stringify({
        version: 1,
        name: 'p',
        tasks: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, prompt: `Say ${id}.`, checks: [{ equals: id }] })),
      }),
    });
    own.configure(
      { npm: ['../hello'] },
      {
        pack: '../prompts',
        backend: 'chat',
        agent: undefined,
        model: { model: 'command/x', command: ['cat'] },
        splits: undefined,
      },
    );
    expect(refused(await own.run(['run', 'session']))).toContain(
      'preloads are for agents, and on the backend chat a model answers by itself',
    );
  });
});
