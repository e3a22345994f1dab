import { describe, expect, test } from 'bun:test';
import { type Layers, layersOf, type Override, sourceOf } from '../config/layers.ts';
import { setOverrides } from '../config/overrides.ts';
import { SkilloptError } from '../ports/failure.ts';
import { type Effective, effectiveConfig, OtherSession, refuseOther } from './effective-config.ts';
import { Logged } from './logged.ts';
import { sessionPaths } from './paths.ts';

const paths = sessionPaths('/nowhere');
const least = { skill: 's', pack: 'p', agent: 'a', optimizer: 'o' };
const file = (more: object = {}): Layers =>
  layersOf({ ...least, ...more }, { kind: 'file', path: paths.config }, paths.config);

/** A session, run after run, each with its file and its flags: what the runs before have left stands in the log. */
class Runs {
  private logged = new Logged();
  private config: Effective['config'] | null = null;

  next(layers: Layers | null, ...set: string[]): Effective {
    const flags: readonly Override[] = setOverrides(set);
    const effective = effectiveConfig(layers, flags, this.logged, paths);
    const { config } = effective;
    const after = new Logged();
    after.file = layers === null ? this.logged.file : effective.file;
    after.wanted = { budget: config.budget.rollouts, limits: config.limits };
    after.set = JSON.parse(JSON.stringify(effective.set)) as Logged['set'];
    this.config ??= config;
    after.created = { config: this.config } as unknown as Logged['created'];
    this.logged = after;
    return effective;
  }

  refused(effective: Effective): SkilloptError | null {
    try {
      if (this.config !== null) refuseOther(this.config, effective, paths);
      return null;
    } catch (e) {
      if (e instanceof SkilloptError) return e;
      throw e;
    }
  }
}

describe('what --set has set', () => {
  const cases = [
    ['gate.rule', 'careful', { gate: { rule: 'bold' } }, 'bold'],
    ['workers', 3, { workers: 5 }, 5],
    ['finalize.attempts', 4, { finalize: { attempts: 2 } }, 2],
    ['budget.rollouts', 90, { budget: { rollouts: 80 } }, 80],
    ['limits.usd', 5, { limits: { usd: 2 } }, 2],
    ['limits.minutes', 7, { limits: { minutes: 9 } }, 9],
    [
      'model.baseUrl',
      'http://h.example/v1',
      { model: { model: 'm', baseUrl: 'http://i.example/v1' } },
      'http://i.example/v1',
    ],
  ] as const;
  const at = (effective: Effective, key: string) =>
    key.split('.').reduce<unknown>((x, k) => (x as Record<string, unknown> | null)?.[k], effective.config);

  test.each(cases)('of %s stands over runs without it, until the file is changed', (key, value, changed, then) => {
    const before = file(key === 'model.baseUrl' ? { model: 'm' } : {});
    const runs = new Runs();
    const first = runs.next(before, `${key}=${value}`);
    expect([at(first, key), sourceOf(first.layers, key).kind]).toEqual([value, 'flag']);
    for (let i = 0; i < 2; i++) {
      const later = runs.next(before);
      expect([at(later, key), sourceOf(later.layers, key).kind]).toEqual([value, 'log']);
      expect(runs.refused(later)).toBeNull();
    }
    const other = runs.next(file({ ...before.data, $schema: './x.json' }));
    expect(at(other, key)).toEqual(value); // another part of the file is no change of this key
    const after = runs.next(file(changed));
    expect([at(after, key), sourceOf(after.layers, key).kind]).toEqual([then, 'file']);
    expect(at(runs.next(file(changed)), key)).toEqual(then); // and it does not come back
  });

  test('of a key stands until another flag sets it, or the object that it is in', () => {
    const runs = new Runs();
    runs.next(file(), 'workers=3', 'model.model=p/m', 'model.tools=false');
    expect(runs.next(file(), 'workers=4').config.workers).toBe(4);
    expect(runs.next(file()).config).toMatchObject({ workers: 4, model: { model: 'p/m', tools: false } });
    expect(runs.next(file(), 'model={"model":"p/m"}').config.model).toEqual({ model: 'p/m' });
    expect(runs.next(file()).config.model).toEqual({ model: 'p/m' });
  });

  test('stands when the file is gone, and when it is back', () => {
    const runs = new Runs();
    runs.next(file(), 'gate.rule=careful', 'workers=3');
    const gone = runs.next(null, 'workers=5');
    expect(gone.config).toMatchObject({ gate: { rule: 'careful' }, workers: 5 });
    expect(runs.refused(gone)).toBeNull();
    expect(runs.next(null).config.workers).toBe(5);
  });

  test('of the consent does not stand: it is given each time', () => {
    const runs = new Runs();
    expect(runs.next(file(), 'allowUnsandboxed=true').config.allowUnsandboxed).toBe(true);
    expect(runs.next(file()).config.allowUnsandboxed).toBe(false);
  });

  test('null takes a limit back that a flag has set', () => {
    const runs = new Runs();
    runs.next(file(), 'limits.usd=5');
    expect(runs.next(file(), 'limits.usd=null').config.limits.usd).toBeNull();
    expect(runs.next(file()).config.limits.usd).toBeNull();
  });
});

describe('a flag that would make another session', () => {
  test('is refused with the flag as the place, and the fork that it belongs to', () => {
    const runs = new Runs();
    runs.next(file());
    const error = runs.refused(runs.next(file(), 'gate.rule=careful'));
    expect(error).toBeInstanceOf(OtherSession);
    expect(error?.failure.where).toBe('--set gate.rule=careful');
    expect(error?.failure.fix).toStartWith('leave the flag out');
    expect(error?.failure.fix).toContain('skillopt fork /nowhere --set gate.rule=careful');
  });

  test('is told beside what the file changes', () => {
    const runs = new Runs();
    runs.next(file());
    const error = runs.refused(runs.next(file({ seed: '9' }), 'gate.rule=careful'));
    expect(error?.failure.where.split(', ').sort()).toEqual(['--set gate.rule=careful', paths.config].sort());
    expect(error?.failure.fix).toStartWith('set it back');
  });
});
