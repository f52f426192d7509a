/**
 * Makes a WebAssembly module interruptible. A running module cannot be interrupted from outside, not even by
 * terminating its thread. QuickJS calls its interrupt handler only between interpreter steps and in regular
 * expressions, so a native loop (`new Array(4294967295).indexOf(1)`, huge BigInts) would block the server.
 *
 * A counter is therefore inserted into the module and decremented in every loop iteration. When it reaches zero, the
 * module calls its clock import, where the host refills the counter or throws.
 */
import {
  appendToList,
  encodeInteger,
  KIND,
  OP,
  readSections,
  SECTION,
  TYPE,
  WasmReader,
  withLength,
} from "./wasm-binary.ts";

export interface MeteredModule {
  bytes: Uint8Array<ArrayBuffer>;
  /** Import called when the counter is used up; takes nothing and returns an f64. */
  clock: { module: string; name: string };
  /** Exported counter: a mutable i32, initially 0. */
  counter: string;
}

/** Inserted code: at the head of each loop, and before and after each bulk memory instruction. */
interface Insertions {
  loop: Uint8Array;
  beforeBulk: Uint8Array;
  afterBulk: Uint8Array;
}

const COUNTER_EXPORT = "fuel";
/** Bulk memory instructions cost one per 16 bytes, about as much as a loop iteration. */
const BULK_SHIFT = 4;

/**
 * Inserts the counting into a WebAssembly module.
 * @throws Error if the module has no such import, or uses features that QuickJS does not (SIMD, exceptions, references)
 */
export function addMetering(module: Uint8Array): MeteredModule {
  const sections = readSections(module);
  const content = (id: number) =>
    sections.find((section) => section.id === id)?.content ?? throwMissing(`section ${id}`);
  const { clock, globals: importedGlobals } = readImports(content(SECTION.type), content(SECTION.import));
  const counter = importedGlobals + new WasmReader(content(SECTION.global)).integer();
  const insertions = createInsertions(counter, counter + 1, clock.index);
  const parts = sections.flatMap((section) => {
    const rewritten =
      section.id === SECTION.global
        ? appendToList(section.content, [GLOBAL_COUNTER, GLOBAL_COUNTER])
        : section.id === SECTION.export
          ? appendToList(section.content, [encodeExport(counter)])
          : section.id === SECTION.code
            ? meterFunctions(section.content, insertions)
            : [section.content];
    return [Uint8Array.of(section.id), ...withLength(rewritten)];
  });
  return {
    bytes: new Uint8Array(Buffer.concat([module.subarray(0, 8), ...parts])),
    clock,
    counter: COUNTER_EXPORT,
  };
}

function throwMissing(what: string): never {
  throw new Error(`the WebAssembly module has no ${what}`);
}

/** Finds the first imported function that takes nothing and returns an f64, and counts the imported globals. */
function readImports(types: Uint8Array, imports: Uint8Array) {
  const clockTypes = findClockTypes(types);
  const reader = new WasmReader(imports);
  let clock: { module: string; name: string; index: number } | undefined;
  let functions = 0;
  let globals = 0;
  for (let left = reader.integer(); left > 0; left--) {
    const [module, name, kind] = [reader.name(), reader.name(), reader.byte()];
    if (kind === KIND.function) {
      if (clockTypes.has(reader.integer())) clock ??= { module, name, index: functions };
      functions++;
    } else if (kind === KIND.global) {
      reader.take(2);
      globals++;
    } else {
      if (kind === KIND.table) reader.take(1);
      const has_maximum = reader.byte() === 1;
      reader.skipIntegers(has_maximum ? 2 : 1);
    }
  }
  return { clock: clock ?? throwMissing("import of a clock"), globals };
}

function findClockTypes(types: Uint8Array): Set<number> {
  const reader = new WasmReader(types);
  const count = reader.integer();
  const found = new Set<number>();
  for (let index = 0; index < count; index++) {
    reader.byte();
    const parameters = reader.take(reader.integer());
    const results = reader.take(reader.integer());
    if (parameters.length === 0 && results.length === 1 && results[0] === TYPE.f64) found.add(index);
  }
  return found;
}

/** A mutable i32 with initial value 0. */
const GLOBAL_COUNTER = [TYPE.i32, 1, OP.i32Const, 0, OP.end];

function encodeExport(counter: number): number[] {
  const name = new TextEncoder().encode(COUNTER_EXPORT);
  return [...encodeInteger(name.length), ...name, KIND.global, ...encodeInteger(counter)];
}

/**
 * Creates the instructions to insert. The length of a bulk copy is on top of the stack; it is saved in a global and
 * restored.
 */
function createInsertions(counter: number, length: number, clock: number): Insertions {
  const get = (index: number) => [OP.globalGet, ...encodeInteger(index)];
  const set = (index: number) => [OP.globalSet, ...encodeInteger(index)];
  const take = (cost: number[]) => [...get(counter), ...cost, OP.i32Sub, ...set(counter)];
  const has_run_out = [...get(counter), OP.i32Const, 0, OP.i32LessOrEqual];
  const look = [OP.if, TYPE.none, OP.call, ...encodeInteger(clock), OP.drop, OP.end];
  return {
    loop: Uint8Array.from([...take([OP.i32Const, 1]), ...has_run_out, ...look]),
    beforeBulk: Uint8Array.from([...set(length), ...get(length)]),
    afterBulk: Uint8Array.from(take([...get(length), OP.i32Const, BULK_SHIFT, OP.i32ShiftRight])),
  };
}

function meterFunctions(code: Uint8Array, insertions: Insertions): Uint8Array[] {
  const reader = new WasmReader(code);
  const count = reader.integer();
  const parts: Uint8Array[] = [Uint8Array.from(encodeInteger(count))];
  for (let left = count; left > 0; left--) {
    parts.push(...withLength(meterFunction(reader.take(reader.integer()), insertions)));
  }
  return parts;
}

function meterFunction(body: Uint8Array, { loop, beforeBulk, afterBulk }: Insertions): Uint8Array[] {
  const reader = new WasmReader(body);
  const kinds_of_locals = reader.integer();
  reader.skipIntegers(2 * kinds_of_locals);
  const pieces: Uint8Array[] = [];
  let copied = 0;
  const insert = (position: number, inserted: Uint8Array) => {
    pieces.push(body.subarray(copied, position), inserted);
    copied = position;
  };
  while (!reader.done) {
    const start = reader.at;
    const opcode = reader.instruction();
    if (opcode === OP.loop) insert(reader.at, loop);
    if (opcode === OP.memoryCopy || opcode === OP.memoryFill) {
      insert(start, beforeBulk);
      insert(reader.at, afterBulk);
    }
  }
  pieces.push(body.subarray(copied));
  return pieces;
}
