import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { claudeCodeLogin } from './claude-code.ts';
import { codexLogin } from './codex.ts';
import { geminiLogin } from './gemini-cli.ts';
import { chatgptToken, fileOf, jwt, LoginHome, NOW_MS, REFRESH, refusal } from './logins-fixture.ts';
import { opencodeLogin } from './opencode.ts';
import { piLogin } from './pi.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

let home: LoginHome;
beforeEach(() => {
  home = new LoginHome();
});
afterEach(() => home.close());

describe('claude-code', () => {
  const withToken = (token: string | undefined) =>
    claudeCodeLogin(home.options({ variables: { CLAUDE_CODE_OAUTH_TOKEN: token } }));

  test('takes the token by its name', async () => {
    expect(await withToken(' made-up-token\n')).toEqual({
      env: { CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token' },
      homeFiles: {},
      secrets: ['made-up-token'],
      logIn: '`claude setup-token`',
      where: 'CLAUDE_CODE_OAUTH_TOKEN',
      expiresMs: null,
    });
  });

  for (const [name, token, what] of [
    ['none', undefined, 'CLAUDE_CODE_OAUTH_TOKEN is not set'],
    ['an empty one', ' ', 'CLAUDE_CODE_OAUTH_TOKEN is not set'],
    ['one that was copied in two lines', 'made-up\ntoken', 'the token has a line break or a blank in it'],
    ['a key', ['sk', 'ant', 'api03', 'x'].join('-'), 'CLAUDE_CODE_OAUTH_TOKEN holds an API key'],
    ['a refresh token', ['sk', 'ant', 'ort01', 'x'].join('-'), 'CLAUDE_CODE_OAUTH_TOKEN holds a refresh token'],
  ] as const)
    test(`refuses ${name}`, async () => {
      const failure = await refusal(withToken(token));
      expect(failure).toMatchObject({ code: 'auth', retryable: false });
      expect(failure.what).toBe(`claude-code has no login that can be taken: ${what}`);
      expect(JSON.stringify(failure)).not.toContain(token?.trim() || 'undefined');
    });

  test('says how a token is made', async () => {
    expect((await refusal(withToken(undefined))).fix).toBe(
      'run `claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN to the token that it prints; or name a model with a key and leave "login" out',
    );
  });
});

describe('codex', () => {
  const tokens = (holdsMs: number) => ({
    id_token: jwt({ email: 'someone@example.org' }),
    access_token: chatgptToken(holdsMs),
    refresh_token: REFRESH,
    account_id: 'account-1',
  });
  const auth = (more: object) => home.write('.codex/auth.json', { OPENAI_API_KEY: null, ...more });
  const login = (more: Partial<CliLoginOptions> = {}) => codexLogin(home.options(more));

  test('gives the access token as one that codex does not renew', async () => {
    auth({ tokens: tokens(DAY_MS), last_refresh: '2026-11-30T00:00:00Z' });
    const access = chatgptToken(DAY_MS);
    const taken = await login();
    expect(fileOf(taken, '.codex/auth.json')).toEqual({
      auth_mode: 'chatgptAuthTokens',
      OPENAI_API_KEY: null,
      tokens: { id_token: access, access_token: access, refresh_token: '', account_id: 'account-1' },
      last_refresh: '2026-11-30T00:00:00Z',
    });
    expect(taken).toMatchObject({ env: {}, expiresMs: NOW_MS + DAY_MS });
    expect(taken.secrets).toEqual([jwt({ email: 'someone@example.org' }), access, REFRESH]);
    expect(taken.where).toBe(join(home.dir, '.codex/auth.json'));
  });

  test('finds the file by CODEX_HOME, and the account in the token', async () => {
    const { account_id: _account, ...rest } = tokens(DAY_MS);
    home.write('elsewhere/auth.json', { tokens: rest });
    const taken = await login({ variables: { CODEX_HOME: join(home.dir, 'elsewhere') } });
    expect(fileOf(taken, '.codex/auth.json')).toMatchObject({
      tokens: { account_id: 'account-1' },
      last_refresh: '2026-12-01T12:00:00.000Z',
    });
  });

  test('refuses one that does not outlive a rollout, with what renews it', async () => {
    auth({ tokens: tokens(HOUR_MS) });
    const short = await refusal(login());
    expect(short.what).toStartWith('codex has no login that can be taken: it holds until 2026-12-01 13:00 UTC');
    expect(short.what).toEndWith(', and a rollout may take 1 h; a copy can’t be renewed while it runs');
    expect(short.fix).toStartWith('log in anew with `codex login`, then start again; or name a model with a key');
    auth({ tokens: tokens(-1_000) });
    const over = await refusal(login());
    expect(over.what).toStartWith('codex has no login that can be taken: it ran out at 2026-12-01 12:00 UTC');
    expect(over.fix).toStartWith('run `codex` once so that it renews its login, then start again');
    auth({ tokens: tokens(HOUR_MS + 5 * 60_000) });
    expect((await login()).expiresMs).toBe(NOW_MS + HOUR_MS + 5 * 60_000);
  });

  for (const [name, file, why] of [
    ['no login but a key', { OPENAI_API_KEY: 'made-up-key' }, 'it is logged in by an API key'],
    ['nothing', {}, 'its file holds no login of ChatGPT'],
    ['no access token', { tokens: { refresh_token: REFRESH } }, 'its file holds no access token'],
    ['an opaque token', { tokens: { access_token: 'opaque' } }, 'its access token is of a form that is not known'],
    [
      'a token without an end',
      { tokens: { access_token: jwt({}), account_id: 'a' } },
      'it does not say until when it holds',
    ],
    ['no account', { tokens: { access_token: jwt({ exp: 4e9 }) } }, 'its file names no account'],
  ] as const)
    test(`refuses a file with ${name}`, async () => {
      home.write('.codex/auth.json', file);
      const failure = await refusal(login());
      expect(failure).toMatchObject({ code: 'auth', what: `codex has no login that can be taken: ${why}` });
      expect(JSON.stringify(failure)).not.toContain(REFRESH);
    });

  test('says where it looked and how a file is made when there is none', async () => {
    const failure = await refusal(login());
    expect(failure.what).toBe('codex has no login that can be taken: there is no such file');
    expect(failure.where).toBe(join(home.dir, '.codex/auth.json'));
    expect(failure.fix).toContain('cli_auth_credentials_store = "file"');
  });

  test('quotes nothing of a file that is no JSON', async () => {
    home.write('.codex/auth.json', `{"tokens": "${REFRESH}`);
    const failure = await refusal(login());
    expect(failure.what).toEndWith('its file is no JSON');
    expect(JSON.stringify(failure)).not.toContain(REFRESH);
  });

  test('a folder in place of the file is told', async () => {
    home.write('.codex/auth.json/x', '');
    expect((await refusal(login())).what).toEndWith('its file can’t be read (EISDIR)');
  });
});

describe('gemini-cli', () => {
  const creds = (more: object = {}) =>
    home.write('.gemini/oauth_creds.json', {
      access_token: 'made-up-access',
      refresh_token: REFRESH,
      id_token: 'made-up-id',
      scope: 'cloud',
      token_type: 'Bearer',
      expiry_date: NOW_MS + 2 * HOUR_MS,
      ...more,
    });

  test('gives the access token with its end, and the project', async () => {
    creds();
    const taken = await geminiLogin(home.options({ variables: { GOOGLE_CLOUD_PROJECT: 'p1' } }));
    expect(fileOf(taken, '.gemini/oauth_creds.json')).toEqual({
      access_token: 'made-up-access',
      expiry_date: NOW_MS + 2 * HOUR_MS,
      scope: 'cloud',
      token_type: 'Bearer',
    });
    expect(taken).toMatchObject({ env: { GOOGLE_CLOUD_PROJECT: 'p1' } });
    expect(taken.secrets).toEqual(['made-up-access', REFRESH]);
  });

  test('refuses one without an end, one that ends too soon, and none', async () => {
    creds({ expiry_date: undefined });
    expect((await refusal(geminiLogin(home.options()))).what).toEndWith('it does not say until when it holds');
    creds({ expiry_date: NOW_MS + 60_000 });
    const short = await refusal(geminiLogin(home.options({ outlivesMs: 60_000 })));
    expect(short.fix).toStartWith('run `gemini` once so that it renews its login');
    creds({ access_token: '' });
    expect((await refusal(geminiLogin(home.options()))).what).toEndWith('its file holds no access token');
  });

  test('names the store that can’t be read when there is no file', async () => {
    expect((await refusal(geminiLogin(home.options()))).fix).toContain('GEMINI_FORCE_ENCRYPTED_FILE_STORAGE');
  });
});

/** Agents that keep a login for each provider. */
for (const [name, path, login, keyType, variable] of [
  ['opencode', '.local/share/opencode/auth.json', opencodeLogin, 'api', 'XDG_DATA_HOME'],
  ['pi', '.pi/agent/auth.json', piLogin, 'api_key', 'PI_CODING_AGENT_DIR'],
] as const)
  describe(name, () => {
    const oauth = (more: object = {}) => ({
      type: 'oauth',
      access: chatgptToken(DAY_MS),
      refresh: REFRESH,
      expires: NOW_MS + DAY_MS,
      accountId: 'account-1',
      somethingElse: 'made-up-secret',
      ...more,
    });
    const taken = (model: string | null = null) => login(home.options({ model }));

    test('gives the only login, its refresh token emptied', async () => {
      home.write(path, { openai: oauth(), other: { type: keyType, key: 'made-up-key' } });
      const entry = await taken();
      expect(fileOf(entry, path)).toEqual({
        openai: {
          type: 'oauth',
          accountId: 'account-1',
          access: chatgptToken(DAY_MS),
          refresh: '',
          expires: NOW_MS + DAY_MS,
        },
      });
      expect(entry).toMatchObject({ env: {}, expiresMs: NOW_MS + DAY_MS });
      expect(entry.secrets).toEqual([chatgptToken(DAY_MS), REFRESH]);
    });

    test('gives that of the model’s provider alone', async () => {
      home.write(path, { openai: oauth(), anthropic: oauth({ access: 'made-up-access' }) });
      const entry = await taken('anthropic/claude-opus-4-8');
      expect(Object.keys(fileOf(entry, path) as object)).toEqual(['anthropic']);
      expect(entry.secrets).toEqual([chatgptToken(DAY_MS), REFRESH, 'made-up-access', REFRESH]);
      const unclear = await refusal(taken());
      expect(unclear.what).toEndWith('it has several, openai, anthropic, and no model says which');
      const missing = await refusal(taken('google/gemini'));
      expect(missing.what).toEndWith('it has no login of the provider of google/gemini; it has openai, anthropic');
      expect(missing.fix).toStartWith('name a model of openai or anthropic ("model": "openai/…"), or log in with');
    });

    for (const [what, entry, why] of [
      ['a key', { type: keyType, key: 'made-up-key' }, 'what it holds of openai is a key, and no login'],
      ['a key that never ends', oauth({ expires: Number.MAX_SAFE_INTEGER }), 'is a key, and no login'],
      ['a login without an end', oauth({ expires: 0 }), 'does not say until when it holds'],
      ['a login without a token', oauth({ access: '' }), 'its login of openai has no access token'],
      ['another kind', { type: 'wellknown', key: 'K', token: 'T' }, 'is of a kind that can’t be copied'],
      ['no object', 'made-up-key', 'what it holds of openai is no login'],
    ] as const)
      test(`refuses ${what}`, async () => {
        home.write(path, { openai: entry });
        const failure = await refusal(taken('openai/gpt-5.5'));
        expect(failure.code).toBe('auth');
        expect(failure.what).toEndWith(why);
        expect(JSON.stringify(failure)).not.toContain('made-up-key');
      });

    test('an empty file has none, and the folder may be named', async () => {
      home.write(path, {});
      expect((await refusal(taken())).what).toEndWith('it has none');
      home.write(name === 'pi' ? 'named/auth.json' : 'named/opencode/auth.json', { openai: oauth() });
      const variables = { [variable]: join(home.dir, 'named') };
      expect((await login(home.options({ variables }))).where).toBe(
        `${join(home.dir, name === 'pi' ? 'named/auth.json' : 'named/opencode/auth.json')}, openai`,
      );
    });
  });

describe('all of them', () => {
  const cases: readonly (readonly [string, string, unknown, (o: CliLoginOptions) => Promise<CliLogin>])[] = [
    [
      'codex',
      '.codex/auth.json',
      { tokens: { access_token: chatgptToken(DAY_MS), refresh_token: REFRESH, account_id: 'a' } },
      codexLogin,
    ],
    [
      'gemini-cli',
      '.gemini/oauth_creds.json',
      { access_token: 'made-up-access', refresh_token: REFRESH, expiry_date: NOW_MS + DAY_MS },
      geminiLogin,
    ],
    ...(['opencode', 'pi'] as const).map(
      (name) =>
        [
          name,
          name === 'pi' ? '.pi/agent/auth.json' : '.local/share/opencode/auth.json',
          { openai: { type: 'oauth', access: 'made-up-access', refresh: REFRESH, expires: NOW_MS + DAY_MS } },
          name === 'pi' ? piLogin : opencodeLogin,
        ] as const,
    ),
  ];

  for (const [name, path, file, login] of cases)
    test(`${name}: no refresh token is given, and the user’s files stay as they are`, async () => {
      home.write(path, file);
      const before = home.look;
      const taken = await login(home.options());
      expect(home.look).toEqual(before);
      expect(JSON.stringify([taken.env, taken.homeFiles])).not.toContain(REFRESH);
      expect(taken.secrets).toContain(REFRESH);
    });
});
