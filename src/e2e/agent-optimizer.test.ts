import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { kindOf } from '../events/events.ts';
import { describeWalled } from '../rollout/local/sandbox-fixture.ts';
import { expectFailure, jsonOf, type LogLine, Place, removePlaces, until } from './binary.ts';
import { HarborSession, target, targetProposes } from './harbor-model.ts';
import { base } from './hello-harbor.ts';
import { asks, asksFirst, handsIn, lettersAgent, lettersModel } from './letters-agent.ts';
import { ModelServer } from './model-server.ts';
import { bestSkill, OwnSession, writeFiles } from './own-pack.ts';

afterAll(() => {
  removePlaces();
  rmSync(base, { recursive: true, force: true });
});

/** A session whose agent is the script of the letters; `asOptimizer` is what it does when it is to propose edits. */
function letters(
  asOptimizer: string = handsIn,
  config: Readonly<Record<string, unknown>> = {},
  first = '',
): OwnSession {
  const place = new Place();
  mkdirSync(place.path('outside'));
  writeFiles(place.dir, {
    'letters.sh*': lettersAgent(asOptimizer.replaceAll('OUTSIDE', place.path('outside')), first),
    'model.sh*': lettersModel,
  });
  const command = [place.path('letters.sh'), '{instruction_file}', '{skill_dir}'];
  const agent = { name: 'letters', command, version: ['echo', '1'] };
  return new OwnSession(place, { config: { agent, optimizer: 'agent', sandbox: { kind: 'none' }, ...config } });
}

type Placed = Pick<OwnSession, 'place'>;
const linesOf = (own: Placed, type: string) => own.place.events('session').filter((e) => e.type === type);
const answers = (own: Placed) => linesOf(own, 'reflection.finished').map((e) => e.answer);
const problems = (own: Placed) => linesOf(own, 'model.called').map((e) => e.problem);

/** What the engine decided, without what differs from one writing of a log to the next. */
const decisions = (own: Placed): readonly LogLine[] =>
  own.place
    .events('session')
    .filter((e) => kindOf(e.type) === 'decision')
    .map(({ at: _, prev: __, ...decision }) => ({ ...decision, seq: 0 }));

