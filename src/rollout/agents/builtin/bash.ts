import type { ProcessEnd } from '../../../process/process-end.ts';
import type { Hands } from './hands.ts';
import type { Performed } from './tool-inputs.ts';

/** Most bytes of a command's output that the model is shown, half of them from its end. */
const SHOWN_BYTES = 16_000;

/** Runs a command of the model. A command that fails is no error of the tool: its exit code is told. */
export async function runBash(hands: Hands, command: string): Promise<Performed> {
  const handled = await hands.shell(command, { mergeStderr: true, maxOutputBytes: SHOWN_BYTES });
  const told = (output: string, exitCode: number | null, isError: boolean): Performed => ({
    kind: 'done',
    step: { kind: 'tool', name: 'bash', input: command, output, exitCode },
    isError,
  });
  switch (handled.kind) {
    case 'over': {
      if (handled.end === null) return { kind: 'over', step: null };
      const output = joined(shownOutput(handled.end), '(the rollout was ended while it ran)');
      return { kind: 'over', step: { kind: 'tool', name: 'bash', input: command, output, exitCode: null } };
    }
    case 'not-started':
      return told(`The command was not run: ${handled.detail}.`, null, true);
    case 'late': {
      const seconds = Math.round(hands.limitMs / 1000);
      const ended = `(ended after ${seconds} s, the limit of one command; split longer work, and start nothing that waits for input)`;
      return told(joined(shownOutput(handled.end), ended), null, true);
    }
    case 'ended': {
      const { end } = handled;
      return told(joined(shownOutput(end), endedHow(end)), end.exitCode, false);
    }
    default:
      return handled satisfies never;
  }
}

function shownOutput({ stdout, droppedBytes }: ProcessEnd): string {
  if (droppedBytes === 0) return stdout;
  const hint = `(${droppedBytes} bytes of this output are cut out of its middle; narrow it down with grep, head or tail)`;
  return joined(stdout, hint);
}

/** Nothing for a command that went well and printed something. */
function endedHow({ exitCode, signal, stdout }: ProcessEnd): string {
  if (signal !== null) return `(ended by ${signal})`;
  if (exitCode !== 0) return `(exit code ${exitCode})`;
  return stdout === '' ? '(no output)' : '';
}

/** A text with a line below it; where one is empty, the other. */
export function joined(text: string, line: string): string {
  if (line === '' || text === '') return text + line;
  return text.endsWith('\n') ? `${text}${line}` : `${text}\n${line}`;
}
