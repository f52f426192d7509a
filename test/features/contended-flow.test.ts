/** Several servers end steps of one run at the same time: all that succeeded has, and nothing is given up. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDatabase, deploy, expectOk, startTestServer, type TestServer } from "../harness.ts";

const postgres = process.env.DATABASE_URL;
const WIDTH = 700;

describe.skipIf(!postgres)("a wide loop on several servers", () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const servers: TestServer[] = [];

  beforeAll(async () => {
    database = await createDatabase(postgres!);
    const common = {
      database_url: database.url,
      secret_key: "0123456789abcdef0123456789abcdef",
      workers: 8,
    };
    for (let count = 0; count < 3; count++) servers.push(await startTestServer(common));
  }, 60_000);
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await database.drop();
  }, 60_000);

  test("none of its steps is a failure because others were first", async () => {
    const { ask } = await servers[0]!.workspace();
    await deploy(ask, "acme", "u/admin/one", "export const main = () => 1");
    const step = { id: "s", value: { type: "script", path: "u/admin/one", input_transforms: {} } };
    const value = {
      modules: [
        {
          id: "l",
          value: {
            type: "forloopflow",
            iterator: { type: "javascript", expr: `[...Array(${WIDTH}).keys()]` },
            skip_failures: false,
            parallel: true,
            modules: [step],
          },
        },
      ],
    };
    const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value, args: {} }))).text;
    const end = () => ask("GET", `/w/acme/jobs_u/completed/get/${flow}`);
    while ((await end()).status !== 200) await Bun.sleep(200);
    expect((await end()).json().result).toEqual(Array(WIDTH).fill(1));
  }, 180_000);
});
