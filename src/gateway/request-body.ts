import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';

/** Longer requests are refused: no provider takes them. */
export const mostRequestBytes = 64_000_000;

export type RequestBody =
  | {
      readonly kind: 'object';
      /** As it came, decoded: valid JSON. */
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
    }
  /** `status` and words for an answer. */
  | { readonly kind: 'refused'; readonly status: 400 | 413 | 415; readonly why: string };

const tooLong = {
  kind: 'refused',
  status: 413,
  why: `the request is longer than ${mostRequestBytes / 1_000_000} MB`,
} as const;

/** The body of a request as a JSON object, whatever it was compressed with. Rejects when the client leaves. */
export async function readRequestBody(request: Request, mostBytes = mostRequestBytes): Promise<RequestBody> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) return tooLong;
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.byteLength;
    if (length > mostBytes) return tooLong;
    pieces.push(piece);
  }
  let bytes: Uint8Array = Buffer.concat(pieces);
  const encodings = (request.headers.get('content-encoding') ?? '').split(',').map((name) => name.trim().toLowerCase());
  for (const name of encodings.reverse()) {
    if (name === '' || name === 'identity') continue;
    const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (decode === undefined) return { kind: 'refused', status: 415, why: `content-encoding ${name} is not known` };
    try {
      bytes = await decode(bytes, mostBytes);
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') return tooLong;
      return { kind: 'refused', status: 400, why: `the body is not what its content-encoding says (${name})` };
    }
  }
  return asObject(bytes);
}

function asObject(bytes: Uint8Array): RequestBody {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { kind: 'object', text, value: value as Readonly<Record<string, unknown>> };
  } catch {
    // told below
  }
  return { kind: 'refused', status: 400, why: 'the body is no JSON object' };
}

type Decode = (bytes: Uint8Array, mostBytes: number) => Promise<Uint8Array>;
type Zlib = (
  bytes: Uint8Array,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Uint8Array) => void,
) => void;

const by =
  (zlib: Zlib): Decode =>
  (bytes, mostBytes) =>
    new Promise((resolve, reject) => {
      zlib(bytes, { maxOutputLength: mostBytes }, (error, result) =>
        error === null ? resolve(result) : reject(error),
      );
    });

const decoders: Readonly<Record<string, Decode>> = {
  gzip: by(gunzip),
  'x-gzip': by(gunzip),
  // some clients send it without its frame
  deflate: (bytes, most) =>
    by(inflate)(bytes, most).catch((error: { code?: unknown }) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw error;
      return by(inflateRaw)(bytes, most);
    }),
  br: by(brotliDecompress),
  zstd: by(zstdDecompress),
};
