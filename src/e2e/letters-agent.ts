import { shellWord } from '../ports/printable.ts';
import { rehearsal } from './own-pack.ts';

// A coding agent as a user might describe one in a config, as a script of bash. As the doer it follows the lines of the
// skill; as the optimizer it reads the material and hands in a line for each kind of letter that fails.

/** Commands of bash that print a hand-in: an edit for each kind of letter of which a failing task is named in `$seen`. */
const proposes = [
  'edits=',
  ...rehearsal.edits.map(({ phrase, op, target, content, reason }) => {
    const job = phrase.split(' ')[0] ?? '';
    const edit = JSON.stringify({ op, target, content, cites: ['CITES'], reason });
    return [
      `cites=$(grep -o 'Failing task ${job}-[a-z-]*' <<< "$seen" | cut -d' ' -f3 | sort -u | sed 's/.*/"&"/' | paste -sd, -)`,
      `edit=${shellWord(edit)}`,
      `[ -z "$cites" ] || edits="$edits\${edits:+,}\${edit//\\"CITES\\"/$cites}"`,
    ].join('\n');
  }),
  'proposal="{\\"summary\\": \\"What is missing.\\", \\"edits\\": [$edits]}"',
].join('\n');

/** What an agent of the tests does as the optimizer: `$M` is its material, `$H` the file to hand in, `$proposal` a good one. */
export const handsIn = 'printf %s "$proposal" > "$H"';

/**
 * The script: called with the file of the instruction and the folder of the skill. `asOptimizer` and `first`, what it does
 * before a task, in commands of bash.
 */
export function lettersAgent(asOptimizer: string = handsIn, first = ''): string {
  return `#!/bin/bash
told=$(< "$1")
M=$(grep -o '/[^ ]*/RULES\\.md' <<< "$told" | head -n 1); M=\${M%/RULES.md}
if [ -n "$M" ]; then
  H=$(grep -o '/[^ ]*/proposal\\.json' <<< "$told" | head -n 1)
  seen=$(cat "$M"/failing/*.md)
${proposes}
${asOptimizer}
  exit
fi
${first}
grep -o '^- When the task says "[^"]*", run \`[^\`]*\`' "$2/SKILL.md" | while IFS= read -r line; do
  phrase=\${line#*\\"}; phrase=\${phrase%%\\"*}
  command=\${line#*\\\`}; command=\${command%\\\`*}
  case "$told" in *"$phrase"*) sh -c "$command"; echo "did: $phrase";; esac
done
`;
}

/** A function of bash, `ask`, that asks the model behind `$BASE` for one answer, and fails where it gets none. */
export const asks = String.raw`ask() {
  local body='{"model":"any","messages":[{"role":"user","content":"What next?"}]}' at="${'$'}{BASE#http://}" end=$'\r\n'
  local place="${'$'}{at%%/*}" path="/${'$'}{at#*/}/v1/chat/completions"
  exec 3<> "/dev/tcp/${'$'}{place%:*}/${'$'}{place#*:}" || return 1
  local head="POST $path HTTP/1.1${'$'}{end}Host: $place${'$'}{end}Authorization: Bearer $KEY${'$'}{end}Connection: close$end"
  printf '%sContent-Type: application/json%sContent-Length: %d%s%s%s' "$head" "$end" "${'$'}{#body}" "$end" "$end" "$body" >&3
  grep -q choices <&3
}
`;

/** The same as the doer, under a name and with words of its own: an agent that has a model asks it. */
export const asksFirst = `${asks.replace('ask()', 'begin()').replace('What next?', 'What first?')}begin`;

/** The same hand-in as the answer of a program that is asked as a model. */
export const lettersModel = `#!/bin/bash
seen=$(cat)
${proposes}
printf %s "$proposal"
`;
