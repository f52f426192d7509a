/** Builders for classic BPF programs that filter system calls. */

/** Opcodes of classic BPF (linux/filter.h) and a filter's return values (linux/seccomp.h). */
export const LOAD = 0x20;
export const JUMP_IF_EQUAL = 0x15;
export const JUMP_IF_ANY_BIT = 0x45;
export const AND = 0x54;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;

/** Offsets in the filter's input (struct seccomp_data). */
export const SYSCALL_NUMBER_OFFSET = 0;
export const ARCHITECTURE_OFFSET = 4;
export const computeArgumentOffset = (index: number) => 16 + 8 * index;

export type Instruction = [code: number, whenTrue: number, whenFalse: number, value: number];

export function returnErrno(errno: number): Instruction {
  return [RETURN, 0, 0, ERRNO | errno];
}

export function returnAllow(): Instruction {
  return [RETURN, 0, 0, ALLOW];
}

/** Allows the call if the argument is one of the values, else refuses it. */
export function allowValues(offset: number, values: number[], errno: number): Instruction[] {
  return [[LOAD, 0, 0, offset], ...allowLoadedValues(values, errno)];
}

export function allowLoadedValues(values: number[], errno: number): Instruction[] {
  const tests = values.map((value, index): Instruction => [JUMP_IF_EQUAL, values.length - index, 0, value]);
  return [...tests, returnErrno(errno), returnAllow()];
}

/** Refuses the call if the argument is one of the values. */
export function refuseValues(offset: number, values: number[], errno: number): Instruction[] {
  const tests = values.map((value, index): Instruction => [JUMP_IF_EQUAL, values.length - index, 0, value]);
  return [[LOAD, 0, 0, offset], ...tests, returnAllow(), returnErrno(errno)];
}

/** Refuses the call if the argument has any of the bits. */
export function refuseBits(offset: number, bits: number, errno: number): Instruction[] {
  return [[LOAD, 0, 0, offset], [JUMP_IF_ANY_BIT, 0, 1, bits], returnErrno(errno), returnAllow()];
}

export function encodeProgram(program: Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, whenTrue, whenFalse, value], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, whenTrue);
    view.setUint8(index * 8 + 3, whenFalse);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  });
  return new Uint8Array(view.buffer);
}
