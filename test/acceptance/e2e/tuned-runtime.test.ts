/** A server starts its executable again, with settings of the runtime in the environment. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createInstallation, type Installation } from "./executable.ts";

const SETTINGS = /^(BUN_JSC_|MIMALLOC_|SVC_TUNED)/;

let place: Installation;

beforeAll(() => {
  place = createInstallation();
});
afterAll(() => place.remove());

test.skipIf(process.platform !== "linux")(
  "it is the same process and command line, and keeps values of its user",
  async () => {
    const { process: started, pid } = await place.serve({
      env: { MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "700" },
    });
    expect(pid).toBe(started.pid);
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0");
    const settings = read("environ").filter((line) => SETTINGS.test(line));
    expect(settings.sort()).toEqual([
      "BUN_JSC_largeHeapSize=10000000",
      "BUN_JSC_useWarmUpMarkedBlocks=0",
      "MIMALLOC_PURGE_HOLES_MIN_INTERVAL=700",
      "SVC_TUNED=1",
    ]);
    expect(read("cmdline").slice(0, 2)).toEqual([`${place.folder}/svc`, "serve"]);
    expect(read("comm")).toEqual(["svc\n"]);
  },
  60_000,
);

test("scripts do not inherit the settings", async () => {
  await Bun.write(
    `${place.folder}/names.ts`,
    'export const main = async () => [Object.keys(process.env), await new Response(Bun.spawn(["env"]).stdout).text()].flat();',
  );
  const { code, out, err } = await place.svc(["run", "names.ts"]);
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  const names = (JSON.parse(out) as string[]).flatMap((text) => text.split("\n"));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => SETTINGS.test(name))).toEqual([]);
}, 60_000);
