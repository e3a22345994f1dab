import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

/**
 * The command that runs a script: by its `#!` line, else by bash. The line is read here, so that a temporary folder
 * mounted without the right to execute does not matter; a shell that this host keeps elsewhere is taken from PATH.
 */
export async function scriptCommand(path: string): Promise<readonly [string, ...string[]]> {
  const handle = await open(path, 'r');
  let head: string;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    head = buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
  const [, interpreter, argument] = /^#![ \t]*(\S+)(?:[ \t]+([^\r\n]*?))?[ \t]*(?:\r?\n|$)/.exec(head) ?? [];
  if (interpreter === undefined) return ['bash', path];
  const program = existsSync(interpreter) ? interpreter : basename(interpreter);
  return argument ? [program, argument, path] : [program, path];
}
