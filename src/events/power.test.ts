import { describe, expect, test } from 'bun:test';
import { type Power, powerBasis, powerText } from './power.ts';

const told: Power = {
  kind: 'told',
  rule: 'balanced',
  tasks: 24,
  scored: 23,
  noise: 'assumed',
  neutral: 0.214,
  effects: [
    { points: 5, chance: 0.3 },
    { points: 10, chance: 0.45 },
    { points: 20, chance: 0.8 },
  ],
  half: 14,
  likely: 20,
  underpowered: false,
};
const found = (...chances: readonly (number | null)[]) => ({
  effects: [5, 10, 20].map((points, i) => ({ points, chance: chances[i] ?? null })),
});

describe('what one gate can tell, in a sentence', () => {
  test.each<readonly [string, Power]>([
    [
      'a neutral draft is kept in about 21 % of gates; +10 points are found in 45 %, +20 in 80 %; below +14 points a gate mostly can’t tell',
      told,
    ],
    [
      'a neutral draft is kept in 27 % of gates; +10 points are found in 98 %, +20 in over 99 %',
      { ...told, ...found(0.8, 0.98, 1), noise: 'measured', neutral: 0.27, half: 1, likely: 5 },
    ],
    [
      'a neutral draft is kept in under 1 % of gates; +10 points are found in 12 %, +20 in 30 %; underpowered: even +20 points are mostly missed',
      { ...told, ...found(0.05, 0.12, 0.3), neutral: 0.004, half: 31, likely: null, underpowered: true },
    ],
    [
      'a neutral draft is kept in about 19 % of gates; +5 points are found in 30 %; underpowered: even the most that there is room for is mostly missed',
      { ...told, ...found(0.3, null, null), neutral: 0.19, half: null, likely: null, underpowered: true },
    ],
    [
      'a neutral draft is kept in about 10 % of gates; the seed leaves no room for +5 points; underpowered: even the most that there is room for is mostly missed',
      { ...told, ...found(null, null, null), neutral: 0.1, half: null, likely: null, underpowered: true },
    ],
    ['not told: nothing was scored', { kind: 'untold', why: 'nothing was scored' }],
  ])('%s', (text, power) => {
    expect(powerText(power)).toBe(text);
  });

  test('what that rests on; an assumption is named', () => {
    expect(powerBasis(told)).toContain('23 of 24 selection tasks');
    expect(powerBasis(told)).toContain('assumed');
    expect(powerBasis({ ...told, noise: 'measured' })).not.toContain('assumed');
    expect(powerBasis({ kind: 'untold', why: '' })).toBe('');
  });
});
