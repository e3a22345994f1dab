import { hash } from 'node:crypto';

/** SHA-256 of a text (as UTF-8) or of bytes, in lower-case hex (64 characters). */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** The first `length` hex digits of the SHA-256: the short names that stand in keys (12 = 48 bits). */
export function shortHash(data: string | Uint8Array, length = 12): string {
  return sha256(data).slice(0, length);
}
