import { expect, test } from 'bun:test';
import type { LoggedEvent } from '../../../events/events.ts';
import { eventsOf, watch } from '../../../events/played-fixture.ts';
import type { RunState } from '../../../events/run-state.ts';
import { shortHash } from '../../../ports/hash.ts';
import { play } from '../../../session/session-fixture.ts';
import { draftText } from './draft-text.ts';
import { factsOf, textOf } from './frame-fixture.ts';
import { header } from './header.ts';
import { running } from './running.ts';

/** A played session whose first lines say that the description is optimized. */
async function described() {
  const events = eventsOf((await play({ world: { seed: 1 }, budget: 60 })).log).map((e): LoggedEvent => {
    if (e.type === 'plan.fixed') return { ...e, optimize: 'description' };
    return e;
  });
  return watch(events.slice(0, 40), {});
}

test('the header says that the description is optimized, the line below how often the skill was opened', async () => {
  const f = factsOf({ ...(await described()), read: [3, 8] });
  expect(textOf(header(f, 100))).toMatch(/^ skillopt rulebook · description {2}\S/);
  for (let width = 40; width < 140; width += 7) {
    const [first = ''] = textOf(header(f, width)).split('\n');
    expect(first).toStartWith(' skillopt rul');
    expect(first.length).toBeLessThanOrEqual(width);
  }
  expect(textOf([running(f, 100)])).toContain('opened in 3 of 8');
});

test('the draft is shown as its edits of the description make it', async () => {
  const text = '---\nname: s\ndescription: Reads files.\n---\nBody.\n';
  const grown = text.replace('Reads files.', 'Reads files. And lists.');
  const edit = { op: 'append_section', target: '', content: 'And lists.', cites: [], reason: '' } as const;
  const state: RunState = {
    ...(await described()),
    skills: new Map([['seed', { version: 0, text }]]),
    incumbent: 'seed',
    draft: ['one'],
    draftSkill: shortHash(grown),
    edits: new Map([['one', { hash: 'one', edit, round: 1, source: 'reflection', fate: 'in-draft', why: '' }]]),
  };
  expect(draftText(state)).toBe(grown);
});
