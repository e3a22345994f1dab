import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { viewOf } from './key-forms.ts';
import { looksHarmless } from './key-linter.ts';
import { GrowingRedactor, makeRedactor, redactFailure, redactTrajectory } from './redact.ts';

/** Letters and digits as in a key: the same at each run. */
const random = (length: number, letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') => {
  let state = length + letters.length;
  return Array.from({ length }, () => {
    state = (state * 48_271 + 11) % 2_147_483_647;
    return letters[state % letters.length];
  }).join('');
};
const base64 = (length: number) => random(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const upper = (length: number) => random(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');
const hex = (length: number) => random(length, '0123456789abcdef');

const SHORTEST = 6;
const redactForms = makeRedactor([]);

describe('secrets known by name', () => {
  const redact = makeRedactor([
    { name: 'MY_TOKEN', value: 'correct horse battery' },
    { name: 'LONGER', value: 'correct horse battery staple' },
    { name: 'SHORT', value: 'abc' },
    { name: 'WORD', value: 'redacted' },
    { name: 'ENDED', value: 'line ended\n' },
  ]);

  test.each([
    ['nothing to hide here, 1234567890123456789012', 'nothing to hide here, 1234567890123456789012'],
    ['x correct horse battery staple y correct horse battery z', 'x [redacted: LONGER] y [redacted: MY_TOKEN] z'],
    ['abc is too short to be a secret', 'abc is too short to be a secret'],
    ['a value that stands in placeholders: redacted', 'a value that stands in placeholders: [redacted: WORD]'],
    ['line ended, and more', '[redacted: ENDED], and more'],
    ['[redacted: NOBODY] [redacted: LONGER]', '[[redacted: WORD]: NOBODY] [redacted: LONGER]'],
  ])('%s', async (text, want) => {
    const got = await redact(text);
    expect(got).toBe(want);
    expect(await redact(got)).toBe(got);
  });

  const value = 'p@ss "w/örd"\\n\'+<🦀>&\n$1';
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  test.each([
    ['as it is', value],
    ['with CRLF', value.replace('\n', '\r\n')],
    ['in JSON', json],
    ['in JSON within JSON', JSON.stringify(json).slice(1, -1)],
    ['in JSON within JSON within JSON', JSON.stringify(JSON.stringify(json).slice(1, -1)).slice(1, -1)],
    ['in JSON of ASCII alone', ascii],
    ['in JSON of ASCII, in capitals', ascii.replace(/u00f6/, 'u00F6')],
    ['in JSON with escaped slashes', json.replace('/', '\\/')],
    ['in JSON that is fit for HTML', json.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')],
    ['in a URL', encodeURIComponent(value)],
    ['in a URL, in small letters', encodeURIComponent(value).replace(/%../g, (byte) => byte.toLowerCase())],
    ['in a URL that keeps slashes', encodeURIComponent(value).replace('%2F', '/')],
    ['in a URL within a URL', encodeURIComponent(encodeURIComponent(value))],
    ['in a form', new URLSearchParams({ v: value }).toString().slice(2)],
    ['in HTML', Bun.escapeHTML(value)],
    ['for a shell', value.replaceAll("'", "'\\''")],
  ])('%s', async (_name, text) => {
    const named = makeRedactor([{ name: 'PASSWORD', value }]);
    expect(await named(`{"a":"${text}"}`)).toBe('{"a":"[redacted: PASSWORD]"}');
  });

  test('in base64, wherever in what was encoded', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: SHORTEST, maxLength: 40 }).filter((s) => s.trim().length >= SHORTEST),
        fc.string({ maxLength: 5 }),
        fc.string({ maxLength: 5 }),
        fc.constantFrom<'base64' | 'base64url'>('base64', 'base64url'),
        async (secret, before, after, encoding) => {
          const encoded = Buffer.from(`${before}${secret.trim()}${after}`).toString(encoding);
          const got = await makeRedactor([{ name: 'S', value: secret }])(`Basic ${encoded}`);
          expect(got).toContain('[redacted: S]');
          const left = got
            .replace('[redacted: S]', ' ')
            .split(' ')
            .map((part) => Buffer.from(part, encoding).toString());
          expect(left.some((part) => secret.trim().includes(part) && part.length > 2)).toBe(false);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('what is left over of one never hides another, and a second time changes nothing', async () => {
    const part = fc.constantFrom(
      ...[
        'correct',
        ' ',
        'horse',
        'red',
        'acted',
        '[redacted: ',
        'A',
        ']',
        'x',
        '\\',
        'n',
        '=',
        '://a:',
        '@',
        'eyJ',
        '.',
      ],
      ...[`AKIA${upper(16)}`, `sk-ant-oat01-${random(40)}`, '-----BEGIN PRIVATE KEY-----', base64(64), '\n', 'Bearer '],
    );
    const secrets = [
      { name: 'A', value: 'correct horse' },
      { name: 'B', value: 'horsered' },
      { name: 'C', value: 'redacted' },
      { name: 'D', value: 'acted: A' },
    ];
    const twice = makeRedactor(secrets);
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const got = await twice(parts.join(''));
        expect(await twice(got)).toBe(got);
        const bare = got.replace(/\[redacted: (?:[A-D]|aws|anthropic|private-key|password|bearer|jwt)\]/g, '\0');
        for (const { value: one } of secrets) expect(bare).not.toContain(one);
      }),
      { numRuns: 300 },
    );
  });
});

