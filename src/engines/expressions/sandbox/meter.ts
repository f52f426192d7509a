/**
 * Makes a WebAssembly module stop at its host's word. A running module cannot be interrupted from outside, not even by
 * ending its thread, and QuickJS asks its interrupt handler only between steps of its interpreter and inside regular
 * expressions: a native loop (`new Array(4294967295).indexOf(1)`, a product of huge BigInts) would hold the whole
 * server. So a counter is written into the module: every round of every loop takes from it, and when it has run out
 * the module calls its import for the clock, where the host fills the counter up again or throws.
 */
import { extended, integer, KIND, OP, Reader, readSections, SECTION, sized, TYPE } from "./wasm-binary.ts";

export interface MeteredModule {
  bytes: Uint8Array<ArrayBuffer>;
  /** The import that is called when the counter has run out; it takes nothing and gives an f64. */
  clock: { module: string; name: string };
  /** The export that is the counter: a mutable i32, 0 at first. */
  counter: string;
}

/** Code that is put in: at the head of each loop; before and after each copying and filling of memory. */
interface Insertions {
  loop: Uint8Array;
  beforeBulk: Uint8Array;
  afterBulk: Uint8Array;
}

const COUNTER = "fuel";
/** Copying and filling cost one for every 16 bytes, about what a round of a loop does. */
const BULK_SHIFT = 4;

/** @throws Error for a module that has no such import, or uses what QuickJS does not (SIMD, exceptions, references) */
export function meter(module: Uint8Array): MeteredModule {
  const sections = readSections(module);
  const content = (id: number) =>
    sections.find((section) => section.id === id)?.content ?? missing(`section ${id}`);
  const { clock, globals: importedGlobals } = readImports(content(SECTION.type), content(SECTION.import));
  const counter = importedGlobals + new Reader(content(SECTION.global)).integer();
  const insertions = toInsertions(counter, counter + 1, clock.index);
  const parts = sections.flatMap((section) => {
    const rewritten =
      section.id === SECTION.global
        ? extended(section.content, [VARIABLE, VARIABLE])
        : section.id === SECTION.export
          ? extended(section.content, [exportOf(counter)])
          : section.id === SECTION.code
            ? meterFunctions(section.content, insertions)
            : [section.content];
    return [Uint8Array.of(section.id), ...sized(rewritten)];
  });
  return { bytes: new Uint8Array(Buffer.concat([module.subarray(0, 8), ...parts])), clock, counter: COUNTER };
}

function missing(what: string): never {
  throw new Error(`the WebAssembly module has no ${what}`);
}

/** The first imported function that takes nothing and gives an f64; and how many globals are imported. */
function readImports(types: Uint8Array, imports: Uint8Array) {
  const clockTypes = typesOfClock(types);
  const reader = new Reader(imports);
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
  return { clock: clock ?? missing("import of a clock"), globals };
}

function typesOfClock(types: Uint8Array): Set<number> {
  const reader = new Reader(types);
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

/** A mutable i32 that begins as 0. */
const VARIABLE = [TYPE.i32, 1, OP.i32Const, 0, OP.end];

function exportOf(counter: number): number[] {
  const name = new TextEncoder().encode(COUNTER);
  return [...integer(name.length), ...name, KIND.global, ...integer(counter)];
}

/** The length of a copy is on top of the stack: it is put aside in a global, and read back. */
function toInsertions(counter: number, length: number, clock: number): Insertions {
  const get = (index: number) => [OP.globalGet, ...integer(index)];
  const set = (index: number) => [OP.globalSet, ...integer(index)];
  const take = (cost: number[]) => [...get(counter), ...cost, OP.i32Sub, ...set(counter)];
  const has_run_out = [...get(counter), OP.i32Const, 0, OP.i32LessOrEqual];
  const look = [OP.if, TYPE.none, OP.call, ...integer(clock), OP.drop, OP.end];
  return {
    loop: Uint8Array.from([...take([OP.i32Const, 1]), ...has_run_out, ...look]),
    beforeBulk: Uint8Array.from([...set(length), ...get(length)]),
    afterBulk: Uint8Array.from(take([...get(length), OP.i32Const, BULK_SHIFT, OP.i32ShiftRight])),
  };
}

function meterFunctions(code: Uint8Array, insertions: Insertions): Uint8Array[] {
  const reader = new Reader(code);
  const count = reader.integer();
  const parts: Uint8Array[] = [Uint8Array.from(integer(count))];
  for (let left = count; left > 0; left--) {
    parts.push(...sized(meterFunction(reader.take(reader.integer()), insertions)));
  }
  return parts;
}

function meterFunction(body: Uint8Array, { loop, beforeBulk, afterBulk }: Insertions): Uint8Array[] {
  const reader = new Reader(body);
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
