/**
 * Instances of QuickJS: WebAssembly with a memory of its own, loaded when the first expression needs one (about 60 ms;
 * further instances about 2 ms). An instance serves one evaluation at a time.
 */
import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";
import { type MeteredModule, meter } from "./meter.ts";

export interface Instance {
  readonly quickjs: QuickJSWASMModule;
  readonly memory_mb: number;
  /** As performance.now() counts: what still runs inside then is ended by an Overrun. */
  deadline: number;
  /** The deadline has ended something. */
  overrun: boolean;
  /** What was last asked for went beyond `memory_mb` and was not given. */
  refused: boolean;
  /** It has more memory than it began with, which it never gives back. */
  grown: boolean;
}

/** Thrown out of the instance, which is not usable afterwards. */
export class Overrun extends Error {}

type Imports = Bun.WebAssembly.Imports;

interface Program extends MeteredModule {
  module: WebAssembly.Module;
}

const PAGES_PER_MB = 16;
/** What the module asks for; also its stack is in there. */
const FIRST_PAGES = 256;
/** Rounds of loops between two looks at the clock: at most some milliseconds. */
const ROUNDS = 100_000;
const KEPT = 4;

const idle: Instance[] = [];
let program: Promise<Program> | undefined;

/** @param memory_mb at least 16, of which the interpreter itself needs about 2 */
export async function takeInstance(memory_mb: number): Promise<Instance> {
  const at = idle.findIndex((instance) => instance.memory_mb === memory_mb);
  if (at >= 0) return idle.splice(at, 1)[0]!;
  program ??= loadProgram();
  return createInstance(await program, memory_mb);
}

/** For an instance in which everything was disposed of; one that threw an error out of itself is never given back. */
export function giveBack(instance: Instance): void {
  if (!instance.grown && !instance.refused && idle.length < KEPT) idle.push(instance);
}

async function loadProgram(): Promise<Program> {
  const metered = meter(await embeddedModule());
  return { ...metered, module: await WebAssembly.compile(metered.bytes) };
}

/**
 * The part carries its WebAssembly as text inside a script, so that it is found in the executable too, and gives it to
 * nothing but WebAssembly.instantiate: there it is picked up, known by the memory that comes with it.
 */
async function embeddedModule(): Promise<Uint8Array> {
  const { instantiate } = WebAssembly;
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: FIRST_PAGES });
  try {
    return await new Promise<Uint8Array>((resolve, reject) => {
      const pickUp = (source: Uint8Array, imports: Imports) => {
        if (!Object.values(imports).some((names) => Object.values(names).includes(memory)))
          return instantiate(source, imports);
        resolve(source);
        return new Promise(() => {});
      };
      Object.assign(WebAssembly, { instantiate: pickUp });
      newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: memory })).catch(reject);
    });
  } finally {
    Object.assign(WebAssembly, { instantiate });
  }
}

async function createInstance(from: Program, memory_mb: number): Promise<Instance> {
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: memory_mb * PAGES_PER_MB });
  const state = { deadline: Number.POSITIVE_INFINITY, overrun: false, refused: false, grown: false };
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    state.grown = true;
    state.refused = true;
    const before = grow(pages);
    state.refused = false;
    return before;
  };
  const options = {
    wasmMemory: memory,
    printErr: () => {},
    async instantiateWasm(imports: Imports, done: (instance: WebAssembly.Instance) => void) {
      const { module, name } = from.clock;
      const clock = imports[module]![name] as () => number;
      imports[module]![name] = () => {
        if (performance.now() > state.deadline) {
          state.overrun = true;
          throw new Overrun();
        }
        fuel.value = ROUNDS;
        return clock();
      };
      const instance = await WebAssembly.instantiate(from.module, imports);
      const fuel = instance.exports[from.counter] as WebAssembly.Global;
      done(instance);
      return instance.exports;
    },
  };
  const metered = newVariant(variant, { emscriptenModule: options });
  return Object.assign(state, { quickjs: await newQuickJSWASMModuleFromVariant(metered), memory_mb });
}
