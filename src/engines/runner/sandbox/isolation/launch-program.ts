/**
 * Makes a launch plan a program of some 25 kilobytes, which starts in a fraction of the runtime's time. The program is an
 * ELF executable (elf(5)) for Linux, with the same twenty instructions for all plans: a loop over a table of calls.
 */
import type { LaunchCall, LaunchPlan, Operand } from "./launch-plan.ts";
import { type Architecture, SYSCALLS, type Syscall } from "./syscalls.ts";

/*
 * Both loops expect, at DATA, the address that receives the address of the environment, and the address of the first
 * call. A call is eight 64-bit words: its number, six operands, and the distance of the call that follows if it fails.
 */
const CALL_BYTES = 64;
/** Files are mapped in pages, so the addresses of both segments have the same low digits as their places in the file. */
const CODE_BASE = 0x400000;
const DATA_BASE = 0x10000000;
const CODE = 0x100;
const DATA = 0x200;

const INSTRUCTIONS: Record<Architecture, string> = {
  x64: `
    48 8b 04 24                 mov   rax, [rsp]              number of arguments
    48 8d 44 c4 10              lea   rax, [rsp+rax*8+16]     address of the environment
    48 8b 0c 25 00 02 00 10     mov   rcx, [DATA]
    48 89 01                    mov   [rcx], rax
    48 8b 1c 25 08 02 00 10     mov   rbx, [DATA+8]
    48 8b 03             call:  mov   rax, [rbx]
    48 8b 7b 08                 mov   rdi, [rbx+8]
    48 8b 73 10                 mov   rsi, [rbx+16]
    48 8b 53 18                 mov   rdx, [rbx+24]
    4c 8b 53 20                 mov   r10, [rbx+32]
    4c 8b 43 28                 mov   r8, [rbx+40]
    4c 8b 4b 30                 mov   r9, [rbx+48]
    0f 05                       syscall
    48 85 c0                    test  rax, rax
    78 06                       js    failed
    48 83 c3 40                 add   rbx, 64
    eb d8                       jmp   call
    48 03 5b 38        failed:  add   rbx, [rbx+56]
    eb d2                       jmp   call`,
  arm64: `
    14 40 80 d2                 mov   x20, #0x200
    14 00 a2 f2                 movk  x20, #0x1000, lsl #16   DATA
    e0 03 40 f9                 ldr   x0, [sp]                number of arguments
    e1 43 00 91                 add   x1, sp, #16
    20 0c 00 8b                 add   x0, x1, x0, lsl #3      address of the environment
    81 02 40 f9                 ldr   x1, [x20]
    20 00 00 f9                 str   x0, [x1]
    93 06 40 f9                 ldr   x19, [x20, #8]
    68 02 40 a9          call:  ldp   x8, x0, [x19]
    61 0a 41 a9                 ldp   x1, x2, [x19, #16]
    63 12 42 a9                 ldp   x3, x4, [x19, #32]
    65 1a 40 f9                 ldr   x5, [x19, #48]
    01 00 00 d4                 svc   #0
    60 00 f8 b7                 tbnz  x0, #63, failed
    73 02 01 91                 add   x19, x19, #64
    f9 ff ff 17                 b     call
    61 1e 40 f9        failed:  ldr   x1, [x19, #56]
    73 02 01 8b                 add   x19, x19, x1
    f6 ff ff 17                 b     call`,
};

const ELF_MACHINES: Record<Architecture, number> = { x64: 62, arm64: 183 };
/** Exit status of a command that could not be executed, as of shells. */
const NOT_EXECUTED = 126;
const STDERR = 2;
const PT_LOAD = 1;
const PT_GNU_STACK = 0x6474e551;
const READ_WRITE = 6;
const READ_EXECUTE = 5;
const PAGE = 0x1000;

/** The encoded calls that all launches of a sandbox begin with. */
export interface CommonCalls {
  architecture: Architecture;
  /** The program's instructions. */
  code: Buffer;
  /** The calls and what their operands point to, as memory at `DATA`. */
  bytes: Buffer;
  /** Address of the first call. */
  first: number;
  /** Addresses of the calls that print a message and exit, by message. */
  failures: Map<string, number>;
}

/** Encodes calls once for many launches. */
export function encodeCommonCalls(calls: LaunchCall[], architecture: Architecture): CommonCalls {
  const memory = new Memory(DATA_BASE + DATA, SYSCALLS[architecture]);
  memory.append(Buffer.alloc(2 * 8));
  const encoded = memory.encode(calls);
  const first = memory.end;
  memory.append(encoded(first));
  const code = readListing(INSTRUCTIONS[architecture]);
  return { architecture, code, bytes: memory.bytes(), first, failures: memory.failures };
}

/**
 * Creates the program that makes the common calls, those of one launch, and becomes the command.
 * @returns the bytes of an executable file
 */
