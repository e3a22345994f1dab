import { closeSync, openSync, readSync } from 'node:fs';

/** What a native program needs of the system that starts it. */
export type Binary = {
  /** The C library whose loader it names; null = none: it is whole by itself. */
  readonly library: 'glibc' | 'musl' | null;
};

const headBytes = 64;
const INTERPRETER = 3;

/** A program of Linux, by its first bytes (ELF, 64 bit, as this machine orders them); null = it is none. */
export function binaryAt(file: string): Binary | null {
  const fd = openSync(file, 'r');
  try {
    const read = (at: number, size: number) => {
      const bytes = Buffer.alloc(size);
      return bytes.subarray(0, readSync(fd, bytes, 0, size, at));
    };
    const head = read(0, headBytes);
    if (head.length < headBytes || head.toString('latin1', 0, 4) !== '\x7fELF' || head[4] !== 2 || head[5] !== 1)
      return null;
    const table = Number(head.readBigUInt64LE(32));
    const size = head.readUInt16LE(54);
    const entries = head.readUInt16LE(56);
    for (let at = 0; at < entries; at++) {
      const entry = read(table + at * size, size);
      if (entry.length < size || entry.readUInt32LE(0) !== INTERPRETER) continue;
      const from = Number(entry.readBigUInt64LE(8));
      const length = Math.min(4096, Number(entry.readBigUInt64LE(32)));
      return { library: /ld-musl/.test(read(from, length).toString('latin1')) ? 'musl' : 'glibc' };
    }
    return { library: null };
  } finally {
    closeSync(fd);
  }
}
