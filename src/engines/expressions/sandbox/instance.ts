/**
 * QuickJS instances: WebAssembly with its own memory. The first is loaded on demand (about 60 ms; further ones about 2
 * ms). An instance runs one evaluation at a time.
 */
import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";
import { addMetering, type MeteredModule } from "./meter.ts";

export interface QuickJsInstance {
  readonly quickjs: QuickJSWASMModule;
  readonly memory_mb: number;
  /** In `performance.now()` time; code still running then is aborted by TimeLimitExceeded. */
  deadline: number;
  /** The deadline aborted an evaluation. */
  exceededTime: boolean;
  /** The last allocation exceeded `memory_mb` and was refused. */
  memoryRefused: boolean;
  /** Its memory has grown, which cannot be undone. */
  hasGrown: boolean;
}

/** Thrown out of an instance, which is unusable afterwards. */
export class TimeLimitExceeded extends Error {}

type Imports = Bun.WebAssembly.Imports;

interface MeteredProgram extends MeteredModule {
  module: WebAssembly.Module;
}

const PAGES_PER_MB = 16;
/** Initial memory required by the module, including its stack. */
const INITIAL_PAGES = 256;
/** Loop iterations between clock checks; some milliseconds at most. */
const ROUNDS_PER_CLOCK_CHECK = 100_000;
const MAX_IDLE_INSTANCES = 4;

const idle: QuickJsInstance[] = [];
let program: Promise<MeteredProgram> | undefined;

/** Takes an idle interpreter, or creates one. @param memory_mb at least 16; the interpreter itself needs about 2 */
export async function acquireInstance(memory_mb: number): Promise<QuickJsInstance> {
  const at = idle.findIndex((instance) => instance.memory_mb === memory_mb);
  if (at >= 0) return idle.splice(at, 1)[0]!;
  program ??= loadProgram();
  return createInstance(await program, memory_mb);
}

/**
 * Returns an instance to the pool after everything in it was disposed of. An instance that an error was thrown out of
 * must not be returned.
 */
export function releaseInstance(instance: QuickJsInstance): void {
  if (!instance.hasGrown && !instance.memoryRefused && idle.length < MAX_IDLE_INSTANCES) idle.push(instance);
}

async function loadProgram(): Promise<MeteredProgram> {
  const metered = addMetering(await embeddedModule());
  return { ...metered, module: await WebAssembly.compile(metered.bytes) };
}

/**
 * Extracts the WebAssembly embedded in the package. It is passed only to WebAssembly.instantiate, which is intercepted
 * here; our memory among the imports identifies the call.
 */
async function embeddedModule(): Promise<Uint8Array> {
  const { instantiate } = WebAssembly;
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: INITIAL_PAGES });
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

async function createInstance(from: MeteredProgram, memory_mb: number): Promise<QuickJsInstance> {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: memory_mb * PAGES_PER_MB });
  const state = {
    deadline: Number.POSITIVE_INFINITY,
    exceededTime: false,
    memoryRefused: false,
    hasGrown: false,
  };
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    state.hasGrown = true;
    state.memoryRefused = true;
    const before = grow(pages);
    state.memoryRefused = false;
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
          state.exceededTime = true;
          throw new TimeLimitExceeded();
        }
        fuel.value = ROUNDS_PER_CLOCK_CHECK;
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
