/** A system call by its number on each kind of machine; i386 and arm are what 32-bit programs use there. */
type Call = { readonly x64: number; readonly i386: number; readonly arm64: number; readonly arm: number };

/**
 * Refused within walls: keys that the kernel keeps for a user's login (tickets, passwords of mounts) go from process to
 * process with the session, and no namespace parts them.
 */
const refused: readonly Call[] = [
  { x64: 248, i386: 286, arm64: 217, arm: 309 }, // add_key
  { x64: 249, i386: 287, arm64: 218, arm: 310 }, // request_key
  { x64: 250, i386: 288, arm64: 219, arm: 311 }, // keyctl
];

const architectures = {
  x64: { own: 0xc000003e, other: { audit: 0x40000003, kind: 'i386' } },
  arm64: { own: 0xc00000b7, other: { audit: 0x40000028, kind: 'arm' } },
} as const;

/** Numbers from here on are those of x32, another way to make the same calls. */
const x32 = 0x40000000;

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const end = 0x06;
const allow = 0x7fff0000;
const refuse = 0x00050001; // EPERM

/** Offsets in what a filter is given. */
const callAt = 0;
const architectureAt = 4;

type Step = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter for `bwrap --seccomp`; null = this kind of machine has none here. */
export function seccompFilter(arch: string): Uint8Array | null {
  if (arch !== 'x64' && arch !== 'arm64') return null;
  const { own, other } = architectures[arch];
  const steps: Step[] = [[load, 0, 0, architectureAt]];
  const mine = listed(
    refused.map((call) => call[arch]),
    arch === 'x64',
  );
  const theirs = listed(
    refused.map((call) => call[other.kind]),
    false,
  );
  steps.push([jumpIfEqual, 0, mine.length, own], ...mine);
  steps.push([jumpIfEqual, 0, theirs.length, other.audit], ...theirs);
  steps.push([end, 0, 0, refuse]);
  return bytesOf(steps);
}

/** Refuses the calls with these numbers, and allows every other one. */
function listed(numbers: readonly number[], hasX32: boolean): readonly Step[] {
  const checks: readonly (readonly [code: number, value: number])[] = [
    ...(hasX32 ? [[jumpIfAtLeast, x32] as const] : []),
    ...numbers.map((number) => [jumpIfEqual, number] as const),
  ];
  return [
    [load, 0, 0, callAt],
    ...checks.map(([code, value], index): Step => [code, checks.length - index, 0, value]),
    [end, 0, 0, allow],
    [end, 0, 0, refuse],
  ];
}

/** As the kernel has them: `struct sock_filter` in this machine's order of bytes, which is little-endian on both. */
function bytesOf(steps: readonly Step[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(steps.length * 8));
  for (const [index, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, ifTrue);
    bytes.setUint8(index * 8 + 3, ifFalse);
    bytes.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}
