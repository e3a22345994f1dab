import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { expectFailure, removePlaces } from './binary.ts';
import { bytes, finished, rewrite } from './finished-session.ts';
import { undisturbed } from './own-pack.ts';
import { essence } from './sessions.ts';

afterAll(removePlaces);

describe('a session that another engine number drew', () => {
  test('goes on when every decision is drawn the same, and says so', async () => {
    const own = await finished();
    const { place } = own;
    const lines = place.read('session/skillopt.jsonl').split('\n');
    const at = lines.findIndex((l) => l.includes('"type":"gate.decided"'));
    writeFileSync(place.path('session/skillopt.jsonl'), `${lines.slice(0, at + 1).join('\n')}\n`);
    for (const name of ['best_skill.md', 'skillopt.snapshots'])
      rmSync(place.path('session', name), { recursive: true });
    rewrite(own, (e) => {
      if (e.type === 'session.created') e.engine = 7;
    });
    await own.succeed(['verify', 'session']);
    const end = await own.succeed(['run', 'session']);
    expect(end.stdout).toMatch(/^engine {6}1 from here on: it draws every decision so far the same$/m);
    const changed = place.events('session').filter((e) => e.type === 'engine.changed');
    expect(changed).toMatchObject([{ engine: 1 }]);
    expect(await essence(place, 'session')).toEqual(await undisturbed());
    await own.succeed(['verify', 'session']);
    await own.succeed(['run', 'session']);
    expect(place.events('session').filter((e) => e.type === 'engine.changed')).toHaveLength(1);
  });

  test('is refused when one differs, with both sides and the fork that goes on from where both agree', async () => {
    const own = await finished();
    const { place } = own;
    let line = 0;
    rewrite(own, (e) => {
      if (e.type === 'session.created') e.engine = 7;
      if (e.type !== 'session.ended') return;
      e.planned = Number(e.planned) + 1;
      line = Number(e.seq);
    });
    const steps = place.events('session').filter((e) => e.type === 'gate.decided').length;
    const before = bytes(own);
    expectFailure(await own.run(['run', 'session']), {
      code: 5,
      what: new RegExp(
        `^engine 7 drew this session, and engine 1 of this program decides otherwise: .*line ${line}: session\\.ended\\.planned`,
      ),
      where: /logged: [\s\S]*drawn: /,
      fix: new RegExp(`^go on from where both agree: \`skillopt fork \\S*/session --at ${steps}\``),
    });
    expect(bytes(own)).toBe(before);
    const verified = await own.run(['verify', 'session']);
    expect([verified.code, verified.stdout.includes('session.ended.planned')]).toEqual([6, true]);
    await own.succeed(['fork', 'session', '--at', String(steps), '--to', 'child']);
    await own.succeed(['run', 'child']);
    const { test: _test, ...same } = (await essence(place, 'child')) as Record<string, unknown>;
    const { test: _other, ...wanted } = (await undisturbed()) as Record<string, unknown>;
    expect(same).toEqual(wanted);
    await own.succeed(['verify', 'child']);
  });

  test('of rules that this program does not know is refused', async () => {
    const own = await finished();
    rewrite(own, (e) => {
      if (e.type === 'session.created') e.rules = ['loop@9'];
    });
    for (const command of ['run', 'verify', 'fork'])
      expectFailure(await own.run([command, 'session']), {
        code: 5,
        what: /^this session was drawn by the rules loop@9; this program knows loop@1/,
        where: /skillopt\.jsonl$/,
        fix: /^use the newer program that made it$/,
      });
  });
});
