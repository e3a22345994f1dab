import { afterAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { expectFailure, jsonOf, removePlaces } from './binary.ts';
import { HarborSession } from './harbor-model.ts';
import { base } from './hello-harbor.ts';
import { writeFiles } from './own-pack.ts';

afterAll(() => {
  removePlaces();
  rmSync(base, { recursive: true, force: true });
});

/** A program that follows the lines of the skill in the form `- When the task says "…", run …` with its command in backticks. */
const program = `#!/bin/sh
task=$(tr '\\n' ' ' < "$1")
skill=$(echo "$HOME"/.clerk/skills/*/SKILL.md)
sed -n 's/^- When the task says "\\([^"]*\\)", run \`\\([^\`]*\\)\`.*/\\1\\t\\2/p' "$skill" > "$TMPDIR/lines"
while IFS="$(printf '\\t')" read -r phrase command; do
  case "$(echo "$task" | tr A-Z a-z)" in *"$phrase"*) echo "$phrase"; sh -c "$command" ;; esac
done < "$TMPDIR/lines"
cat "$HOME/.clerk/greeting"
`;

function clerk(more: object = {}) {
  const own = new HarborSession({ config: { model: null } });
  const path = own.place.path('bin/clerk');
  writeFiles(own.place.dir, { 'bin/clerk*': program });
  const agent = {
    name: 'clerk',
    command: [path, '{instruction_file}'],
    skills: '~/.clerk/skills',
    files: { '.clerk/greeting': 'Done in {workspace}.\n' },
    ...more,
  };
  const config = { ...JSON.parse(own.place.read('session/skillopt.config.json')), agent };
  writeFiles(own.place.dir, { 'session/skillopt.config.json': JSON.stringify(config) });
  return own;
}

test('an agent that the config describes is measured, in each rollout with the skill where it looks for it', async () => {
  const own = clerk();
  const end = await own.succeed(['eval', 'session', '--split', 'train', '--yes', '--json']);
  expect(jsonOf(end).headline).toContain('2 of 9');
  const log = own.place.read('session/skillopt.evals/train-seed/skillopt-eval.jsonl');
  expect(log).toMatch(/"versions":\{"clerk":"bytes [0-9a-f]{12}"/);
  expect(log).toContain('"read":null');
});

test('what is wrong with its description is told before anything begins', async () => {
  const failed = async (more: object) => clerk(more).run(['run', 'session', '--yes']);
  expectFailure(await failed({ files: { '.clerk/greeting': '{workspce}' } }), {
    code: 2,
    what: /^agent\.files: "\.clerk\/greeting": \{workspce\} is no placeholder: did you mean \{workspace\}\?/,
    where: /skillopt\.config\.json$/,
    fix: /^correct agent\.files/,
  });
  expectFailure(await failed({ command: ['clerk-that-is-not-there', '{instruction_file}'] }), {
    code: 4,
    what: /^the agent clerk can’t be started: no clerk-that-is-not-there is on PATH$/,
    where: /^agent\.command$/,
    fix: /^install clerk-that-is-not-there, or write its whole path$/,
  });
  expectFailure(await failed({ name: 'oracle' }), {
    code: 2,
    what: /^oracle is an agent of this program$/,
    where: /^agent\.name$/,
    fix: /another name/,
  });
});