describe('a whole optimization', () => {
  test('by the agent itself: improved, told as runs, verified, and finished without asking again', async () => {
    const own = letters();
    const before = own.sources;
    const run = await own.succeed(['run', 'session', '--yes', '--finalize']);
    expect(run.stdout).toMatch(/reflections, in [\d to]+ runs of letters$/m);
    expect(run.stdout).toContain('price unknown: letters');
    expect(run.stdout).not.toMatch(/^asked once/m);
    expect(run.stdout).toMatch(/^spent .* and 1 run of the agent as optimizer · cost unknown/m);
    expect(run.stdout).toMatch(/^result +sealed test: 3\/3 with the result/m);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect(own.place.read('session/skillopt.md')).toContain('agent letters, model none, optimizer the agent itself');
    expect(linesOf(own, 'model.called')).toMatchObject([
      { role: 'optimizer', model: 'letters', problem: null, usage: { inputTokens: null, requests: null } },
    ]);
    expect(linesOf(own, 'plan.fixed')).toMatchObject([{ optimizer: 'agent' }]);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({
      result: 'improved',
      optimizer: { requests: 1 },
    });
    expect((await own.succeed(['verify', 'session'])).stdout).toMatch(/ through the sealed test$/m);
    await own.succeed(['run', 'session']);
    expect(linesOf(own, 'model.called').length).toBe(1);
    expect(own.place.leftovers('session')).toEqual([]);
    expect(own.sources).toBe(before);
  });

  test('decides as the same session does with a model that hands in the same edits', async () => {
    const own = letters();
    await own.succeed(['run', 'session', '--yes']);
    const byAgent = { answers: answers(own), decisions: decisions(own) };
    const other = letters(handsIn, {
      optimizer: { model: 'command/letters', command: [own.place.path('model.sh')] },
      reflection: { form: 'one-shot' },
      agent: JSON.parse(own.place.read('session/skillopt.config.json')).agent,
    });
    await other.succeed(['run', 'session', '--yes']);
    expect({ answers: answers(other), decisions: decisions(other) }).toEqual(byAgent);
    expect(byAgent.decisions.filter((d) => d.type === 'gate.decided').length).toBeGreaterThan(0);
  });

  test('of the bundled example, by the built-in agent: as with a model as the optimizer, at one price for both', async () => {
    const byAgent = new HarborSession({
      config: { optimizer: 'agent', budget: { rollouts: 60 } },
      target: (q) => (q.turns[0]?.text.includes('/RULES.md') ? targetProposes(q) : target(q)),
    });
    await byAgent.succeed(['run', 'session', '--yes']);
    const status = jsonOf(await byAgent.succeed(['status', 'session', '--json']));
    expect(status).toMatchObject({ result: 'improved', optimizer: { requests: answers(byAgent).length } });
    expect(status.tokens).toBe(byAgent.server.tokens.input + byAgent.server.tokens.output);
    expect(byAgent.asked('optimizer')).toEqual([]);
    expect(byAgent.place.leftovers('session')).toEqual([]);
    expect((await byAgent.succeed(['verify', 'session'])).code).toBe(0);
    // at the same address, which is a part of what is measured
    const byModel = new HarborSession({
      models: { baseUrl: byAgent.server.url },
      config: { budget: { rollouts: 60 } },
    });
    await byModel.succeed(['run', 'session', '--yes']);
    expect(answers(byAgent)).toEqual(answers(byModel));
    expect(decisions(byAgent)).toEqual(decisions(byModel));
  });

  test('mends in a second run what was refused, from its own hand-in and the reasons', async () => {
    const own = letters(
      `if [ -e "$M/refused.md" ]; then
         grep -q 'target-missing' "$M/refused.md" && grep -q 'Post ofice' "$M/handed-in.json" && ${handsIn}
       else printf %s "\${proposal//insert_after\\",\\"target\\":\\"- When/insert_after\\",\\"target\\":\\"Post ofice - When}" > "$H"
       fi`,
    );
    await own.succeed(['run', 'session', '--yes']);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    expect([answers(own).length, problems(own)]).toEqual([1, [null, null]]);
  });

  test('shares the failures over several agents side by side, and distills guidance at the end of an epoch', async () => {
    const guidance = JSON.stringify({ summary: 'Files.', guidance: 'Name the result as the task does.' });
    const own = letters(
      `if grep -q '"guidance"' "$M/RULES.md"; then printf %s '${guidance}' > "$H"; else ${handsIn}; fi`,
      {
        reflection: { readers: 2 },
        slowUpdate: true,
      },
    );
    await own.succeed(['run', 'session', '--yes']);
    const asked = linesOf(own, 'reflection.finished');
    expect(asked.map((e) => e.kind ?? 'edits')).toContain('slow-update');
    const [first] = asked;
    expect(first?.answer).toMatchObject({
      proposal: {
        edits: [{ cites: ['sign-for-bo'] }, { cites: ['stamp-for-ada'] }],
        summary: 'Reader 1: What is missing. Reader 2: What is missing.',
      },
    });
    const slow = asked.find((e) => e.kind === 'slow-update');
    expect(slow?.answer).toMatchObject({ proposal: { edits: [{ op: 'guidance' }] } });
    expect((await own.succeed(['verify', 'session'])).code).toBe(0);
  });
});

