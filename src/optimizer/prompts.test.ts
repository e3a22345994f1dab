import { expect, test } from 'bun:test';
import { handInText, reflect, ScriptedModel, says } from './reflecting-fixture.ts';

/** The system prompt of a form, as it is sent. */
async function prompt(form: 'tools' | 'one-shot'): Promise<string> {
  const model = new ScriptedModel(true, [says(handInText())]);
  await reflect(model, {}, { form });
  return model.requests[0]!.system;
}

test('the prompts say nothing about how a skill is tested, shout at nobody, and are short', async () => {
  for (const text of [await prompt('tools'), await prompt('one-shot')]) {
    expect(text.match(/verifier|reward|\bgate\b|held[- ]out|\bselection\b|test split|solution|expected answer/gi)).toBe(
      null,
    );
    expect(text.match(/\b(MUST|NEVER|ALWAYS|IMPORTANT|DO NOT)\b/g)).toBe(null);
    expect(text).not.toContain('{{');
    expect(text.length).toBeLessThan(4_500);
  }
});

test('each form says how to hand in, and both what is material', async () => {
  const [tools, oneShot] = [await prompt('tools'), await prompt('one-shot')];
  expect(tools).toContain('`hand_in`');
  expect(tools).not.toContain('JSON object');
  expect(oneShot).toContain('one JSON object');
  expect(oneShot).not.toContain('hand_in');
  for (const text of [tools, oneShot]) expect(text).toContain('<data-…>');
});
