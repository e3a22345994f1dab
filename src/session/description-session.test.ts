import { describe, expect, test } from 'bun:test';
import { checkConfig } from '../config/load.ts';
import { SkilloptError } from '../ports/failure.ts';
import type { Pack, PromptTask } from '../ports/task.ts';
import { createdEvent, environmentFingerprint, loopPlan, planEvent, splitsEvent } from './first-lines.ts';
import { sessionOps } from './replay.ts';

const text = '---\nname: s\ndescription: Reads files.\n---\nBody.\n';
const prompt = (n: number): PromptTask => ({
  kind: 'prompt',
  id: `t${n}`,
  dir: '/nowhere',
  hash: `h${n}`,
  instruction: `i${n}`,
  instructionHash: `i${n}`,
  agentTimeoutSec: null,
  shouldTrigger: n % 2 === 0,
  system: '',
  files: [],
  checks: [],
  noAnswer: [],
});
const pack: Pack = { name: 'p', dir: '/nowhere', hash: 'p', tasks: Array.from({ length: 12 }, (_, n) => prompt(n)) };

const config = (more: object) =>
  checkConfig({ skill: 's', pack: 'p', backend: 'chat', model: 'a/b', optimizer: 'a/b', ...more }, 'config');

/** What it is refused with; null = it is not. */
function refusalOf(work: () => unknown) {
  try {
    work();
    return null;
  } catch (e) {
    if (e instanceof SkilloptError) return e.failure;
    throw e;
  }
}

function firstLines(more: object, seed = text) {
  const wanted = config(more);
  const created = createdEvent({
    session: 'x',
    program: '0',
    config: wanted,
    skill: { name: 's', text: seed, bundle: '', files: [], from: 's' },
    pack,
    file: { budget: wanted.budget.rollouts, limits: wanted.limits },
    versions: {},
  });
  const splits = splitsEvent(created);
  const plan = planEvent(created, splits);
  return { created, splits, plan, loop: loopPlan(created, splits, plan) };
}

describe('the first lines', () => {
  test('name the part that is optimized, and which prompts the skill is meant for, where that matters', () => {
    const { created, splits, plan, loop } = firstLines({ optimize: 'description' });
    expect(created.pack.tasks[0]).toEqual({ id: 't0', hash: 'h0', instructionHash: 'i0', shouldTrigger: true });
    expect(splits.train.some((t) => 'shouldTrigger' in t)).toBe(false);
    expect([plan.optimize, loop.optimize]).toEqual(['description', 'description']);
  });

  test('of a body are what they were', () => {
    const { created, plan } = firstLines({});
    expect(created.pack.tasks[0]).toEqual({ id: 't0', hash: 'h0', instructionHash: 'i0' });
    expect('optimize' in plan).toBe(false);
    expect(firstLines({ optimize: 'body' }).splits).toEqual(firstLines({}).splits);
  });

  test('outcomes of the two are never taken for each other', () => {
    const [body, description] = ['body', 'description'].map((optimize) =>
      environmentFingerprint(config({ optimize }), ''),
    );
    expect(body).not.toBe(description!);
    expect(body).toBe(environmentFingerprint(config({}), ''));
  });

  test('a description that can’t be changed by itself is refused', () => {
    const aliased = '---\nname: s\nx: &d Reads files.\ndescription: *d\n---\nBody.\n';
    expect(refusalOf(() => firstLines({ optimize: 'description' }, aliased))).toMatchObject({
      code: 'skill',
      fix: 'write it out as a line "description: …"',
    });
    expect(refusalOf(() => firstLines({ optimize: 'body' }, aliased))).toBeNull();
  });

  test('an agent that does not show what it opens is refused', () => {
    const refusal = refusalOf(() =>
      firstLines({ optimize: 'description', backend: 'local', agent: 'rehearsal', model: null }),
    );
    expect(refusal).toMatchObject({ code: 'config', where: 'optimize' });
  });

  test('slow updates, which write into the body, are refused beside it', () => {
    expect(refusalOf(() => firstLines({ optimize: 'description', slowUpdate: true }))).toMatchObject({
      code: 'config',
      where: 'slowUpdate',
    });
    expect(refusalOf(() => firstLines({ slowUpdate: true }))).toBeNull();
  });
});

test('edits apply to the part that the log names', () => {
  const edit = { op: 'append_section', target: '', content: 'More.', cites: [], reason: '' } as const;
  const of = (optimize: string) => {
    const applied = sessionOps({ skill: { text, files: [] }, config: { optimize } }).apply(text, edit);
    return applied.ok ? applied.text : applied.detail;
  };
  expect(of('description')).toBe('---\nname: s\ndescription: Reads files. More.\n---\nBody.\n');
  expect(of('body')).toBe('---\nname: s\ndescription: Reads files.\n---\nBody.\n\nMore.\n');
});
