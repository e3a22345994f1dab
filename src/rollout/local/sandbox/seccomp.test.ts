import { describe, expect, test } from 'bun:test';
import { seccompFilter } from './seccomp.ts';

const allow = 0x7fff0000;
const refuse = 0x00050001;
const audit = { x64: 0xc000003e, i386: 0x40000003, arm64: 0xc00000b7, arm: 0x40000028 } as const;

/** What the kernel does with the filter. */
function run(filter: Uint8Array, call: number, architecture: number): number {
  const view = new DataView(filter.buffer);
  let value = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = view.getUint16(at * 8, true);
    const [ifTrue, ifFalse] = [view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3)];
    const k = view.getUint32(at * 8 + 4, true);
    if (code === 0x20) value = k === 0 ? call : architecture;
    else if (code === 0x15) at += value === k ? ifTrue : ifFalse;
    else if (code === 0x35) at += value >= k ? ifTrue : ifFalse;
    else if (code === 0x06) return k;
    else throw new Error(`code ${code}`);
  }
  throw new Error('ran off its end');
}

describe('the filter of calls to the kernel', () => {
  const refusedCalls = { x64: [248, 249, 250], i386: [286, 287, 288], arm64: [217, 218, 219], arm: [309, 310, 311] };
  test.each([
    ['x64', 'x64'],
    ['x64', 'i386'],
    ['arm64', 'arm64'],
    ['arm64', 'arm'],
  ] as const)('on %s refuses to programs of %s what deals with keys, and nothing else', (machine, program) => {
    const filter = seccompFilter(machine) ?? new Uint8Array();
    const refused = Array.from({ length: 600 }, (_, call) => call).filter(
      (call) => run(filter, call, audit[program]) !== allow,
    );
    expect(refused).toEqual(refusedCalls[program]);
    expect(run(filter, refused[0] ?? 0, audit[program])).toBe(refuse);
  });

  test('refuses the other way to make calls on x64, and all of another kind of machine', () => {
    const filter = seccompFilter('x64') ?? new Uint8Array();
    expect(run(filter, 0x40000000 + 250, audit.x64)).toBe(refuse);
    expect(run(filter, 0x40000001, audit.x64)).toBe(refuse);
    expect(run(filter, 1, audit.arm)).toBe(refuse);
    expect(seccompFilter('riscv64')).toBeNull();
  });
});
