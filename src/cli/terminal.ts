import { hostEnvironment, wantsPlainOutput } from '../config/environment.ts';
import type { Io } from './io.ts';

/** The live screen needs a terminal on both sides that can move its cursor, and someone in front of it. */
export function hasScreen(io: Io, plain: boolean): boolean {
  if (io.json || plain || wantsPlainOutput(hostEnvironment())) return false;
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Milliseconds that a rollout of the rehearsal takes longer where somebody watches it. */
export const WATCHED_MS = 333;