const pem = (kind: string, ...lines: readonly string[]) =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${lines.join('\n')}\n-----END ${kind}PRIVATE KEY-----`;
const rsa = [base64(64), base64(63), `${base64(20)}==`];
const jwt = `eyJ${random(30)}.eyJ${random(60)}.${random(43)}`;

describe('known forms of keys', () => {
  test.each<[string, string, string]>([
    ['AWS id', `AKIA${upper(16)}`, 'aws'],
    ['AWS temporary id', `ASIA${upper(16)}`, 'aws'],
    ['Anthropic API key', `sk-ant-api03-${random(93)}AA`, 'anthropic'],
    ['Anthropic login', `sk-ant-oat01-${random(60)}-${random(30)}_AA`, 'anthropic'],
    ['Anthropic admin key', `sk-ant-admin01-${random(93)}AA`, 'anthropic'],
    ['OpenRouter', `sk-or-v1-${hex(64)}`, 'openrouter'],
    ['OpenAI project key', `sk-proj-${random(60)}_${random(60)}-${random(30)}`, 'openai'],
    ['OpenAI service account', `sk-svcacct-${random(80)}`, 'openai'],
    ['a key of the old form', `sk-${random(48)}`, 'openai'],
    ['Google', `AIza${random(30)}-${random(3)}_`, 'google'],
    ['Hugging Face', `hf_${random(34)}`, 'huggingface'],
    ['Hugging Face, letters alone', `hf_${random(34, 'abcdefABCDEF')}`, 'huggingface'],
    ['xAI', `xai-${random(80)}`, 'xai'],
    ['Groq', `gsk_${random(52)}`, 'groq'],
    ['JWT', jwt, 'jwt'],
    ['GitHub', `ghp_${random(36)}`, 'github'],
    ['GitLab', `glpat-${random(20)}`, 'gitlab'],
    ['Slack', `xoxb-123456789012-123456789012-${random(24)}`, 'slack'],
    ['Ed25519', pem('', base64(64)), 'private-key'],
    ['RSA', pem('RSA ', ...rsa), 'private-key'],
    ['EC', pem('EC ', ...rsa), 'private-key'],
    ['OpenSSH', pem('OPENSSH ', ...rsa), 'private-key'],
    ['PGP', pem('PGP ', ...rsa).replaceAll('KEY-', 'KEY BLOCK-'), 'private-key'],
    [
      'encrypted RSA',
      pem('RSA ', 'Proc-Type: 4,ENCRYPTED', `DEK-Info: AES-256-CBC,${hex(32)}`, '', ...rsa),
      'private-key',
    ],
  ])('%s', async (_name, key, name) => {
    const want = `[redacted: ${name}]`;
    const places: readonly (readonly [string, string])[] = [
      ['', ''],
      ['x ', ' y'],
      ['KEY="', '"'],
      ['{"a":"b\\n', '\\n"}'],
      ['a%0A', '&b=1'],
      ['\u001b[32m', '\u001b[0m'],
    ];
    for (const [before, after] of places) {
      const text = `${before}${before.includes('\\n') ? key.replaceAll('\n', '\\n') : key}${after}`;
      const got = await redactForms(text);
      expect(got).toBe(`${before}${want}${after}`);
      expect(await redactForms(got)).toBe(got);
    }
  });

  test.each<[string, string, string]>([
    [
      'AWS secret in a shell',
      `export AWS_SECRET_ACCESS_KEY=${base64(40)}`,
      'export AWS_SECRET_ACCESS_KEY=[redacted: aws]',
    ],
    ['in quotes', `aws_secret_access_key = "${base64(40)}"`, 'aws_secret_access_key = "[redacted: aws]"'],
    ['in JSON', `{"SecretAccessKey": "${base64(40)}"}`, '{"SecretAccessKey": "[redacted: aws]"}'],
    [
      'in JSON in JSON',
      `"{\\"SecretAccessKey\\":\\"${base64(40)}\\"}"`,
      '"{\\"SecretAccessKey\\":\\"[redacted: aws]\\"}"',
    ],
    ['AWS session', `AWS_SESSION_TOKEN=${base64(300)}==`, 'AWS_SESSION_TOKEN=[redacted: aws]'],
    ['header', `Authorization: Bearer ${random(20)}`, 'Authorization: Bearer [redacted: bearer]'],
    ['header in small letters', `authorization: bearer ${random(30)}==`, 'authorization: bearer [redacted: bearer]'],
    ['header in JSON', `{"h":"Bearer ${random(40)}"}`, '{"h":"Bearer [redacted: bearer]"}'],
    ['URL', 'https://joe:hunter2@example.org/x', 'https://joe:[redacted: password]@example.org/x'],
    ['URL without a user', 'redis://:hunter2@localhost', 'redis://:[redacted: password]@localhost'],
    ['URL with escapes', 'ftp://joe:h%40nter@example.org', 'ftp://joe:[redacted: password]@example.org'],
    ['database', 'postgres://u:hunter2345@db/x', 'postgres://u:[redacted: password]@db/x'],
  ])('%s', async (_name, text, want) => {
    const got = await redactForms(text);
    expect(got).toBe(want);
    expect(await redactForms(got)).toBe(got);
  });

  test('a finding takes all of its word, whatever the range says', async () => {
    const secret = base64(40);
    for (const text of [
      `AWS_SECRET_ACCESS_KEY=${secret}`,
      `aws_secret_key: '${secret}'`,
      `glpat-${random(20)}+/${secret}`,
    ]) {
      const got = await redactForms(text);
      expect(got).toContain('[redacted: ');
      for (let at = 0; at + 8 <= secret.length; at++) expect(got).not.toContain(secret.slice(at, at + 8));
    }
  });

  test('private keys that are cut off', async () => {
    const whole = pem('RSA ', ...rsa);
    expect(await redactForms(`a ${whole.slice(0, 120)} […]`)).toBe('a [redacted: private-key] […]');
    expect(await redactForms(`[…] ${whole.slice(40)}\nb`)).toBe('[…] [redacted: private-key]\nb');
    expect(await redactForms(`${whole}\n\n${pem('EC ', ...rsa)}`)).toBe(
      '[redacted: private-key]\n\n[redacted: private-key]',
    );
  });

  test('a comment for the linter turns nothing off', async () => {
    const text = `// secretlint-disable\nglpat-${random(20)}`;
    expect(await redactForms(text)).toBe('// secretlint-disable\n[redacted: gitlab]');
  });

  test('a key that lies across the seam of two pieces of a long text', async () => {
    const key = `glpat-${random(20)}`;
    for (const at of [49_975, 49_980, 49_990, 50_000, 51_980]) {
      const got = await redactForms(`${'word '.repeat(10_500).slice(0, at)} ${key} end`);
      expect(got).toEndWith(' [redacted: gitlab] end');
    }
  });

  test('a key between what looks like a placeholder', async () => {
    const key = `sk-or-v1-${hex(64)}`;
    expect(await redactForms(`[redacted: ${key}]`)).toBe('[redacted: [redacted: openrouter]]');
  });
});

