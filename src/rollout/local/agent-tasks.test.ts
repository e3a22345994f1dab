import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentTask, AgentTaskEnd } from '../../ports/agent-task.ts';
import { fail, SkilloptError } from '../../ports/failure.ts';
import type { Gateway, GatewayLeaseOptions, GatewayReport } from '../../ports/gateway.ts';
import { noUsage, type Usage, unknownUsage } from '../../ports/usage.ts';
import { waitUntil } from '../../process/wait.ts';
import type { Agent, AgentRun } from '../agents/agent.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import { type AgentTasksOptions, createAgentTasks } from './agent-tasks.ts';
import type { LocalBench } from './bench-fixture.ts';
import { makeLocalBench, ownFolders } from './bench-fixture.ts';
import { describeWalled, walled } from './sandbox-fixture.ts';

const files = { 'RULES.md': 'Say hello.\n', 'failing/a.md': 'It failed.\n' } as const;
const never = () => new AbortController().signal;

/** Work for the self-check agent, whose instruction is a script; `$M` is the material, `$H` the file to hand in, `$D` its folder. */
const script = (text: string, more: Partial<AgentTask> = {}): AgentTask => ({
  key: 'reflection/1/x/0.1',
  instruction: ({ material, handIn }) => {
    const [first, ...rest] = text.split('\n');
    const places = `M='${material}' H='${handIn}' D='${dirname(handIn)}'`;
    return text.startsWith('# ') ? [first, places, ...rest].join('\n') : `${places}\n${text}`;
  },
  files,
  handInName: 'proposal.json',
  timeoutMs: 60_000,
  ...more,
});

/** Runs the body with a place of its own. Throws when something of it is left at the end. */
async function withTasks(
  body: (perform: (task: AgentTask, signal?: AbortSignal) => Promise<AgentTaskEnd>, bench: LocalBench) => Promise<void>,
  more: Partial<AgentTasksOptions> = {},
): Promise<void> {
  const bench = await makeLocalBench();
  const tasks = createAgentTasks({
    id: 'self-check',
    agent: createSelfCheckAgent(),
    sessionId: bench.sessionId,
    unsandboxedAllowed: true,
    hostEnv: { ...process.env, SOME_API_KEY: bench.secret },
    tempRoot: bench.tempRoot,
    sandbox: ownFolders,
    network: 'off',
    show: [],
    hide: [],
    limits: null,
    relay: null,
    gateway: null,
    agentLimits: { requests: null, tokens: null, usd: null },
    modelTokens: { context: null, output: null },
    graceMs: 300,
    ...more,
  });
  try {
    await body((task, signal = never()) => tasks.performAgentTask(task, { signal }), bench);
    expect(await bench.leftovers()).toEqual([]);
  } finally {
    await bench.close();
  }
}

const endOf = (text: string, more: Partial<AgentTask> = {}, options: Partial<AgentTasksOptions> = {}) => {
  let end: AgentTaskEnd | null = null;
  return withTasks(async (perform) => {
    end = await perform(script(text, more));
  }, options).then(() => end);
};

