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

/** A program that runs the commands of the skill's lines that speak of its task. */
const clerk = String.raw`#!/bin/sh
task=$(tr '\n' ' ' < "$1" | tr A-Z a-z)
skill=$(echo "$HOME"/.clerk/skills/*/SKILL.md)
sed -n 's/^- When the task says "\([^"]*\)", run ${'`'}\([^${'`'}]*\)${'`'}.*/\1	\2/p' "$skill" > "$TMPDIR/lines"
while IFS='	' read -r phrase command; do
  case "$task" in *"$phrase"*) echo "$phrase"; sh -c "$command" ;; esac
done < "$TMPDIR/lines"
cat "$HOME/.clerk/greeting"
`;

/** It speaks to a model first: of what the skill is for, and then with all of it. */
const talking = String.raw`#!/bin/bash
ask() {
  local text=$(sed 's/\\/\\\\/g; s/"/\\"/g; s/	/ /g' | awk '{ printf "%s\\n", $0 }')
  local tool='{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}'
  local body='{"model":"any","messages":[{"role":"user","content":"'"$text"'"}],"tools":['"$tool"']}'
  local at="${'$'}{BASE#http://}" end=$'\r\n'
  local place="${'$'}{at%%/*}" path="/${'$'}{at#*/}/v1/chat/completions"
  exec 3<> "/dev/tcp/${'$'}{place%:*}/${'$'}{place#*:}" || exit 9
  local head="POST $path HTTP/1.1${'$'}{end}Host: $place${'$'}{end}Authorization: Bearer $KEY${'$'}{end}Connection: close$end"
  printf '%sContent-Type: application/json%sContent-Length: %d%s%s%s' "$head" "$end" "$(printf %s "$body" | wc -c)" "$end" "$end" "$body" >&3
  cat <&3
  exec 3>&-
}
skill=$(echo "$HOME"/.clerk/skills/*/SKILL.md)
sed -n 's/^description: //p' "$skill" | ask
ask < "$skill"
exec sh "$(dirname "$0")/clerk" "$@"
`;

/** The example with this agent; what it is described by may be changed. */
function session(
  describe: (bin: string) => object = () => ({}),
  config: Readonly<Record<string, unknown>> = { model: null },
): HarborSession {
  const own = new HarborSession({ config });
  writeFiles(own.place.dir, { 'bin/clerk*': clerk, 'bin/talking*': talking });
  const bin = own.place.path('bin');
  const agent = {
    name: 'clerk',
    command: [`${bin}/clerk`, '{instruction_file}'],
    skills: '~/.clerk/skills',
    files: { '.clerk/greeting': 'Done in {workspace}.\n' },
    ...describe(bin),
  };
  const whole = { ...JSON.parse(own.place.read('session/skillopt.config.json')), agent, sandbox: { show: [bin] } };
  writeFiles(own.place.dir, { 'session/skillopt.config.json': JSON.stringify(whole) });
  return own;
}

const evalOfTrain = ['eval', 'session', '--split', 'train', '--yes', '--json'];

test('an agent that the config describes is measured, in each rollout with the skill where it looks for it', async () => {
  const own = session();
  expect(jsonOf(await own.succeed(evalOfTrain)).headline).toContain('2 of 9');
  const log = own.place.read('session/skillopt.evals/train-seed/skillopt-eval.jsonl');
  expect(log).toMatch(/"versions":\{"clerk":"bytes [0-9a-f]{12}"/);
  expect(log).toContain('"read":null');
});

test('one that speaks to its model through the gateway is counted there, and known to have read the skill', async () => {
  const describe = (bin: string) => ({
    command: ['bash', `${bin}/talking`, '{instruction_file}'],
    protocol: 'chat',
    env: { BASE: '{base_url}', KEY: '{key}' },
  });
  const own = session(describe, {});
  const { arms } = jsonOf(await own.succeed(evalOfTrain));
  expect(arms).toMatchObject([{ passed: 2, of: 9, scored: 9, read: [9, 9], turns: 18 }]);
  expect(own.asked('target').map((q) => q.tools)).toEqual(Array.from({ length: 18 }, () => ['look']));
});

test('what is wrong with its description is told before anything begins', async () => {
  const failed = (describe: () => object) => session(describe).run(['run', 'session', '--yes']);
  expectFailure(await failed(() => ({ files: { '.clerk/greeting': '{workspce}' } })), {
    code: 2,
    what: /^agent\.files: "\.clerk\/greeting": \{workspce\} is no placeholder: did you mean \{workspace\}\?/,
    where: /skillopt\.config\.json$/,
    fix: /^correct agent\.files/,
  });
  expectFailure(await failed(() => ({ command: ['clerk-that-is-not-there', '{instruction_file}'] })), {
    code: 4,
    what: /^the agent clerk can’t be started: no clerk-that-is-not-there is on PATH$/,
    where: /^agent\.command$/,
    fix: /^install clerk-that-is-not-there, or write its whole path$/,
  });
  expectFailure(await failed(() => ({ name: 'oracle' })), {
    code: 2,
    what: /^oracle is an agent of this program$/,
    where: /^agent\.name$/,
    fix: /another name/,
  });
});
