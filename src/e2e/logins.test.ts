import { afterAll, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { momentWords } from '../rollout/agents/cli/clock-words.ts';
import { chatgptToken, NOW_MS, REFRESH } from '../rollout/agents/cli/logins/logins-fixture.ts';
import { describeWalled } from '../rollout/local/sandbox-fixture.ts';
import { type Ended, expectFailure, Place, removePlaces, until } from './binary.ts';
import { lettersCodex, Vendor } from './letters-codex.ts';
import { OwnSession, writeFiles } from './own-pack.ts';

const vendors: Vendor[] = [];
afterAll(() => {
  removePlaces();
  for (const vendor of vendors) vendor.close();
});

const DAY_MS = 86_400_000;
/** Of a login that holds for so long from now on. */
const token = (holdsMs: number) => chatgptToken(Date.now() - NOW_MS + holdsMs);

/** A user's session whose agent is a stand-in for codex, let in by the user's login. */
class LoginSession extends OwnSession {
  private constructor(
    readonly vendor: Vendor,
    config: Readonly<Record<string, unknown>>,
  ) {
    super(new Place(), {
      config: {
        agent: 'codex',
        login: 'subscription',
        model: 'openai/gpt-5.5',
        sandbox: {},
        allowUnsandboxed: false,
        workers: 2,
        ...config,
      },
    });
    writeFiles(this.place.dir, { 'bin/codex*': lettersCodex });
    this.logIn(token(7 * DAY_MS));
  }

  static async open(config: Readonly<Record<string, unknown>> = {}): Promise<LoginSession> {
    const vendor = await Vendor.open();
    vendors.push(vendor);
    return new LoginSession(vendor, config);
  }

  /** The user logs in on their machine. */
  logIn(access: string): void {
    const tokens = { id_token: access, access_token: access, refresh_token: REFRESH, account_id: 'account-1' };
    writeFiles(this.place.root, { 'home/.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: null, tokens }) });
  }

  override get env(): Readonly<Record<string, string>> {
    const path = `${this.place.path('bin')}:/usr/local/bin:/usr/bin:/bin`;
    return { ...super.env, HOME: `${this.place.root}/home`, PATH: path, HTTPS_PROXY: this.vendor.url, TZ: 'UTC' };
  }

  /** All that stands in the session's directory. */
  async written(): Promise<string> {
    return (await this.place.shell('find session -type f -exec cat {} +')).stdout;
  }
}

/** A window of the vendor that is used up, in its words. */
function usedUpUntil(ms: number): string {
  const at = new Date(ms);
  const month = at.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
  const [hour, minute] = [at.getUTCHours(), String(at.getUTCMinutes()).padStart(2, '0')];
  const clock = `${hour % 12 === 0 ? 12 : hour % 12}:${minute} ${hour < 12 ? 'AM' : 'PM'}`;
  return `You’ve hit your usage limit. Try again at ${month} ${at.getUTCDate()}th, ${at.getUTCFullYear()} ${clock}.`;
}

const inTwoDays = () => Math.floor((Date.now() + 2 * DAY_MS) / 60_000) * 60_000;

describeWalled('an agent with its own login', () => {
  test('optimizes by it, tasks and edits, and gives nothing of it away', async () => {
    const own = await LoginSession.open({ optimizer: undefined });
    const auth = `${own.place.root}/home/.codex/auth.json`;
    const before = statSync(auth);
    const run = await own.succeed(['run', 'session', '--yes', '--finalize']);
    expect(run.stdout).toMatch(/^result +sealed test: 3\/3 with the result/m);
    expect(run.stdout).toContain('a share of a subscription, how much can’t be told: codex (openai/gpt-5.5)');
    expect(run.stdout).toMatch(
      /^spent .* and 1 run of the agent as optimizer · a share of a subscription, \d+ tokens/m,
    );
    expect(run.stdout).toContain('codex talks to its vendor by itself');
    expect(run.stdout).toContain('the sandbox is open to every network for codex');
    expect(own.vendor.shown.length).toBeGreaterThan(10);
    for (const shown of own.vendor.shown) {
      expect(shown).toContain('"auth_mode":"chatgptAuthTokens"');
      expect(shown).toContain('"refresh_token":""');
      expect(shown).not.toContain(REFRESH);
      expect(shown).not.toContain(`${own.place.root}/home`);
    }
    const after = statSync(auth);
    expect([after.mtimeMs, after.ctimeMs, after.ino]).toEqual([before.mtimeMs, before.ctimeMs, before.ino]);
    const written = await own.written();
    expect(written).toContain('[redacted: login');
    expect(written).not.toMatch(/eyJ[\w-]{8,}\./);
    expect(written).not.toContain(REFRESH);
    const read = own.place
      .events('session')
      .flatMap((e) => (e.type === 'rollout.finished' ? [(e.outcome as { read?: unknown }).read] : []));
    expect(read.filter((r) => r === true).length).toBeGreaterThan(20);
    expect((await own.succeed(['verify', 'session'])).stdout).toMatch(/ through the sealed test$/m);
    expect(own.place.leftovers('session')).toEqual([]);
  });

  test('pauses at once when it is used up, says until when, and goes on there', async () => {
    const own = await LoginSession.open();
    const resetMs = inTwoDays();
    own.vendor.answer = usedUpUntil(resetMs);
    const paused = await own.run(['run', 'session', '--yes']);
    const when = momentWords(resetMs + 60_000, 'UTC').replace(/[()]/g, '\\$&');
    expectFailure(paused, {
      code: 4,
      what: new RegExp(`^the login of codex is used up until ${when} \\(You’ve hit your usage limit\\.`),
      where: /^login of codex$/,
      fix: new RegExp(`^start it again after ${when}: it goes on where it stopped; with --wait-for-reset`),
    });
    expect(own.place.events('session').filter((e) => e.type === 'rollout.started').length).toBeLessThanOrEqual(2);
    own.vendor.answer = 'ok';
    expect((await own.succeed(['run', 'session', '--yes'])).stdout).toMatch(/^result +\S/m);
  });

  test('waits for the reset when it shall, and is stopped in order', async () => {
    const own = await LoginSession.open();
    own.vendor.answer = usedUpUntil(inTwoDays());
    const run = own.start(['run', 'session', '--yes', '--wait-for-reset']);
    await until('it waits', () =>
      /^paused {6}the login of codex is used up until .*it goes on by itself then/m.test(run.stdout()),
    );
    run.kill('SIGINT');
    const end: Ended = await run.ended;
    expect(end.code).toBe(130);
    expect(own.place.leftovers('session')).toEqual([]);
    expect(own.place.events('session').filter((e) => e.type === 'session.paused')).toMatchObject([
      { within: true },
      { why: 'stopped by the user' },
    ]);
  });

  test('counts down on the screen, and goes on sooner when somebody says so', async () => {
    const own = await LoginSession.open();
    own.vendor.answer = usedUpUntil(inTwoDays());
    await using terminal = own.inTerminal(['run', 'session', '--yes', '--wait-for-reset'], { columns: 100 });
    await terminal.waitFor(/paused until the login’s limit is reset, goes on in 4[78]:\d\d:\d\d/);
    own.vendor.answer = 'ok';
    await terminal.type('p');
    await terminal.waitFor('over');
    await terminal.type('q');
    await terminal.waitFor(() => terminal.over());
    expect(own.place.events('session').some((e) => e.type === 'session.ended')).toBe(true);
  });

  test('is refused with what mends it where it can’t be taken', async () => {
    const own = await LoginSession.open();
    own.logIn(token(60_000));
    expectFailure(await own.run(['run', 'session', '--yes']), {
      code: 4,
      what: /^codex has no login that can be taken: it holds until .* a copy can’t be renewed while it runs$/,
      where: /auth\.json$/,
      fix: /^run `codex` once so that it renews its login, then start again; or name a model with a key/,
    });
    own.logIn(token(7 * DAY_MS));
    own.configure({
      agent: 'codex',
      login: 'subscription',
      sandbox: {},
      agentLimits: { requests: 5 },
      limits: { rollouts: null, minutes: null, usd: 3 },
      preloads: { env: ['CODEX_API_KEY'] },
    });
    const refused = await own.run(['run', 'session', '--yes', '--plain']);
    expect(refused.stderr).toContain('codex would use CODEX_API_KEY in place of its login');
    expect(refused.stderr).toContain('limits.usd can’t be held');
    expect(own.vendor.shown).toEqual([]);
    expect(own.has('skillopt.jsonl')).toBe(false);
  });

  test('is measured by eval, too', async () => {
    const own = await LoginSession.open();
    const measured = [
      'eval',
      '--skill',
      'post-office',
      '--pack',
      'pack',
      '--agent',
      'codex',
      '--set',
      'login=subscription',
    ];
    const end = await own.succeed([...measured, '--limit', '2', '--yes', '--out', 'number']);
    expect(end.stdout).toContain('a share of a subscription, how much can’t be told: codex');
    own.vendor.answer = usedUpUntil(inTwoDays());
    const paused = await own.run([...measured, '--limit', '3', '--yes', '--out', 'other']);
    expect(paused.stderr).toContain('the login of codex is used up until');
    expect(paused.code).toBe(4);
  });
});
