/** WebAssembly's binary format (core specification 2.0, section 5), as far as `meter.ts` needs it. */

export const SECTION = { type: 1, import: 2, global: 6, export: 7, code: 10 };
export const KIND = { function: 0, table: 1, memory: 2, global: 3 };
export const TYPE = { i32: 0x7f, f64: 0x7c, none: 0x40 };
export const OP = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  branch: 0x0c,
  branchIf: 0x0d,
  branchTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  drop: 0x1a,
  select: 0x1b,
  localGet: 0x20,
  globalGet: 0x23,
  globalSet: 0x24,
  i32Load: 0x28,
  i64Store32: 0x3e,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i64Const: 0x42,
  f32Const: 0x43,
  f64Const: 0x44,
  i32EqualsZero: 0x45,
  i32LessOrEqual: 0x4c,
  i32Sub: 0x6b,
  i32ShiftRight: 0x76,
  i64Extend32: 0xc4,
  prefix: 0xfc,
  memoryCopy: 0xfc0a,
  memoryFill: 0xfc0b,
};

export interface WasmSection {
  id: number;
  content: Uint8Array;
}

export class WasmReader {
  at = 0;
  readonly source: Uint8Array;
  constructor(source: Uint8Array) {
    this.source = source;
  }

  get done(): boolean {
    return this.at >= this.source.length;
  }

  byte(): number {
    return this.source[this.at++]!;
  }

  take(length: number): Uint8Array {
    this.at += length;
    return this.source.subarray(this.at - length, this.at);
  }

  rest(): Uint8Array {
    return this.source.subarray(this.at);
  }

  /** Reads an unsigned LEB128 integer. */
  integer(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** Skips LEB128 integers, signed or unsigned. */
  skipIntegers(count: number): void {
    for (let left = count; left > 0; ) if (this.byte() < 0x80) left--;
  }

  name(): string {
    return new TextDecoder().decode(this.take(this.integer()));
  }

  /**
   * Reads an instruction with its operands.
   * @returns its opcode; for prefixed instructions, combined with the number after it
   * @throws Error for SIMD, exceptions, tail calls and references, which are not supported
   */
  instruction(): number {
    const opcode = this.byte();
    switch (opcode) {
      case OP.block:
      case OP.loop:
      case OP.if:
      case OP.branch:
      case OP.branchIf:
      case OP.call:
      case OP.memorySize:
      case OP.memoryGrow:
      case OP.i32Const:
      case OP.i64Const:
        this.skipIntegers(1);
        return opcode;
      case OP.callIndirect:
        this.skipIntegers(2);
        return opcode;
      case OP.branchTable:
        this.skipIntegers(this.integer() + 1);
        return opcode;
      case OP.f32Const:
        this.at += 4;
        return opcode;
      case OP.f64Const:
        this.at += 8;
        return opcode;
      case OP.prefix:
        return this.prefixed();
    }
    if (isBetween(opcode, OP.localGet, OP.globalSet)) this.skipIntegers(1);
    else if (isBetween(opcode, OP.i32Load, OP.i64Store32)) this.skipIntegers(2);
    else if (!OPCODES_WITHOUT_OPERANDS.has(opcode) && !isBetween(opcode, OP.i32EqualsZero, OP.i64Extend32))
      throwUnknown(opcode);
    return opcode;
  }

  private prefixed(): number {
    const opcode = OP.prefix * 256 + this.integer();
    if (opcode === OP.memoryCopy) this.skipIntegers(2);
    else if (opcode === OP.memoryFill) this.skipIntegers(1);
    else if (opcode > LAST_TRUNCATION) throwUnknown(opcode);
    return opcode;
  }
}

/** Instructions without operands, beside arithmetic. */
const OPCODES_WITHOUT_OPERANDS = new Set([
  OP.unreachable,
  OP.nop,
  OP.else,
  OP.end,
  OP.return,
  OP.drop,
  OP.select,
]);
/** i64.trunc_sat_f64_u, the last prefixed instruction without operands. */
const LAST_TRUNCATION = 0xfc07;

const isBetween = (opcode: number, first: number, last: number) => opcode >= first && opcode <= last;

function throwUnknown(opcode: number): never {
  throw new Error(`the WebAssembly instruction 0x${opcode.toString(16)} is not known here`);
}

export function readSections(module: Uint8Array): WasmSection[] {
  const reader = new WasmReader(module);
  reader.take(8);
  const sections: WasmSection[] = [];
  while (!reader.done) sections.push({ id: reader.byte(), content: reader.take(reader.integer()) });
  return sections;
}

/** Encodes a non-negative integer as LEB128. */
export function encodeInteger(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 128)) bytes.push((left % 128) + 0x80);
  return [...bytes, left];
}

/** Prepends the length to the parts. */
export function withLength(parts: Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [Uint8Array.from(encodeInteger(length)), ...parts];
}

/** Appends entries to a section that is a list. */
export function appendToList(list: Uint8Array, entries: number[][]): Uint8Array[] {
  const reader = new WasmReader(list);
  const count = reader.integer() + entries.length;
  return [
    Uint8Array.from(encodeInteger(count)),
    reader.rest(),
    ...entries.map((entry) => Uint8Array.from(entry)),
  ];
}