describe('a hostile agent as optimizer', () => {
  // three rounds, each with its repair run: then the search gives up
  type Mode = readonly [does: string, said: RegExp];
  const sessions: readonly (readonly [what: string, modes: readonly Mode[]])[] = [
    [
      'what is no proposal',
      [
        ['ln -s /etc/passwd "$H"', /proposal\.json can’t be read: it is a link, which is not followed/],
        ['head -c 5000000 /dev/zero > "$H"', /proposal\.json can’t be read: it has 5000000 bytes/],
        ['head -c 3000 /dev/zero | tr "\\0" "{" > "$H"', /no hand-in that can be used/],
      ],
    ],
    [
      'what hands nothing in',
      [
        ['echo I would rather not', /before proposal\.json was written \(its last words: “I would rather not”\)/],
        ['while :; do sleep 0.05; done', /its time \(3 s\) was up before proposal\.json was written/],
        ['D=$(dirname "$H"); rm -r "$D"; ln -s OUTSIDE "$D"; echo 1 > "$H"', /was replaced by a link/],
      ],
    ],
  ];

  test.each(sessions)('%s is named each time, and the search gives up', async (_, modes) => {
    const cases = modes.map(([does], at) => `${2 * at}|${2 * at + 1}) ${does};;`).join('\n');
    const own = letters(
      `n=$(cat OUTSIDE/n 2> /dev/null || echo 0); echo $((n + 1)) > OUTSIDE/n\ncase "$n" in\n${cases}\nesac`,
      { reflection: { agentSec: 3 } },
    );
    const before = own.sources;
    const run = await own.run(['run', 'session', '--yes']);
    expect(jsonOf(await own.succeed(['status', 'session', '--json']))).toMatchObject({ cause: 'optimizer-failed' });
    expect(run.stdout).toMatch(/^next +name a model as "optimizer", or another agent/m);
    expect(answers(own)).toMatchObject(
      modes.map(([, said]) => ({ kind: 'unusable', detail: expect.stringMatching(said) })),
    );
    expect(problems(own).length).toBe(6);
    expect(own.place.leftovers('session')).toEqual([]);
    expect(own.sources).toBe(before);
    expect((await own.succeed(['verify', 'session'])).code).toBe(0);
  });

  test('that leaves a process behind and writes where it should not harms nothing: what it handed in counts', async () => {
    const own = letters(
      `setsid bash -c 'while :; do sleep 0.05; echo more >> '"$H"'; done' > /dev/null 2>&1 &
       chmod -R u+w "$M"; echo '{"edits": []}' > "$M/RULES.md"; rm -rf "$M/failing"
       until [ -s "$H" ]; do sleep 0.01; done
       ${handsIn}
       mkdir -p "$HOME/.config" && echo x > "$HOME/.config/agent.json"`,
    );
    const before = own.sources;
    await own.succeed(['run', 'session', '--yes']);
    expect(problems(own)).toEqual([expect.stringMatching(/^What it had left running was ended: process \d+ \(bash/)]);
    expect(own.place.leftovers('session')).toEqual([]);
    expect(own.sources).toBe(before);
  });
});

describeWalled('within a sandbox', () => {
  test('it optimizes as outside, and reaches nothing but its material, which it can’t change', async () => {
    const own = letters(
      `{ chmod -R u+w "$M"; echo '{"edits": []}' > "$M/RULES.md"; rm -rf "$M/failing"; } 2> /dev/null
       ls "$M/failing" OUTSIDE '${import.meta.dir}' /tests /solution > seen 2> /dev/null
       echo "$(cat seen | tr '\\n' ' ')" "$(cut -s -d: -f1 /proc/net/dev | tr -d ' \\n')" > OUTSIDE/seen
       proposal=\${proposal/What is missing./$(tr '\\n' ' ' < seen) $(cut -s -d: -f1 /proc/net/dev | tr -d ' \\n')}
       setsid sleep 300 > /dev/null 2>&1 &
       ${handsIn}`,
      { sandbox: undefined, allowUnsandboxed: false },
    );
    const before = own.sources;
    await own.succeed(['run', 'session', '--yes']);
    expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
    const summaries = answers(own).map((a) => (a as { proposal: { summary: string } }).proposal.summary);
    expect(summaries).toEqual([expect.stringMatching(/^\S*failing: sign-for-bo\.md stamp-for-ada\.md +lo$/)]);
    expect(problems(own)).toEqual([null]);
    expect(existsSync(own.place.path('outside', 'seen'))).toBe(false);
    expect(own.place.leftovers('session')).toEqual([]);
    expect(own.sources).toBe(before);
    expect((await own.succeed(['verify', 'session'])).code).toBe(0);
  });
});

test('a stop while it proposes ends the agent and cleans up; the next run goes on and pays nothing twice', async () => {
  const own = letters(
    `if [ -e OUTSIDE/go ]; then ${handsIn}; else touch OUTSIDE/here; while :; do sleep 0.02; done; fi`,
  );
  const running = own.start(['run', 'session', '--yes']);
  await until('the agent proposes', () => existsSync(own.place.path('outside', 'here')));
  running.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  expect(own.place.leftovers('session')).toEqual([]);
  expect(problems(own)).toEqual(['stopped before it had handed in']);
  writeFileSync(own.place.path('outside', 'go'), '');
  await own.succeed(['run', 'session', '--yes']);
  expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
  const finished = linesOf(own, 'rollout.finished').map((e) => e.key);
  expect(new Set(finished).size).toBe(finished.length);
});

test('a kill while it proposes leaves what the next start ends and removes', async () => {
  const own = letters(
    `if [ -e OUTSIDE/go ]; then ${handsIn}; else echo $$ > OUTSIDE/pid; while :; do sleep 0.02; done; fi`,
  );
  const running = own.start(['run', 'session', '--yes']);
  const pidFile = own.place.path('outside', 'pid');
  await until('the agent proposes', () => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
  running.kill('SIGKILL');
  await running.ended;
  expect(own.place.leftovers('session').length).toBeGreaterThan(0);
  writeFileSync(own.place.path('outside', 'go'), '');
  await own.succeed(['run', 'session', '--yes']);
  expect(own.place.leftovers('session')).toEqual([]);
  expect(problems(own)[0]).toContain('lost');
  expect(own.place.read('session/best_skill.md')).toBe(bestSkill);
});

describe('through the gateway', () => {
  const talking = (asOptimizer: string, config: Readonly<Record<string, unknown>>) => {
    const server = new ModelServer(() => ({ text: 'Go on.' }));
    const model = { model: 'openai-compatible/target', baseUrl: server.url };
    const own = letters(`${asks}\n${asOptimizer}`, { model, ...config }, asksFirst);
    const { agent, ...whole } = JSON.parse(own.place.read('session/skillopt.config.json'));
    const speaks = { ...agent, protocol: 'chat', env: { BASE: '{base_url}', KEY: '{key}' } };
    own.configure({ ...whole, agent: speaks });
    /** Requests of the agent as the optimizer. */
    const asked = () =>
      server.asked.filter(({ turns }) => turns.some(({ text }) => text.includes('What next?'))).length;
    return { own, server, asked };
  };

  test('what it spends is counted at first hand, once, and stands beside that of the rollouts', async () => {
    const { own, server, asked } = talking(`ask && ask && ${handsIn}`, {});
    await own.succeed(['run', 'session', '--yes']);
    expect(asked()).toBe(2);
    expect(linesOf(own, 'model.called').filter((e) => e.preflight === undefined)).toMatchObject([
      { model: 'letters (openai-compatible/target)', problem: null, usage: { requests: 2 } },
    ]);
    const status = jsonOf(await own.succeed(['status', 'session', '--json']));
    expect(status).toMatchObject({ result: 'improved', tokens: server.tokens.input + server.tokens.output });
  });

  test('its own limit ends a run, and is named', async () => {
    const { own, asked } = talking(`ask; ask; ask; ${handsIn}`, { agentLimits: { requests: 2 } });
    await own.run(['run', 'session', '--yes']);
    expect(asked()).toBe(12);
    expect(answers(own)).toMatchObject(
      Array.from({ length: 3 }, () => ({ detail: expect.stringContaining('limit on requests was reached') })),
    );
  });

  test('a limit of the session pauses it as a limit, and not as a failure of the optimizer', async () => {
    const { own } = talking(`while ask; do :; done; sleep 300`, { limits: { tokens: 6_000 } });
    const run = await own.run(['run', 'session', '--yes']);
    expectFailure(run, {
      code: 2,
      what: /the limit of 6000 tokens leaves too little/,
      where: /tokens/,
      fix: /raise it/,
    });
    expect(problems(own).at(-1)).toBe('a limit of the session was reached before it had handed in');
    expect(answers(own)).toMatchObject([{ detail: expect.stringContaining('a limit is spent') }]);
    expect(linesOf(own, 'input.received')).toMatchObject([{ input: { kind: 'limit.reached', limit: 'tokens' } }]);
    expect(own.place.leftovers('session')).toEqual([]);
  });
});

describe('is refused with a fix', () => {
  test.each([
    [
      { agent: 'rehearsal' },
      4,
      /the agent rehearsal does nothing but what it is made for/,
      /^optimizer$/,
      /name a model/,
    ],
    [{ agent: 'nop' }, 4, /the agent nop (does nothing but|takes no skill)/, /optimizer: /, /name a model/],
    [{ optimizer: 'agnet' }, 2, /there is no optimizer agnet/, /optimizer/, /did you mean agent\?/],
    [{ reflection: { form: 'tools' } }, 4, /"tools" would be ignored/, /^reflection\.form$/, /set it to auto/],
    [{ reflection: { maxCalls: 3 } }, 4, /counts its calls by itself/, /^reflection\.maxCalls$/, /agentSec/],
  ] as const)('%j', async (config, code, what, where, fix) => {
    expectFailure(await letters(handsIn, config).run(['run', 'session', '--yes']), { code, what, where, fix });
  });

  test('where no agent does the tasks', async () => {
    const place = new Place();
    const config = {
      skill: 'example:short-answers',
      pack: 'example:short-answers',
      backend: 'chat',
      optimizer: 'agent',
    };
    const model = { model: 'openai-compatible/x', baseUrl: 'http://127.0.0.1:9/v1' };
    writeFiles(place.dir, { 'chat/skillopt.config.json': JSON.stringify({ ...config, model }) });
    expectFailure(await place.run(['run', 'chat', '--yes']), {
      code: 2,
      what: /the agent itself is to propose edits, and on the backend chat none works/,
      where: /^optimizer$/,
      fix: /name a model as "optimizer"/,
    });
  });

  test('where nothing bounds what it may spend', async () => {
    expectFailure(await letters().run(['run', 'session']), {
      code: 4,
      what: /nothing bounds what this session may spend: at most \d+ rollouts, price unknown: letters/,
      where: /^limits$/,
      fix: /--limit-tokens or --limit-minutes/,
    });
  });
});
