import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { growFolder } from './copy.ts';
import { PROMPT_PACK_FILE, type PromptPackReading } from './prompt-pack.ts';

/**
 * Writes a prompt pack as it was read: its own bytes as `tasks.json`, and the files that it names, whatever else lies
 * in its folder. Like `copyTree`: `to` is whole or absent. Throws `disk`.
 */
export async function copyPromptPack(reading: PromptPackReading, to: string): Promise<void> {
  await growFolder(to, async (growing) => {
    for (const { name, bytes } of [{ name: PROMPT_PACK_FILE, bytes: reading.bytes }, ...reading.files]) {
      const place = join(growing, name);
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, bytes, { flag: 'wx', mode: 0o644 });
    }
  });
}