const harmless: readonly (readonly [string, string])[] = [
  ['prose', 'The quick brown fox jumps over the lazy dog, 12 times; see https://example.org/a?b=c#d.'],
  ['a git hash', `commit ${hex(40)}`],
  ['a SHA-256 sum', `sha256:${hex(64)}  file.tar`],
  ['a UUID', '123e4567-e89b-12d3-a456-426614174000'],
  ['a time', '2026-01-02T03:04:05.678Z'],
  ['a long path', '/usr/share/doc/package/examples/a_long_name/another-long-name/README'],
  [
    'names with the beginnings of keys',
    'ask-project-about-this, task-admin-of-the-whole-thing, shelf_life, disk-or-v1-tape',
  ],
  ['a bearer of words', 'the bearer of this letter is a bearer token holder; Bearer $TOKEN; Bearer <token>'],
  ['the header of a key', 'A key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.'],
  ['code', 'const total = rows.reduce((sum, row) => sum + row.amount_in_cents, 0);'],
];
const whole: readonly (readonly [string, string])[] = [
  ['a public key', `-----BEGIN PUBLIC KEY-----\n${rsa.join('\n')}\n-----END PUBLIC KEY-----`],
  ['a certificate', `-----BEGIN CERTIFICATE-----\n${rsa.join('\n')}\n-----END CERTIFICATE-----`],
  ['a picture', `data:image/png;base64,iVBORw0KGgo${base64(5000)}==`],
  ['a path with digits', '/usr/lib/python3.12/site-packages/numpy-2.1.0.dist-info/METADATA'],
  ['a package lock', `"integrity": "sha512-${base64(86)}=="`],
  ['a word of an id', `XAKIA${upper(16)} AKIA${upper(15)} AKIA${upper(17)}`],
  ['AIza of another length', `AIza${random(34)} AIza${random(36)}`],
  ['three parts with dots', `com.example.${random(20)}.${random(20)}`],
  ['a URL with a port', 'http://localhost:8080/a@b and https://example.org:443/x:y@z'],
  ['a secret key by name alone', 'AWS_SECRET_ACCESS_KEY is not set; secret_access_key=$AWS_SECRET_ACCESS_KEY'],
];

