import { ScriptedModel } from '../e2e/agents/scripted-model-fixture.ts';
import { createGateway } from '../gateway/index.ts';
import { Lane, upstreamOf } from '../models/index.ts';
import { type Figure, median } from './figure.ts';
import { inScratch } from './scratch.ts';

const requests = 200;
/** As large as a coding agent's after some turns. */
const requestChars = 60_000;

/** What the gateway adds to one streamed request of an agent: through it against straight to the model. */
export function gatewayFigure(): Promise<Figure> {
  return inScratch(async (folder) => {
    const model = new ScriptedModel();
    await model.start();
    const upstream = upstreamOf(
      { model: 'anthropic/claude-opus-4-8', baseUrl: model.url, keyEnv: 'KEY' },
      { variables: { KEY: 'a-key-of-the-bench' }, folder },
    );
    const gateway = createGateway({ upstream, folder, lane: new Lane(), room: null, random: () => 0 });
    const lease = gateway.lease({
      rollout: 'bench',
      limits: { requests: null, tokens: null, usd: null },
      skill: { description: 'Makes widgets. Use when asked for a widget.', body: 'One command makes a widget.\n' },
      exchangeFile: `${folder}/exchange.jsonl`,
      signal: new AbortController().signal,
    });
    try {
      const ms = { direct: [] as number[], through: [] as number[] };
      for (let n = 0; n < requests; n++) {
        ms.direct.push(await answeredMs(model.url));
        ms.through.push(await answeredMs(`${gateway.origin}${lease.path}`));
      }
      const [throughMs, directMs] = [median(ms.through), median(ms.direct)];
      return {
        name: 'gateway',
        what: `a request of ${requestChars / 1000} kB with a streamed answer, through the gateway against straight to the model`,
        value: throughMs - directMs,
        unit: 'ms',
        target: { atMost: 5 },
        n: requests,
        measured: { throughMs, directMs },
        note: '',
      };
    } finally {
      await lease.close();
      await gateway.close();
      await model.stop();
    }
  });
}

const body = JSON.stringify({
  model: 'claude-opus-4-8',
  max_tokens: 4096,
  stream: true,
  system: 'The following skills are available:\n- widget: Makes widgets. Use when asked for a widget.\n',
  tools: [{ name: 'Bash', description: 'Runs a command.', input_schema: { type: 'object', properties: {} } }],
  messages: [{ role: 'user', content: 'some words of a file that was read\n'.repeat(requestChars / 36) }],
});

async function answeredMs(baseUrl: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'a-key' },
    body,
  });
  const text = await response.text();
  if (!response.ok || !text.includes('message_stop')) throw new Error(`no answer (${response.status}): ${text}`);
  return performance.now() - startedAt;
}
