/** Steps that share a folder stay on the server that has it, however long they wait for a slot there. */
import { expect, test } from "bun:test";
import { createDatabase, expectOk, startTestServer } from "../../../support/harness.ts";

const step = (id: string, content: string) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {} },
});

test.skipIf(!process.env.DATABASE_URL)(
  "steps of one worker's flow are not given to another server",
  async () => {
    const database = await createDatabase(process.env.DATABASE_URL!, "migrated");
    const both = { database_url: database.url, secret_key: "0123456789abcdef0123456789abcdef" };
    const here = await startTestServer({ ...both, workers: 1 });
    const there = await startTestServer(both);
    const { ask } = await here.workspace();
    const writes = `import { writeFileSync } from "node:fs";
      export const main = () => writeFileSync("./shared/file", "kept");`;
    const reads = `import { readFileSync } from "node:fs";
      export const main = () => Bun.sleep(1_000).then(() => readFileSync("./shared/file", "utf8"));`;
    const value = {
      same_worker: true,
      modules: [
        step("w", writes),
        {
          id: "l",
          value: {
            type: "forloopflow",
            iterator: { type: "javascript", expr: "[1, 2, 3, 4]" },
            skip_failures: false,
            parallel: true,
            modules: [step("r", reads)],
          },
        },
      ],
    };
    const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value, args: {} }))).text;
    const end = () => ask("GET", `/w/acme/jobs_u/completed/get/${flow}`);
    while ((await end()).status !== 200) await Bun.sleep(50);
    expect((await end()).json().result).toEqual(Array(4).fill("kept"));
    await there.stop();
    await here.stop();
    await database.drop();
  },
  60_000,
);