describe('ordinary text', () => {
  test.each([...harmless, ...whole])('%s stays', async (_name, text) => {
    expect(await redactForms(text)).toBe(text);
  });

  test.each([...harmless])('%s does not call the linter', (_name, text) => {
    expect(looksHarmless(viewOf(text))).toBe(true);
  });
});

describe('a megabyte is read once', () => {
  const long = (part: string) => part.repeat(Math.ceil(1_000_000 / part.length));
  const redact = makeRedactor(
    Array.from({ length: 20 }, (_, n) => ({ name: `S${n}`, value: `${random(20 + n)}/"${n}` })),
  );
  test.each([
    ['prose', long('the quick brown fox jumps 12 ')],
    ['hashes', long(`commit ${hex(40)}\n`)],
    ['one word', base64(1_000_000)],
    ['beginnings of tokens', long('-eyJ')],
    ['beginnings of tokens, with dots', long('eyJ.')],
    ['backslashes', long('\\')],
    ['percent signs', long('%4')],
    ['first lines of keys', long('-----BEGIN PRIVATE KEY-----')],
    ['last lines of keys', long('-----END PRIVATE KEY----- ')],
    ['names of secrets', long('secret_access_key=')],
    ['bearers', long('bearer ')],
    ['URLs', long('://a:')],
  ])('%s', async (_name, text) => {
    expect(await redact(text)).toBe(text);
  });

  test.each([
    ['keys in one word', long(`ghp_${random(36)}-`), 1],
    ['keys in words of their own', long(`AKIA${upper(16)} `), 50_000],
  ])('%s', async (_name, text, least) => {
    const got = await redact(text);
    expect(got.split('[redacted: ').length - 1).toBeGreaterThanOrEqual(Math.floor(least * 0.9));
    expect(got).not.toContain(text.slice(0, 20));
  });
});

test('all texts of a trajectory and of a failure', async () => {
  const redact = makeRedactor([{ name: 'T', value: 'hunter2' }]);
  const trajectory = await redactTrajectory(
    {
      agent: 'a',
      steps: [
        { kind: 'tool', name: 'sh', input: 'hunter2', output: 'hunter2', exitCode: 0 },
        { kind: 'message', role: 'agent', text: 'hunter2' },
        { kind: 'thought', text: 'hunter2' },
        { kind: 'note', text: 'hunter2' },
      ],
      finalText: 'hunter2',
      cut: 0,
      verifier: { output: 'hunter2' },
    },
    redact,
  );
  expect(JSON.stringify(trajectory)).not.toContain('hunter2');
  expect(JSON.stringify(trajectory).split('[redacted: T]').length - 1).toBe(7);
  const failure = await redactFailure(
    { code: 'auth', what: 'hunter2', where: 'hunter2', fix: 'hunter2', retryable: false },
    redact,
  );
  expect(JSON.stringify(failure)).not.toContain('hunter2');
});

test('secrets that turn up later are known to redactors that were handed out before', async () => {
  const growing = new GrowingRedactor([{ name: 'KEY', value: 'first-made-up-value' }]);
  const { redact } = growing;
  const text = 'first-made-up-value, second-made-up-value';
  expect(await redact(text)).toBe('[redacted: KEY], second-made-up-value');
  for (let n = 0; n < 2; n++) growing.add({ name: 'login of codex', value: 'second-made-up-value' });
  expect(await redact(text)).toBe('[redacted: KEY], [redacted: login_of_codex]');
});