describe('an agent that is given work', () => {
  test('finds the material, hands in a file, and leaves nothing', async () => {
    const end = await endOf('cat "$M/RULES.md" "$M/failing/a.md" > "$H"; echo "said in $APP_DIR"');
    expect(end).toEqual({
      kind: 'ended',
      exit: 'finished',
      handedIn: { kind: 'text', text: 'Say hello.\nIt failed.\n' },
      finalText: 'said in $APP_DIR\n',
      usage: noUsage,
      problem: null,
    });
  });

  test('can’t change the material, sees no key, and has a home of its own', async () => {
    const look = 'stat -c %a "$M" "$M/failing" "$M/RULES.md"; env | grep -c KEY; [ "$HOME" != "$OLD_HOME" ] && ls -A ~';
    const end = await endOf(`{ ${look}; } > "$H"`);
    expect(end).toMatchObject({ handedIn: { kind: 'text', text: '555\n555\n444\n0\n' } });
  });

  test('is given the time of the task, and nothing of a skill', async () => {
    const seen: Partial<AgentRun>[] = [];
    const agent: Agent = {
      ...createSelfCheckAgent(),
      run: async ({ skillDir, timeoutMs, model, host, workspace }) => {
        seen.push({ skillDir, timeoutMs, model, host, workspace });
        return { ...(await createSelfCheckAgent().run({ instruction: '# setup-fails' } as AgentRun)), trouble: null };
      },
    };
    await withTasks(async (perform) => void (await perform(script('', { timeoutMs: 1_234 }))), { agent });
    expect(seen).toMatchObject([{ skillDir: null, timeoutMs: 1_234, model: null }]);
  });

  test('may hand in before it runs out of time', async () => {
    const hangs = 'while :; do sleep 0.02; done';
    const late = await endOf(`echo '{}' > "$H"; ${hangs}`, { timeoutMs: 2_000 });
    expect(late).toMatchObject({ kind: 'ended', exit: 'timeout', handedIn: { kind: 'text', text: '{}\n' } });
    const never = await endOf(hangs, { timeoutMs: 300 });
    expect(never).toMatchObject({ kind: 'ended', exit: 'timeout', handedIn: { kind: 'missing' } });
  });

  test('that leaves a process running is told of; it is ended before the file is read', async () => {
    const end = await endOf(
      `setsid bash -c 'echo $$ > "$TMPDIR/pid"; while :; do sleep 0.02; echo more >> '"$H"'; done' > /dev/null 2>&1 &
       until [ -s "$H" ]; do sleep 0.01; done`,
    );
    expect(end).toMatchObject({ kind: 'ended', handedIn: { kind: 'text' } });
    expect(end).toMatchObject({
      problem: expect.stringMatching(/^What it had left running was ended: process \d+ \(bash/),
    });
  });

  test('that ends with an error has still handed in what it wrote', async () => {
    expect(await endOf('echo "{}" > "$H"; exit 3')).toMatchObject({ exit: 'nonzero', handedIn: { kind: 'text' } });
  });
});

describe('what is no plain file', () => {
  const outside = { kind: 'refused' } as const;
  test.each([
    ['a link', 'ln -s /etc/passwd "$H"', 'it is a link, which is not followed'],
    ['a folder', 'mkdir "$H"', 'it is a folder'],
    ['a pipe', 'mkfifo "$H"', 'it is neither a file nor a folder'],
    ['too large', 'head -c 1000001 /dev/zero > "$H"', 'it has 1000001 bytes, more than 1000000'],
    ['huge with holes', 'truncate -s 1T "$H"', 'it has 1099511627776 bytes, more than 1000000'],
    ['no text', 'printf \'\\xff\\xfe\' > "$H"', 'it is not text in UTF-8'],
    [
      'in a folder that leads elsewhere',
      'rmdir "$D"; mkdir other; echo 1 > other/proposal.json; ln -s ../other "$D"',
      'the folder that it should lie in was replaced by a link, which is not followed',
    ],
    [
      'in a workspace that leads elsewhere',
      'mv "$APP_DIR" "$APP_DIR-2"; ln -s "$APP_DIR-2" "$APP_DIR"; echo 1 > "$H"',
      'the folder that it should lie in was replaced by a link, which is not followed',
    ],
    ['in a file’s place', 'rmdir "$D"; echo 1 > "$D"', 'the folder that it should lie in was replaced by a file'],
  ])('is not read: %s', async (_, text, why) => {
    expect(await endOf(text)).toMatchObject({ kind: 'ended', handedIn: { ...outside, why } });
  });

  test('is missing where the agent removed its folder, or all of its workspace', async () => {
    for (const gone of ['rmdir "$D"', 'rm -rf "$APP_DIR"'])
      expect(await endOf(gone)).toMatchObject({ kind: 'ended', handedIn: { kind: 'missing' } });
  });

  test('of the largest size that is read, it is read whole', async () => {
    const end = await endOf('head -c 1000000 /dev/zero | tr "\\0" x > "$H"');
    expect(end).toMatchObject({ handedIn: { text: 'x'.repeat(1_000_000) } });
  });
});

describe('what keeps it from its work', () => {
  test.each([
    [
      'a crash',
      '# crash',
      unknownUsage,
      { code: 'optimizer', retryable: true, what: expect.stringContaining('crashed as asked') },
    ],
    [
      'no setup',
      '# setup-fails',
      noUsage,
      { code: 'optimizer', retryable: false, what: expect.stringContaining('as asked') },
    ],
  ])('is a failure: %s', async (_, text, usage, failure) => {
    expect(await endOf(text)).toMatchObject({ kind: 'failed', failure, usage });
  });

  test('is a failure as the agent tells it: a login that is used up; what it handed in before counts', async () => {
    const failure = fail('quota', 'the week is used up', 'login', 'wait until Monday', { retryable: true }).failure;
    const agent: Agent = {
      ...createSelfCheckAgent(),
      run: async (run) => ({ ...(await createSelfCheckAgent().run(run)), failure }),
    };
    await withTasks(
      async (perform) => {
        expect(await perform(script(':'))).toMatchObject({ kind: 'failed', failure });
        const end = await perform(script('echo "{}" > "$H"'));
        expect(end).toMatchObject({ kind: 'ended', handedIn: { kind: 'text' }, problem: 'the week is used up.' });
      },
      { agent },
    );
    const throws: Agent = {
      ...createSelfCheckAgent(),
      run: async () => {
        throw new SkilloptError(failure);
      },
    };
    await withTasks(
      async (perform) => void expect(await perform(script(':'))).toMatchObject({ kind: 'failed', failure }),
      {
        agent: throws,
      },
    );
  });

  test('is a failure before anything runs: no consent, no place, a file that leads out of the material', async () => {
    await withTasks(
      async (perform) =>
        void expect(await perform(script(':'))).toMatchObject({
          kind: 'failed',
          failure: { code: 'preflight', fix: expect.stringContaining('--allow-unsandboxed') },
        }),
      { unsandboxedAllowed: false },
    );
    await withTasks(async (perform) => void expect(await perform(script(':'))).toMatchObject({ kind: 'failed' }), {
      tempRoot: '/nowhere/at/all',
    });
    const out = { '../../../escaped.md': 'x' };
    await withTasks(async (perform, bench) => {
      expect(await perform(script(':', { files: out }))).toMatchObject({
        kind: 'failed',
        failure: { what: expect.stringContaining('leads out of it') },
      });
      expect(existsSync(join(bench.folder, 'escaped.md'))).toBe(false);
    });
  });

  test('is a stop: it is ended and cleaned up', async () => {
    await withTasks(async (perform, bench) => {
      const stop = new AbortController();
      const ready = join(bench.folder, 'ready');
      const running = perform(script(`touch '${ready}'; while :; do sleep 0.02; done`), stop.signal);
      await waitUntil(() => existsSync(ready), 20_000);
      stop.abort();
      expect(await running).toEqual({ kind: 'cancelled', usage: expect.anything() as unknown as Usage });
      expect(await perform(script(':'), stop.signal)).toEqual({ kind: 'cancelled', usage: noUsage });
    });
  });

  test('harms nobody beside it: two with work of their own, one that hangs', async () => {
    await withTasks(async (perform, bench) => {
      const mine = join(bench.folder, 'mine');
      mkdirSync(mine);
      writeFileSync(join(mine, 'file'), 'mine');
      const go = join(bench.folder, 'go');
      const beside = perform(script(`until [ -e '${go}' ]; do sleep 0.01; done; echo "{}" > "$H"`, { key: 'r/1/1.1' }));
      const hangs = await perform(script('while :; do sleep 0.02; done', { key: 'r/1/0.1', timeoutMs: 400 }));
      writeFileSync(go, '');
      expect([hangs, await beside]).toMatchObject([{ exit: 'timeout' }, { handedIn: { kind: 'text' } }]);
      expect(readFileSync(join(mine, 'file'), 'utf8')).toBe('mine');
    });
  });
});

describeWalled('within the walls of this machine', () => {
  const within = (text: string, more: Partial<AgentTask> = {}) => endOf(text, more, walled);

  test('it finds the material and hands in, at places that say nothing of this machine', async () => {
    const end = await within('cat "$M/RULES.md" "$M/failing/a.md" > "$H"; echo "$M $H"');
    expect(end).toMatchObject({
      exit: 'finished',
      handedIn: { kind: 'text', text: 'Say hello.\nIt failed.\n' },
      finalText: '/app/material /app/hand-in/proposal.json\n',
      problem: null,
    });
  });

  test('it can’t change the material, whatever it tries, and reaches no network and nothing of this machine', async () => {
    const tries = [
      'chmod -R u+w "$M"; echo changed > "$M/RULES.md"; rm -rf "$M/failing"; mv "$M" "$M-2"',
      'cat "$M/RULES.md"; ls "$M"',
      `ls '${import.meta.dir}' ~root/.ssh`,
      'cut -s -d: -f1 /proc/net/dev',
      'env | grep -c KEY',
    ];
    const end = await within(`{ ${tries.join('; ')}; } > "$H" 2> /dev/null`);
    expect(end).toMatchObject({ handedIn: { text: 'Say hello.\nRULES.md\nfailing\n    lo\n0\n' }, problem: null });
  });

  test.each([
    ['ln -s /etc/passwd "$H"', 'it is a link, which is not followed'],
    ['mkfifo "$H"', 'it is neither a file nor a folder'],
    ['rmdir "$D"; ln -s /etc "$D"', 'the folder that it should lie in was replaced by a link, which is not followed'],
  ])('what is no plain file is not read: %s', async (text, why) => {
    expect(await within(text)).toMatchObject({ kind: 'ended', handedIn: { kind: 'refused', why } });
  });

  test('what it leaves running goes with the walls; a hang ends at the deadline', async () => {
    const daemon = `setsid bash -c 'while :; do sleep 0.02; echo more >> '"$H"'; done' > /dev/null 2>&1 &`;
    expect(await within(`${daemon}\nuntil [ -s "$H" ]; do sleep 0.01; done`)).toMatchObject({
      handedIn: { kind: 'text' },
      problem: null,
    });
    expect(await within('while :; do sleep 0.02; done', { timeoutMs: 400 })).toMatchObject({
      exit: 'timeout',
      handedIn: { kind: 'missing' },
    });
  });

  test('more than it may write is named', async () => {
    const end = await within('echo "{}" > "$H"; while :; do cat /dev/zero | head -c 15M > "$TMPDIR/$RANDOM"; done');
    expect(end).toMatchObject({ handedIn: { kind: 'text' }, problem: expect.stringMatching(/MB/) });
  });
});

describe('with a gateway', () => {
  const usage: Usage = { inputTokens: 900, outputTokens: 40, costUsd: 0.2, requests: 4 };
  const through = (seen: Partial<GatewayReport>, isStopped = false) => {
    const closed: string[] = [];
    const gateway = {
      upstream: { id: 'p/m', model: 'm', protocols: ['chat'] },
      origin: 'http://127.0.0.1:1',
      lease: ({ rollout, skill }: GatewayLeaseOptions) => {
        expect(skill).toBeNull();
        return {
          path: '/t/abc',
          key: 'dummy',
          stopped: isStopped ? AbortSignal.abort() : new AbortController().signal,
          onWait: () => {},
          report: () => ({ usage, visible: null, read: null, stop: null, waitedMs: 0, ...seen }),
          close: async () => void closed.push(rollout),
        };
      },
    } as unknown as Gateway;
    const agent: Agent = {
      ...createSelfCheckAgent(),
      speaks: ['chat'],
      run: (run) => {
        expect(run.model).toMatchObject({ baseUrl: 'http://127.0.0.1:1/t/abc', key: 'dummy' });
        return createSelfCheckAgent().run(run);
      },
    };
    return { closed, more: { gateway, agent } };
  };

  test('its counts are the spend, and the way to the model is closed at the end', async () => {
    const { closed, more } = through({});
    await withTasks(async (perform) => {
      expect(await perform(script('echo "{}" > "$H"'))).toMatchObject({ kind: 'ended', usage, problem: null });
    }, more);
    expect(closed).toEqual(['reflection/1/x/0.1']);
  });

  test('a provider that refuses the key is a failure, and a limit is named', async () => {
    const failure = fail('auth', 'the key was refused (401)', 'p/m', 'check the key').failure;
    const refused = through(
      { stop: { kind: 'provider', refusal: { kind: 'auth', failure, retryAfterMs: null } } },
      true,
    );
    await withTasks(async (perform) => {
      expect(await perform(script(':'))).toEqual({ kind: 'failed', failure, usage });
    }, refused.more);
    const spent = through({ stop: { kind: 'limit', limit: 'tokens', of: 'session' } }, true);
    await withTasks(async (perform) => {
      expect(await perform(script(':'))).toEqual({ kind: 'limit', usage });
    }, spent.more);
    const limited = through({ stop: { kind: 'limit', limit: 'requests', of: 'rollout' } }, true);
    await withTasks(async (perform) => {
      expect(await perform(script(':'))).toMatchObject({
        kind: 'ended',
        handedIn: { kind: 'missing' },
        problem: expect.stringContaining('limit on requests was reached (agentLimits)'),
      });
    }, limited.more);
  });
});
