/**
 * Asks on the terminal, in a line: y or enter is yes, n is no, anything else is asked again. No where the input ends, and
 * where `signal` comes. Nothing of the terminal is changed: it hands over whole lines, and ctrl+c is a signal.
 */
export async function askLine(question: string, signal: AbortSignal): Promise<boolean> {
  const { stdin, stdout } = process;
  const ask = () => stdout.write(`${question} [Y/n] `);
  return new Promise((resolve) => {
    let typed = '';
    const done = (answer: boolean, isTyped: boolean) => {
      stdin.off('data', hear);
      stdin.off('end', end);
      stdin.off('error', end);
      signal.removeEventListener('abort', end);
      stdin.pause();
      if (!isTyped) stdout.write('\n');
      resolve(answer);
    };
    const end = () => done(false, false);
    const hear = (piece: Buffer | string) => {
      typed += String(piece);
      const at = typed.search(/[\r\n]/);
      if (at < 0) return;
      const answer = typed.slice(0, at).trim().toLowerCase();
      typed = '';
      if (answer === '' || answer === 'y' || answer === 'yes') done(true, true);
      else if (answer === 'n' || answer === 'no') done(false, true);
      else ask();
    };
    stdin.on('data', hear);
    stdin.on('end', end);
    stdin.on('error', end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    else {
      ask();
      stdin.resume();
    }
  });
}
