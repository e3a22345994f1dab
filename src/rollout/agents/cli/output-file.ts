import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { plainFile } from '../../local/plain-file.ts';

/** More than any agent's events come to; of a longer output the first and the last half are read. */
const mostBytes = 64_000_000;

/**
 * What a process wrote into a file that lay within its reach: it may be gone, or something else by now, and is then
 * read as nothing.
 */
export async function readOutput(file: string, limitBytes: number = mostBytes): Promise<string> {
  const handle = await open(file, plainFile).catch(() => null);
  if (handle === null) return '';
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return '';
    if (stat.size <= limitBytes) return (await bytesAt(handle, 0, stat.size)).toString('utf8');
    const half = Math.floor(limitBytes / 2);
    const parts = [await bytesAt(handle, 0, half), await bytesAt(handle, stat.size - half, half)];
    return parts.map((part) => part.toString('utf8')).join('\n');
  } catch {
    return '';
  } finally {
    await handle.close();
  }
}

/** Writes a text in place of a plain file's content; anything else at that place is left alone. */
export async function replaceOutput(file: string, text: string): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return;
  try {
    if (!(await handle.stat()).isFile()) return;
    await handle.truncate(0);
    await handle.write(text, 0);
  } finally {
    await handle.close();
  }
}

type Handle = Awaited<ReturnType<typeof open>>;

async function bytesAt(handle: Handle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await handle.read(buffer, read, length - read, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
