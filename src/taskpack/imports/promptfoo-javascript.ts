import { type CheckOrWhy, containing, literal, nowhere, regexCheck } from './patterns.ts';

/** A text in quotes without an escape. */
const text = '(?:\'([^\'\\\\]*)\'|"([^"\\\\]*)"|`([^`\\\\$]*)`)';
const start = '^(?:return\\s+)?(!\\s*)?output(?:\\.toString\\(\\))?';
const end = '\\s*;?\\s*$';

const asks = new RegExp(`${start}(\\.toLowerCase\\(\\))?\\.(includes|startsWith|endsWith)\\(\\s*${text}\\s*\\)${end}`);
const equals = new RegExp(`${start}(\\.trim\\(\\))?\\s*===?\\s*${text}${end}`);
const tests =
  /^(?:return\s+)?(!\s*)?\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([gims]*)\.test\(\s*output\s*\)\s*;?\s*$/;

/**
 * The check of the few expressions about the answer that say what a check does, such as `output.includes("x")`,
 * `output.trim() === "x"` and `/x/i.test(output)`; null for any other program. Nothing is run. `inverse`: the opposite.
 */
export function checkOfExpression(expression: string, inverse: boolean): CheckOrWhy | null {
  const given = expression.trim();
  const asked = asks.exec(given);
  if (asked !== null) {
    const [, not, lower, verb, ...texts] = asked;
    const wanted = texts.find((one) => one !== undefined) ?? '';
    // what holds a capital is never found in small letters
    if (wanted === '' || (lower !== undefined && wanted !== wanted.toLowerCase())) return null;
    const [flags, opposite] = [lower === undefined ? '' : 'i', (not !== undefined) !== inverse] as const;
    if (verb === 'includes' && !opposite) return containing(wanted, flags === 'i');
    return pattern(
      verb === 'startsWith' ? `^${literal(wanted)}` : verb === 'endsWith' ? `${literal(wanted)}$` : literal(wanted),
      flags,
      opposite,
    );
  }
  const equal = equals.exec(given);
  if (equal !== null) {
    const [, not, trimmed, ...texts] = equal;
    // `!output === "x"` compares a truth value
    if (not !== undefined) return null;
    const wanted = texts.find((one) => one !== undefined) ?? '';
    if (trimmed !== undefined && wanted !== wanted.trim()) return null;
    const around = trimmed === undefined ? '' : '\\s*';
    return pattern(`^${around}${literal(wanted)}${around}$`, '', inverse);
  }
  const tested = tests.exec(given);
  if (tested === null) return null;
  const [, not, source = '', flags = ''] = tested;
  return pattern(source, flags.replaceAll('g', ''), (not !== undefined) !== inverse);
}

function pattern(source: string, flags: string, opposite: boolean): CheckOrWhy | null {
  const direct = regexCheck(source, flags);
  // with m, a line's beginning would be one of the opposite's, too
  if (!opposite || !direct.ok) return direct;
  return flags.includes('m') ? null : regexCheck(nowhere(source), flags);
}
