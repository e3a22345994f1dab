import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, jsonOf, Place, removePlaces } from './binary.ts';

afterAll(removePlaces);

type Finding = { readonly level: string; readonly what: string; readonly where: string; readonly fix: string };
type Report = {
  readonly ok: boolean;
  readonly machine: readonly { readonly about: string; readonly findings: readonly Finding[] }[];
  readonly session: { readonly dir: string; readonly findings: readonly Finding[] } | null;
};

const reportOf = (end: Ended) => jsonOf(end) as Report;

/** A place whose PATH has nothing but `programs`, each a script of sh. */
function placeWith(programs: Readonly<Record<string, string>>): { place: Place; env: Record<string, string> } {
  const place = new Place();
  const bin = join(place.dir, 'bin');
  mkdirSync(bin);
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { place, env: { PATH: bin, TMPDIR: place.dir, HOME: place.dir } };
}

function session(place: Place, config: object): void {
  mkdirSync(join(place.dir, 'session'));
  writeFileSync(join(place.dir, 'session/skillopt.config.json'), JSON.stringify(config));
}

const hello = {
  skill: 'example:hello-harbor',
  pack: 'example:hello-harbor',
  agent: 'rehearsal',
  optimizer: 'rehearsal',
};

describe('skillopt doctor', () => {
  test('of a machine that has nothing warns with fixes, and ends with 0', async () => {
    const { place, env } = placeWith({});
    const end = await place.succeed(['doctor'], { env });
    expect(end.stdout).toContain(
      'warning     no coding agent is installed: claude-code, codex, pi, opencode, gemini-cli',
    );
    expect(end.stdout).toContain('warning     Docker is not installed');
    expect(end.stdout).toContain('warning     Harbor is not installed');
    expect(end.stdout).toContain('→ install it (`uv tool install harbor`)');
    expect(end.stdout).toContain('no session  ');
    expect(end.stdout).toMatch(/\nsound {7}0 errors, \d warnings\n$/);
    expect(end.stderr).toBe('');
  });

  test('tells what is there, each with its version', async () => {
    const { place, env } = placeWith({
      claude: 'echo "2.1.332 (Claude Code)"',
      docker: `case "$1" in info) echo '{"ServerVersion":"28.0.1","DockerRootDir":"/nowhere"}' ;; *) echo 2.30.3 ;; esac`,
      harbor: `case "$*" in --version) echo 0.26.0 ;; 'environment list --json') echo '["docker","e2b"]' ;; *) echo '["codex"]' ;; esac`,
    });
    const end = await place.run(['doctor', '--json'], { env: { ...env, E2B_API_KEY: 'a-key-of-a-test' } });
    const { machine, session, ok } = reportOf(end);
    const said = machine.flatMap(({ findings }) => findings.map(({ level, what }) => `${level} ${what}`));
    expect(said).toContain('ok claude-code 2.1.332');
    expect(said).toContain('ok not installed: codex, pi, opencode, gemini-cli');
    expect(said).toContain('ok Docker 28.0.1, compose 2.30.3');
    expect(said).toContain('ok Harbor 0.26.0');
    expect(said).toContain('ok 2 environments and 1 agent');
    expect(said).toContain('ok let in by variables: e2b');
    expect(machine.map(({ about }) => about)).toEqual(['sandbox', 'agents', 'docker', 'harbor']);
    expect(session).toBeNull();
    expect(ok).toBe(true);
    expect(end.stdout).not.toContain('a-key-of-a-test');
  });

  test('of a session looks at what run would, and writes nothing there', async () => {
    const { place, env } = placeWith({});
    session(place, hello);
    const end = await place.succeed(['doctor', 'session'], { env: { ...env, PATH: '/usr/bin:/bin' } });
    expect(end.stdout).toContain('ok          rehearsal: no model is called (agent rehearsal)');
    expect(readdirSync(join(place.dir, 'session'))).toEqual(['skillopt.config.json']);
    expect(readdirSync(place.dir).sort()).toEqual(['bin', 'session']);
  });

  test('what would end run is an error, with all others and their fixes, and 4', async () => {
    const { place, env } = placeWith({});
    session(place, { ...hello, agent: 'codex', optimizer: 'anthropic/claude-opus-4-8' });
    const end = await place.run(['doctor', 'session', '--json'], { env });
    expect(end.code).toBe(4);
    const errors = (reportOf(end).session?.findings ?? []).filter(({ level }) => level === 'error');
    expect(errors.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        'the agent codex is not installed: no codex is on PATH',
        'the variable ANTHROPIC_API_KEY, which holds the key, is not set',
        'the agent codex calls a model, and none is named',
      ]),
    );
    for (const { fix } of errors) expect(fix).not.toBe('');
  });

  test('a pack that is broken is one error with each of its places', async () => {
    const { place, env } = placeWith({});
    session(place, { ...hello, pack: '../pack' });
    mkdirSync(join(place.dir, 'pack/one'), { recursive: true });
    writeFileSync(join(place.dir, 'pack/one/task.toml'), 'a = = 1\n');
    const end = await place.run(['doctor', 'session'], { env });
    expect(end.code).toBe(4);
    expect(end.stdout).toContain('task.toml:1: not valid TOML');
    expect(end.stdout).toMatch(/\nnot sound {3}1 error, \d warnings\n$/);
  });
});
