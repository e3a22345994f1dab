#!/usr/bin/env bun
import './env.ts';
import { VERSION } from './version.ts';

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  console.log(`skillopt ${VERSION}`);
} else {
  const { main } = await import('./cli/main.ts');
  await main(args);
}
