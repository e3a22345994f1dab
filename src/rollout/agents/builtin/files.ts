import type { ProcessEnd } from '../../../process/process-end.ts';
import { joined } from './bash.ts';
import type { Handled, Hands } from './hands.ts';
import type { Performed, ToolInput } from './tool-inputs.ts';

// Files are read and written by small programs of sh in the rollout, and never by this process: what stands there may
// be a link, a pipe or a device, and the paths of a sandbox are not those of the host. Contents go by stdin.

/** Most bytes and lines that one call of `read` shows. */
const SHOWN_BYTES = 48_000;
const SHOWN_LINES = 2_000;
/** Larger files are no work for `edit`. */
const LARGEST_EDITED_BYTES = 4_000_000;

/** The code by which a script says that stdout holds what is wrong, for the model. */
const TOLD = 91;

/** `$p` = the path with `~/` resolved; ends with what is wrong unless it is a file that can be read. */
const FIND = `
case $1 in "~/"*) p=$HOME/\${1#"~/"} ;; -*) p=./$1 ;; *) p=$1 ;; esac
wrong() { printf '%s\\n' "$1"; exit ${TOLD}; }`;
const FIND_FILE = `${FIND}
[ -d "$p" ] && wrong "It is a folder: $(ls -A "$p" | head -n 100 | tr '\\n' ' ')"
[ -e "$p" ] || wrong 'There is no such file.'
[ -f "$p" ] || wrong 'It is no ordinary file.'
[ -r "$p" ] || wrong 'You may not read it.'`;

/** Prints the count of lines (`grep` fails where there are none), then those that are asked for. */
const READ = `${FIND_FILE}
grep -c '' "$p" || :
sed -n "$2,$3p;$3q" "$p"`;

const WRITE = `${FIND}
[ -d "$p" ] && wrong 'It is a folder.'
d=$(dirname "$p") && mkdir -p "$d" && cat > "$p"`;

/** Bytes as they are: what is no UTF-8 stays what it is. */
const READ_BYTES = `${FIND_FILE}
[ -w "$p" ] || wrong 'You may not write it.'
[ "$(wc -c < "$p")" -le ${LARGEST_EDITED_BYTES} ] || wrong 'It is too large for this tool; use bash.'
base64 < "$p"`;
/** Written over the old bytes, so that its mode stays, and only when all of the new ones are there. */
const WRITE_BYTES = `${FIND}
t=$(mktemp) && base64 -d > "$t" && cat "$t" > "$p"; s=$?; rm -f "$t"; exit "$s"`;

/** A script's output, or what the model is told in its place. */
type Came =
  | { readonly kind: 'output'; readonly text: string; readonly droppedBytes: number }
  | { readonly kind: 'wrong'; readonly text: string }
  | { readonly kind: 'over'; readonly step: null };

async function script(
  hands: Hands,
  text: string,
  args: readonly string[],
  more: { readonly stdin?: string; readonly maxOutputBytes?: number } = {},
): Promise<Came> {
  return cameOf(await hands.program(['sh', '-c', text, 'sh', ...args], more), hands);
}

function cameOf(handled: Handled, hands: Hands): Came {
  switch (handled.kind) {
    case 'over':
      return { kind: 'over', step: null };
    case 'not-started':
      return { kind: 'wrong', text: `It could not be done: ${handled.detail}.` };
    case 'late':
      return { kind: 'wrong', text: `It was not done within ${Math.round(hands.limitMs / 1000)} s.` };
    case 'ended': {
      const { exitCode, stdout, droppedBytes } = handled.end;
      if (exitCode === 0) return { kind: 'output', text: stdout, droppedBytes };
      if (exitCode === TOLD) return { kind: 'wrong', text: stdout.trimEnd() };
      return { kind: 'wrong', text: `It could not be done: ${whatFailed(handled.end)}.` };
    }
    default:
      return handled satisfies never;
  }
}

/** The words of the program that failed, without its name for the script. */
function whatFailed({ stderr, exitCode, signal }: ProcessEnd): string {
  const words = stderr.trim().replace(/^sh: (line )?(\d+: )?/gm, '');
  if (words !== '') return words;
  return signal === null ? `exit code ${exitCode}` : `ended by ${signal}`;
}

/** Paths are arguments, and no argument holds a NUL or is that long. */
function badPath(path: string): string | null {
  if (path.includes('\0')) return 'A path holds no NUL.';
  return Buffer.byteLength(path) > 4_000 ? 'The path is too long.' : null;
}

