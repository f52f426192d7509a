/** The counter that is inserted into WebAssembly, tested on small modules written by hand. */
import { expect, test } from "bun:test";
import { addMetering } from "../../../src/engines/expressions/sandbox/meter.ts";

const section = (id: number, ...content: number[]) => [id, content.length, ...content];
const ascii = (text: string) => [text.length, ...new TextEncoder().encode(text)];

/**
 * A module that imports `host.clock`, has a memory, and exports `run`: a function without parameters and with
 * this code.
 */
const moduleOf = (...code: number[]) =>
  Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 2, 0x60, 0, 1, 0x7c, 0x60, 0, 0),
    ...section(2, 1, ...ascii("host"), ...ascii("clock"), 0, 0),
    ...section(3, 1, 1),
    ...section(5, 1, 0, 1),
    ...section(6, 1, 0x7f, 0, 0x41, 0, 0x0b),
    ...section(7, 1, ...ascii("run"), 0, 1),
    ...section(10, 1, code.length + 2, 0, ...code, 0x0b),
  ]);

const ENDLESS = [0x03, 0x40, 0x0c, 0, 0x0b];
/** for (;;) memory.copy(0, 0, 4096) */
const COPYING = [0x03, 0x40, 0x41, 0, 0x41, 0, 0x41, 0x80, 0x20, 0xfc, 0x0a, 0, 0, 0x0c, 0, 0x0b];

/** Runs it until the clock was called three times. @returns the total subtracted from the counter */
async function run(code: number[]): Promise<number> {
  const { bytes, clock, counter } = addMetering(moduleOf(...code));
  expect(clock).toMatchObject({ module: "host", name: "clock" });
  let looks = 0;
  let taken = 0;
  const look = () => {
    taken += 1000 - fuel.value;
    if (++looks === 3) throw new Error("enough");
    fuel.value = 1000;
    return 0;
  };
  const { instance } = await WebAssembly.instantiate(bytes, { host: { clock: look } });
  const fuel = instance.exports[counter] as WebAssembly.Global<"i32">;
  fuel.value = 1000;
  expect(instance.exports.run as () => void).toThrow("enough");
  return taken;
}

test("an endless loop checks the clock each time that the counter has run out", async () => {
  expect(await run(ENDLESS)).toBe(3000);
});

test("a bulk copy is charged by its length", async () => {
  // Four rounds exceed 1000; the loop was entered once before anything was copied.
  expect(await run(COPYING)).toBe(1 + 3 * 4 * (1 + 4096 / 16));
});

test("unknown instructions are rejected, not passed over", () => {
  expect(() => addMetering(moduleOf(0xfd, 0x0c))).toThrow(
    "the WebAssembly instruction 0xfd is not known here",
  );
  expect(() => addMetering(moduleOf(0x06, 0x40, 0x0b))).toThrow("0x6 is not known here");
});

test("a module without a clock import cannot be metered", () => {
  const without_clock = moduleOf(...ENDLESS);
  without_clock[without_clock.indexOf(0x7c)] = 0x7f;
  expect(() => addMetering(without_clock)).toThrow("the WebAssembly module has no import of a clock");
});
