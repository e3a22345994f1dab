import type { UnscoredReason } from '../ports/outcome.ts';
import { shownBeginning } from '../process/half-words.ts';

/** Longest reward file that is read. */
export const maxRewardBytes = 1_000_000;
/** Most keys of a reward.json, and the longest key in characters: they stand in the log with each outcome. */
export const maxRewardKeys = 64;
export const maxRewardKeyLength = 100;

/** A reward file as it was found. `bytes` is null when it was not read: too long, not a plain file, not readable. */
export type RewardFile = {
  readonly bytes: Uint8Array | null;
  readonly sizeBytes: number;
  readonly plain: boolean;
  /** Why it could not be read though it may well be there; null = it could. */
  readonly unreadable: string | null;
  /** Nanoseconds, by the clock of the file system. */
  readonly modifiedNs: bigint;
};

/** What lay in the verifier's log folder when it had ended; null = no such file. */
export type RewardFiles = {
  readonly json: RewardFile | null;
  readonly text: RewardFile | null;
  /** When the verifier began, by the same clock. */
  readonly startedNs: bigint;
};

/** What the reward files are worth. */
export type RewardReading =
  | { readonly kind: 'reward'; readonly reward: number; readonly rewards: Readonly<Record<string, number>> }
  | { readonly kind: 'unscored'; readonly reason: UnscoredReason; readonly detail: string };

/**
 * The reward that a verifier left, by one table (that of Harbor, made strict):
 *
 * | found | read as |
 * |---|---|
 * | a reward file older than the verifier's start | tampered |
 * | reward.json, with or without reward.txt | reward.json |
 * | reward.json: an object of numbers | key `reward`, else the only key; the others are kept beside it |
 * | reward.json: a bare number, text, list, a value that is no number, several keys without `reward` | bad |
 * | reward.json: more than 64 keys, or a key of more than 100 characters | bad |
 * | reward.txt alone: one decimal number, blanks around it | the number, under the key `reward` |
 * | reward.txt: anything else | bad |
 * | a reward below 0 or above 1, NaN | bad |
 * | empty, over 1 MB, not UTF-8, not a plain file, not readable by us | bad |
 * | neither | missing |
 */
export function readRewards(files: RewardFiles): RewardReading {
  for (const [name, file] of [
    ['reward.json', files.json],
    ['reward.txt', files.text],
  ] as const) {
    if (file !== null && file.modifiedNs < files.startedNs) {
      return { kind: 'unscored', reason: 'tampered', detail: `${name} is older than the verifier's start` };
    }
  }
  if (files.json !== null) return withText('reward.json', files.json, readJson);
  if (files.text !== null) return withText('reward.txt', files.text, readNumber);
  return {
    kind: 'unscored',
    reason: 'verifier-missing-reward',
    detail: 'the verifier wrote neither reward.json nor reward.txt',
  };
}

type Values = { readonly rewards: Readonly<Record<string, number>> } | { readonly problem: string };

function withText(name: string, file: RewardFile, read: (text: string) => Values): RewardReading {
  const bad = (problem: string): RewardReading => ({
    kind: 'unscored',
    reason: 'verifier-bad-reward',
    detail: `${name}: ${problem}`,
  });
  if (file.unreadable !== null) return bad(`can not be read (${file.unreadable})`);
  if (!file.plain) return bad('not a plain file');
  if (file.bytes === null) return bad(`${file.sizeBytes} bytes, more than ${maxRewardBytes}`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
  } catch {
    return bad('not UTF-8');
  }
  if (text.trim() === '') return bad('empty');
  const values = read(text);
  if ('problem' in values) return bad(values.problem);
  const chosen = rewardOf(values.rewards);
  return 'problem' in chosen ? bad(chosen.problem) : { kind: 'reward', reward: chosen.reward, rewards: values.rewards };
}

/** The reward among what a verifier gave, by the same table; null stands for what is no number. */
export function chosenReward(values: Readonly<Record<string, number | null>>): RewardReading {
  const bad = (detail: string): RewardReading => ({ kind: 'unscored', reason: 'verifier-bad-reward', detail });
  const read = numbersOf(values);
  if ('problem' in read) return bad(read.problem);
  const chosen = rewardOf(read.rewards);
  return 'problem' in chosen ? bad(chosen.problem) : { kind: 'reward', reward: chosen.reward, rewards: read.rewards };
}

function rewardOf(
  rewards: Readonly<Record<string, number>>,
): { readonly reward: number } | { readonly problem: string } {
  const keys = Object.keys(rewards);
  const key = Object.hasOwn(rewards, 'reward') ? 'reward' : keys.length === 1 ? keys[0] : undefined;
  if (key === undefined) return { problem: `no key "reward" among ${keys.length} keys (${shown(keys.join(', '))})` };
  const reward = rewards[key]!;
  return reward >= 0 && reward <= 1 ? { reward } : { problem: `${reward} is not between 0 and 1` };
}

function readJson(text: string): Values {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: `not JSON: ${shown(text)}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: `not an object of numbers: ${shown(text)}` };
  }
  return numbersOf(value);
}

function numbersOf(value: object): Values {
  const found = Object.entries(value);
  if (found.length > maxRewardKeys) return { problem: `${found.length} keys, more than ${maxRewardKeys}` };
  const entries: [string, number][] = [];
  for (const [key, entry] of found) {
    const length = [...key].length;
    if (length > maxRewardKeyLength) {
      return { problem: `a key of ${length} characters, more than ${maxRewardKeyLength}: "${shown(key)}"` };
    }
    if (typeof entry !== 'number' || !Number.isFinite(entry)) {
      return { problem: `the value of "${shown(key)}" is not a number` };
    }
    // Adding 0 makes 0 of −0.
    entries.push([key, entry + 0]);
  }
  return { rewards: Object.fromEntries(entries) };
}

function readNumber(text: string): Values {
  const trimmed = text.trim();
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return { problem: `not a number: ${shown(trimmed)}` };
  return { rewards: { reward: Number(trimmed) + 0 } };
}

function shown(text: string): string {
  return shownBeginning(text, 60);
}