export function createLaunchProgram(common: CommonCalls, { own, execve, command }: LaunchPlan): Buffer {
  const start = DATA_BASE + DATA + common.bytes.length;
  const calls: LaunchCall[] = [
    ...own,
    { number: execve, name: "execve", operands: [command[0]!, { words: [...command, 0] }] },
  ];
  const memory = new Memory(
    start + calls.length * CALL_BYTES,
    SYSCALLS[common.architecture],
    common.failures,
  );
  const encoded = memory.encode(calls)(start);
  // The third operand of the last call.
  const environment = start + encoded.length - CALL_BYTES + 3 * 8;
  const header = Buffer.from(new BigUint64Array([BigInt(environment), BigInt(common.first)]).buffer);
  const data = Buffer.concat([header, common.bytes.subarray(header.length), encoded, memory.bytes()]);
  return createElf(common.code, data, ELF_MACHINES[common.architecture]);
}

/** Memory of the program, which grows. */
class Memory {
  readonly failures: Map<string, number>;
  size = 0;
  private readonly start: number;
  private readonly numbers: Record<Syscall, number>;
  private readonly parts: Buffer[] = [];

  /** @param failures addresses that are known, by message */
  constructor(start: number, numbers: Record<Syscall, number>, failures?: Map<string, number>) {
    this.start = start;
    this.numbers = numbers;
    this.failures = new Map(failures);
  }

  get end(): number {
    return this.start + this.size;
  }

  bytes(): Buffer {
    return Buffer.concat(this.parts);
  }

  /** Appends bytes, aligned to words. @returns their address */
  append(bytes: Buffer): number {
    const address = this.end;
    const padding = -bytes.length & 7;
    this.parts.push(bytes, Buffer.alloc(padding));
    this.size += bytes.length + padding;
    return address;
  }

  /**
   * Appends what the calls point to.
   * @returns a function that encodes the calls themselves for their address
   */
  encode(calls: LaunchCall[]): (address: number) => Buffer {
    const rows = calls.map((call) => ({
      words: [call.number, ...call.operands.map((operand) => this.resolve(operand))],
      failure: call.skipped === undefined ? this.findFailure(describeFailure(call)) : undefined,
      skipped: call.skipped ?? 0,
    }));
    return (address) => {
      const words = new BigInt64Array((rows.length * CALL_BYTES) / 8);
      for (const [index, row] of rows.entries()) {
        for (const [at, word] of row.words.entries()) words[8 * index + at] = BigInt(word);
        const distance =
          row.failure === undefined
            ? (row.skipped + 1) * CALL_BYTES
            : row.failure - address - index * CALL_BYTES;
        words[8 * index + 7] = BigInt(distance);
      }
      return Buffer.from(words.buffer);
    };
  }

  /** Returns the word that the program passes to the kernel. */
  private resolve(operand: Operand): number {
    if (typeof operand === "number") return operand;
    if (typeof operand === "string") return this.append(Buffer.from(`${operand}\0`));
    if ("bytes" in operand) return this.append(Buffer.from(operand.bytes, "base64"));
    const words = operand.words.map((word) => BigInt(this.resolve(word)));
    return this.append(Buffer.from(new BigInt64Array(words).buffer));
  }

  /** Returns the address of calls that report a failed call and exit. */
  private findFailure(message: string): number {
    const found = this.failures.get(message);
    if (found !== undefined) return found;
    const { write, exit_group } = this.numbers;
    const encoded = this.encode([
      { number: write, name: "write", operands: [STDERR, message, Buffer.byteLength(message)], skipped: 0 },
      { number: exit_group, name: "exit_group", operands: [NOT_EXECUTED], skipped: 0 },
    ]);
    const address = this.append(encoded(this.end));
    this.failures.set(message, address);
    return address;
  }
}

function describeFailure({ name, operands }: LaunchCall): string {
  return name === "execve"
    ? `${operands[0]} could not be started\n`
    : `the sandbox could not be set up: ${name} was refused\n`;
}

/** Reads the hexadecimal bytes at the start of each line. */
function readListing(text: string): Buffer {
  const lines = text.match(/^ +([0-9a-f]{2} )+/gm) ?? [];
  return Buffer.from(lines.join("").replaceAll(" ", ""), "hex");
}

function createElf(code: Buffer, data: Buffer, machine: number): Buffer {
  const file = Buffer.alloc(DATA + data.length);
  // 64 bits, little-endian, version 1; then executable, processor, version, and the addresses and sizes of headers.
  file.write("\x7fELF\x02\x01\x01", "latin1");
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(machine, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(CODE_BASE + CODE), 24);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(3, 56);
  const writeSegment = (
    index: number,
    type: number,
    access: number,
    at: number,
    base: number,
    size: number,
  ) => {
    const header = 64 + 56 * index;
    file.writeUInt32LE(type, header);
    file.writeUInt32LE(access, header + 4);
    const fields = [at, base + at, base + at, size, size, PAGE];
    for (const [field, value] of fields.entries())
      file.writeBigUInt64LE(BigInt(value), header + 8 + 8 * field);
  };
  writeSegment(0, PT_LOAD, READ_EXECUTE, CODE, CODE_BASE, code.length);
  writeSegment(1, PT_LOAD, READ_WRITE, DATA, DATA_BASE, data.length);
  writeSegment(2, PT_GNU_STACK, READ_WRITE, 0, 0, 0);
  code.copy(file, CODE);
  data.copy(file, DATA);
  return file;
}
