#!/usr/bin/env bun
import { relayWord } from './gateway/relay-word.ts';
import { VERSION } from './version.ts';

const [first, ...rest] = process.argv.slice(2);
if (first === relayWord) {
  // stands before every rollout's agent, and hands its environment on as it is
  const { runRelay } = await import('./gateway/relay.ts');
  runRelay(rest);
} else if (rest.length === 0 && (first === '--version' || first === '-V')) {
  console.log(`skillopt ${VERSION}`);
} else {
  await import('./env.ts');
  const { main } = await import('./cli/main.ts');
  await main(process.argv.slice(2));
}
