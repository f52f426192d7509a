/** Workspaces take turns when scripts are read that take long. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let crowd: Ask;
let lone: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: crowd } = await server.workspace("crowd"));
  ({ ask: lone } = await server.workspace("lone"));
});
afterAll(() => server.stop());

/** Scripts that are not read on the serving thread: this length takes a thread of its own, and Bash reads its own. */
const SOURCES = {
  bun: (n: number) => `export const main = (a${n}: number) => a${n};\n// ${"long ".repeat(8_000)}`,
  bash: (n: number) => `a${n}="$1"\n`,
};
type Written = keyof typeof SOURCES;

const analyse = (ask: Ask, language: Written, n: number) =>
  ask("POST", `/w/${ask === crowd ? "crowd" : "lone"}/scripts/analyse`, {
    language,
    content: SOURCES[language](n),
  });

test.each([
  ["bun", 15, 5],
  ["bash", 90, 30],
] as const)(
  "a single %s script does not wait for the %d that another workspace sent before",
  async (language, sent, most) => {
    let read = 0;
    const first = Promise.withResolvers<void>();
    const many = Array.from({ length: sent }, async (_, n) => {
      const { status } = await analyse(crowd, language, n);
      read++;
      first.resolve();
      return status;
    });
    await first.promise;
    const before = read;
    expect((await analyse(lone, language, 1)).json()).toMatchObject({ schema: { order: ["a1"] } });
    // Those that are being read when it arrives, and those whose answers are on their way.
    expect(read - before).toBeLessThan(most);
    expect(await Promise.all(many)).toEqual(many.map(() => 200));
  },
  60_000,
);

test("too many that wait are refused, and none of another workspace", async () => {
  const many = Array.from({ length: 200 }, (_, n) => analyse(crowd, "bash", 1_000 + n));
  await Promise.race(many);
  const single = await analyse(lone, "bash", 1_000);
  const answers = await Promise.all(many);
  expect(single.status).toBe(200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(100);
  for (const { status, text, headers } of refused) {
    expect([status, headers.get("retry-after")]).toEqual([429, "1"]);
    expect(text).toContain("100 scripts of workspace crowd are waiting to be read already");
  }
}, 60_000);