/** Shows lines of a text file, as they are, and what is left of it. */
export async function readFile(
  hands: Hands,
  { path, offset = 1, limit = SHOWN_LINES }: ToolInput<'read'>,
): Promise<Performed> {
  const most = Math.min(limit, SHOWN_LINES);
  const last = offset + most - 1;
  const input = offset === 1 && most === SHOWN_LINES ? path : `${path} ${offset}-${last}`;
  const done = (output: string, isError: boolean): Performed => ({
    kind: 'done',
    step: { kind: 'tool', name: 'read', input, output, exitCode: isError ? 1 : 0 },
    isError,
  });
  const bad = badPath(path);
  if (bad !== null) return done(`${path}: ${bad}`, true);
  const came = await script(hands, READ, [path, String(offset), String(last)], { maxOutputBytes: SHOWN_BYTES });
  if (came.kind === 'over') return came;
  if (came.kind === 'wrong') return done(`${path}: ${came.text}`, true);
  const at = came.text.indexOf('\n');
  const lines = Number(came.text.slice(0, at));
  const text = came.text.slice(at + 1);
  if (text.includes('\0')) return done(`${path}: It is no text file; look at it with bash.`, true);
  if (lines === 0) return done('(the file is empty)', false);
  if (offset > lines) return done(`${path}: It has ${lines} lines only.`, true);
  const notes = [
    ...(came.droppedBytes > 0
      ? [`(${came.droppedBytes} bytes are cut out of the middle: read fewer lines at a time)`]
      : []),
    ...(last < lines ? [`(lines ${offset} to ${last} of ${lines}; go on with offset ${last + 1})`] : []),
  ];
  return done(notes.reduce(joined, text), false);
}

/** Writes a file whole. */
export async function writeFile(hands: Hands, { path, content }: ToolInput<'write'>): Promise<Performed> {
  const done = (output: string, isError: boolean): Performed => ({
    kind: 'done',
    step: { kind: 'tool', name: 'write', input: `${path}\n${content}`, output, exitCode: isError ? 1 : 0 },
    isError,
  });
  const bad = badPath(path);
  if (bad !== null) return done(`${path}: ${bad}`, true);
  const came = await script(hands, WRITE, [path], { stdin: content });
  if (came.kind === 'over') return came;
  return came.kind === 'wrong'
    ? done(`${path}: ${came.text}`, true)
    : done(`Wrote ${Buffer.byteLength(content)} bytes to ${path}.`, false);
}

/** Replaces a text that occurs exactly once; every other byte stays as it is. */
export async function editFile(hands: Hands, input: ToolInput<'edit'>): Promise<Performed> {
  const { path } = input;
  const done = (output: string, isError: boolean): Performed => ({
    kind: 'done',
    step: {
      kind: 'tool',
      name: 'edit',
      input: `${path}\n--- old\n${input.old}\n--- new\n${input.new}`,
      output,
      exitCode: isError ? 1 : 0,
    },
    isError,
  });
  const bad = badPath(path);
  if (bad !== null) return done(`${path}: ${bad}`, true);
  const came = await script(hands, READ_BYTES, [path], { maxOutputBytes: 2 * LARGEST_EDITED_BYTES });
  if (came.kind === 'over') return came;
  if (came.kind === 'wrong') return done(`${path}: ${came.text}`, true);
  const edited = editedBytes(Buffer.from(came.text, 'base64'), input);
  if ('wrong' in edited) return done(`${path}: ${edited.wrong}`, true);
  const wrote = await script(hands, WRITE_BYTES, [path], { stdin: edited.bytes.toString('base64') });
  if (wrote.kind === 'over') return wrote;
  return wrote.kind === 'wrong'
    ? done(`${path}: ${wrote.text}`, true)
    : done(`Replaced it in line ${edited.line} of ${path}.`, false);
}

type Edited = { readonly bytes: Buffer; readonly line: number } | { readonly wrong: string };

/** The bytes with the one place replaced. In a file with the line ends of Windows the texts are taken with them. */
export function editedBytes(bytes: Buffer, texts: { readonly old: string; readonly new: string }): Edited {
  if (texts.old === texts.new) return { wrong: 'The new text is the old one, so nothing was changed.' };
  const windows = (text: string) => text.replace(/\r?\n/g, '\r\n');
  const asGiven = placesOf(bytes, Buffer.from(texts.old));
  const isWindows = asGiven.length === 0 && bytes.includes('\r\n');
  const old = Buffer.from(isWindows ? windows(texts.old) : texts.old);
  const places = isWindows ? placesOf(bytes, old) : asGiven;
  const [at] = places;
  if (at === undefined)
    return {
      wrong:
        'The old text does not occur in it. Read the file again: blanks, line breaks and quotes have to be the same.',
    };
  if (places.length > 1)
    return {
      wrong: `The old text occurs ${places.length} times in it. Take more of what stands around the one meant.`,
    };
  const fresh = Buffer.from(isWindows ? windows(texts.new) : texts.new);
  const head = bytes.subarray(0, at);
  return {
    bytes: Buffer.concat([head, fresh, bytes.subarray(at + old.length)]),
    line: head.filter((byte) => byte === 10).length + 1,
  };
}

/** Where the text begins, overlapping places too. */
function placesOf(bytes: Buffer, text: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}
