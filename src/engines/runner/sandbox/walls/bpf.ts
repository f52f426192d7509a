/** Programs of classic BPF that decide about system calls: instructions, and what is made of them often. */

/** Instructions of classic BPF (linux/filter.h) and the answers of a filter (linux/seccomp.h). */
export const LOAD = 0x20;
export const EQUALS = 0x15;
export const ANY_BIT = 0x45;
export const AND = 0x54;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;

/** Where the filter finds what it decides by (struct seccomp_data). */
export const NUMBER = 0;
export const ARCHITECTURE = 4;
export const argument = (index: number) => 16 + 8 * index;

export type Instruction = [code: number, whenTrue: number, whenFalse: number, value: number];

export function refuse(errno: number): Instruction {
  return [RETURN, 0, 0, ERRNO | errno];
}

export function allow(): Instruction {
  return [RETURN, 0, 0, ALLOW];
}

/** Lets the call pass when an argument is one of these values. */
export function oneOf(offset: number, values: number[], errno: number): Instruction[] {
  return [[LOAD, 0, 0, offset], ...oneOfLoaded(values, errno)];
}

export function oneOfLoaded(values: number[], errno: number): Instruction[] {
  const tests = values.map((value, index): Instruction => [EQUALS, values.length - index, 0, value]);
  return [...tests, refuse(errno), allow()];
}

/** Refuses the call when an argument is one of these values. */
export function noneOf(offset: number, values: number[], errno: number): Instruction[] {
  const tests = values.map((value, index): Instruction => [EQUALS, values.length - index, 0, value]);
  return [[LOAD, 0, 0, offset], ...tests, allow(), refuse(errno)];
}

/** Refuses the call when an argument has one of these bits. */
export function noBit(offset: number, bits: number, errno: number): Instruction[] {
  return [[LOAD, 0, 0, offset], [ANY_BIT, 0, 1, bits], refuse(errno), allow()];
}

export function encoded(program: Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, whenTrue, whenFalse, value], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, whenTrue);
    view.setUint8(index * 8 + 3, whenFalse);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  });
  return new Uint8Array(view.buffer);
}
