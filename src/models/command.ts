import { mkdtempSync, rmSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { namedSecrets } from '../config/environment.ts';
import type { ModelSettings } from '../config/model.ts';
import { nearest } from '../config/nearest.ts';
import { fail } from '../ports/failure.ts';
import { unknownCounts } from '../ports/gateway.ts';
import type { Model, ModelCallOptions, ModelError, ModelReply, ModelRequest } from '../ports/model.ts';
import type { Finding } from '../ports/preflight.ts';
import { type Usage, unknownUsage } from '../ports/usage.ts';
import type { ProcessEnd } from '../process/process-end.ts';
import { runProcess } from '../process/run-process.ts';
import { type CommandOutput, knownCommands, plainCommand } from './command-outputs.ts';
import { quoted } from './endpoint.ts';
import { modelError } from './model-failures.ts';
import { pricingOf, refusedUsage } from './price.ts';
import { promptText } from './prompt-text.ts';
import type { ModelSurroundings } from './surroundings.ts';

/** How long a program may take in all: it answers at once or not at all. */
const defaultMs = 600_000;
const maxOutputBytes = 16_000_000;

/** A model behind a program: the whole prompt on its stdin, the answer on its stdout. Throws `config` when it is not told which. */
export function commandModel(settings: ModelSettings, name: string, surroundings: ModelSurroundings): Model {
  const known = Object.hasOwn(knownCommands, name) ? knownCommands[name] : undefined;
  const [program, ...args] = settings.command ?? known?.command ?? [];
  if (program === undefined) throw unknownCommand(settings, name);
  const { read, tellsCost, tellsTokens } = known ?? plainCommand;
  const where = `${settings.model} (${program})`;
  const secrets = { secrets: namedSecrets(surroundings.variables).map((s) => s.value), keyEnv: null };
  const timeoutMs = settings.firstByteSec === undefined ? defaultMs : settings.firstByteSec * 1000;

  async function performCompletion(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
    options.signal.throwIfAborted();
    const end = await inItsFolder(settings, surroundings, (cwd) =>
      runProcess({
        command: [program as string, ...args],
        cwd,
        env: surroundings.variables,
        timeoutMs,
        signal: options.signal,
        stdin: promptText(request),
        maxOutputBytes,
      }),
    );
    options.signal.throwIfAborted();
    const output = end.cause === 'not-started' ? null : read(end.stdout);
    const problem = whatFailed(end, output);
    if (problem !== null) throw problem;
    if (output?.kind !== 'answer') throw modelError('bad-reply', 'the output can’t be read', where, unknownUsage);
    if (output.text !== '') options.onText?.(output.text);
    return {
      parts: output.text === '' ? [] : [{ kind: 'text', text: output.text }],
      stop: output.stop,
      usage: priced(output.usage),
    };
  }

  function whatFailed(end: ProcessEnd, output: CommandOutput | null): ModelError | null {
    const spent = output === null || output.kind === 'unreadable' ? unknownUsage : priced(output.usage);
    const error = (what: string, more: Parameters<typeof modelError>[4] = {}) =>
      modelError('command-failed', what, where, spent, more);
    switch (end.cause) {
      case 'not-started':
        return modelError(
          'command-failed',
          end.detail,
          where,
          { ...refusedUsage, requests: 0 },
          {
            ...(end.systemRefused
              ? { fix: 'close other programs and try again' }
              : { code: 'config', fix: `install ${program}, or put it on PATH` }),
          },
        );
      case 'timeout':
        return modelError('silent', `no answer within ${timeoutMs / 1000} s`, where, spent, {
          fix: 'raise "firstByteSec" of the model',
          retryable: false,
        });
      case 'signal':
      case 'cancelled':
        return error(`the command was ended by ${end.signal ?? 'a signal'}`);
      case 'exited':
        break;
      default: {
        const never: never = end.cause;
        return never;
      }
    }
    if (output?.kind === 'failed')
      return modelError(output.error, told('the command failed', output.words), where, spent, {
        fix: fixOf(program as string),
      });
    if (end.exitCode !== 0)
      return error(told(`the command ended with code ${end.exitCode}`, telling(end.stderr) || lastLine(end.stdout)));
    if (end.droppedBytes > 0)
      return modelError('bad-reply', `the output is longer than ${maxOutputBytes} bytes`, where, spent);
    if (output?.kind === 'unreadable')
      return modelError(
        'bad-reply',
        told('the output is not what this command writes', lastLine(end.stdout)),
        where,
        spent,
        {
          fix: 'run the command by hand to see what it writes',
        },
      );
    return null;
  }

  const told = (what: string, words: string) => (words === '' ? what : `${what}: ${quoted(words, secrets)}`);
  const pricing = pricingOf(settings.price, name, { priceProvider: null, tellsCost: false });
  const priced = (usage: Usage): Usage =>
    settings.price === undefined ? usage : { ...usage, costUsd: pricing.costUsd({ ...unknownCounts, ...usage }) };

  return {
    id: settings.model,
    takesTools: false,
    hasPrice: settings.price === undefined ? tellsCost : tellsTokens,
    performCompletion,
    preflight: async () => [await programFinding(program, where, settings, surroundings)],
  };
}

function unknownCommand(settings: ModelSettings, name: string) {
  const near = nearest(name, Object.keys(knownCommands));
  return fail(
    'config',
    name === '' ? `${settings.model} names no command` : `the command ${name} is not known`,
    `model ${settings.model}`,
    near === null
      ? `add "command": ["${name === '' ? 'my-model' : name}"], or name one of ${Object.keys(knownCommands).join(', ')}`
      : `did you mean command/${near}? Else add "command" with the program and its arguments`,
  );
}

const fixOf = (program: string) => `run ${program} by hand to see why; it may have to be logged in`;
const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)?.trim() ?? '';
/** The last line that speaks of an error, for some programs end with other things; else the last one. */
const telling = (text: string) =>
  text
    .split('\n')
    .findLast((line) => /\b(error|fatal|failed|denied)\b/i.test(line))
    ?.trim() ?? lastLine(text);

/**
 * A known agent is started in an empty folder, so that it finds no project to read; a command of the user's own in the
 * folder of the config.
 */
async function inItsFolder<T>(
  settings: ModelSettings,
  surroundings: ModelSurroundings,
  work: (cwd: string) => Promise<T>,
): Promise<T> {
  if (settings.command !== undefined) return work(surroundings.folder);
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-model-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function programFinding(
  program: string,
  where: string,
  settings: ModelSettings,
  { variables, folder }: ModelSurroundings,
): Promise<Finding> {
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : resolve(folder, program)]
    : (variables.PATH ?? '').split(delimiter).map((dir) => resolve(folder, dir, program));
  for (const place of places)
    if (await isProgram(place)) return { level: 'ok', what: `${program} is there`, where, fix: '' };
  return {
    level: 'error',
    what: program.includes('/') ? `${program} is no program` : `${program} is not on PATH`,
    where,
    fix:
      settings.command === undefined
        ? `install ${program}, or put it on PATH`
        : 'check "command" of the model, or put the program on PATH',
  };
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
