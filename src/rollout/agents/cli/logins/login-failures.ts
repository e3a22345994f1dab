import { type Failure, fail } from '../../../../ports/failure.ts';
import { momentWords } from '../clock-words.ts';

/** Characters of the vendor's words in a message. */
const LONGEST_WORDS = 200;

const GOES_ON = 'it goes on where it stopped';

/** A login's window is used up; `resetsAt` (ISO 8601) undefined = nobody says until when. `said` in the vendor's words. */
export function usedUpFailure(agent: string, said: string, resetsAt: string | undefined): Failure {
  const where = `login of ${agent}`;
  const words = said === '' ? '' : ` (${shortened(said)})`;
  const ms = resetsAt === undefined ? Number.NaN : Date.parse(resetsAt);
  if (Number.isNaN(ms)) {
    const fix = `look up when it is reset, then start it again: ${GOES_ON}; or name a model with a key`;
    return fail('quota', `the login of ${agent} is used up${words}`, where, fix, { retryable: true }).failure;
  }
  const when = momentWords(ms);
  const what = `the login of ${agent} is used up until ${when}${words}`;
  const fix = `start it again after ${when}: ${GOES_ON}; with --wait-for-reset it waits for that by itself`;
  return { ...fail('quota', what, where, fix, { retryable: true }).failure, retryAt: new Date(ms).toISOString() };
}

/** The vendor's first words: what follows is advice to its customers. */
function shortened(said: string): string {
  const first = said.split('💡')[0]!.trim();
  return first.length > LONGEST_WORDS ? `${first.slice(0, LONGEST_WORDS).trimEnd()}…` : first;
}

/** The vendor does not take a login that was taken. */
export function refusedFailure(agent: string, said: string, logIn: string): Failure {
  const what = `the login of ${agent} is refused${said === '' ? '' : ` (${said})`}`;
  return fail('auth', what, `login of ${agent}`, `log in anew with ${logIn}, then start it again: ${GOES_ON}`).failure;
}

/** Variables that an agent would take for a key, or for another way to its vendor, before its login. */
const beforeLogin: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
  ],
  codex: ['CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'],
};

/** Of the variables that a rollout is given, those that an agent would use in place of its login. */
export function keysBeside(agent: string, given: Iterable<string>): readonly string[] {
  const names = new Set(given);
  return (Object.hasOwn(beforeLogin, agent) ? beforeLogin[agent]! : []).filter((name) => names.has(name));
}

/** Whoever pays for what would be another than it seems. */
export function besideFailure(agent: string, names: readonly string[], where: string): Failure {
  const what = `${agent} would use ${names.join(', ')} in place of its login`;
  return fail('auth', what, where, `take ${names.join(', ')} out, or set "login": "key"`).failure;
}
