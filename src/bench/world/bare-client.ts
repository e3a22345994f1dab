import OpenAI from 'openai';
import type { WorldTasks } from './server.ts';

/** `bare-client.ts URL N`, the tasks on stdin: N requests one after the other. Prints their milliseconds. */
const [baseURL = '', many = ''] = process.argv.slice(2);
const { skill, train } = JSON.parse(await Bun.stdin.text()) as WorldTasks;
const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
const ask = (i: number) =>
  client.chat.completions.create({
    model: 'target',
    seed: i,
    messages: [
      { role: 'system', content: skill },
      { role: 'user', content: train[i % train.length]?.prompt ?? '' },
    ],
  });
await ask(0);
const startedAt = performance.now();
for (let i = 0; i < Number(many); i++) await ask(i);
console.log(performance.now() - startedAt);
