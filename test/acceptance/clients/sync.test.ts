/** One folder used by `svc` and `wmill` in turn: each finds what the other wrote unchanged. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { createCliEnvironment } from "../../cli/program.ts";
import { expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { isOffline } from "./registry.ts";
import { installWmill, type Wmill } from "./wmill/wmill.ts";
import { filesOf, writeWorkspace } from "./workspace-files.ts";

const ALL = ["--yes", "--plain-secrets", "--include-schedules", "--include-triggers", "--include-groups"];
const OURS = ["--yes", "--secrets", "plain"];

describe.skipIf(isOffline)("a folder shared by svc and wmill", () => {
  const place = createCliEnvironment();
  let server: TestServer;
  let wmill: Wmill;
  let token: string;
  let folder: string;

  beforeAll(async () => {
    [server, wmill] = await Promise.all([startTestServer(), installWmill("1.819.0")]);
    const made = await server.workspace("acme");
    await server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] });
    token = made.token;
    folder = await wmill.folder("shared");
    await writeWorkspace(folder);
    await renameStep(join(folder, "f/data/twice.flow"));
    await wmill.ok(folder, ["workspace", "add", "acme", "acme", `${server.url}/`, "--token", token]);
    const post = (path: string, body: object) => expectOk(made.ask("POST", `/w/acme${path}`, body));
    await post("/folders/create", { name: "shop" });
    await post("/http_triggers/create", {
      path: "f/shop/orders",
      route_path: "orders/:id",
      http_method: "get",
      is_static_website: false,
      static_asset_config: { s3: "public/a.txt" },
    });
    await post("/groups/create", { name: "ops", summary: "Ops" });
    await post("/apps/create", { path: "f/shop/board", summary: "Board", value: APP, policy: {} });
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await wmill[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  const svc = async (...words: string[]) => {
    const common = ["--workspace", "acme", "--url", server.url, "--token", token];
    const ended = await place.svc([words[0]!, folder, ...words.slice(1), ...common]);
    if (ended.code !== 0) throw new Error(ended.out + ended.err);
    return ended.out;
  };
  const changes = async (direction: "push" | "pull") =>
    /: (\d+) changes? to apply/.exec(await wmill.ok(folder, ["sync", direction, ...ALL]))?.[1];
  const nobodyFindsAny = async () => {
    for (const direction of ["push", "pull"] as const) {
      expect(await svc(direction, ...OURS, "--delete")).toBe("nothing to change\n");
      expect(await changes(direction)).toBe("0");
    }
  };

  test("wmill finds no difference after svc pushes and pulls", async () => {
    await svc("push", ...OURS);
    await svc("pull", ...OURS);
    await nobodyFindsAny();
    expect(Object.keys(await filesOf(folder))).toEqual(
      expect.arrayContaining([
        "f/data/odd.script.lock",
        "f/data/twice.flow/a.inline_script.ts",
        "f/shop/board.app/answer.inline_script.ts",
        "f/shop/orders.http_trigger.yaml",
      ]),
    );
  }, 120_000);

  test("svc finds no difference in a folder pulled by wmill, and the other way round", async () => {
    const [own, theirs] = [join(place.folder, "own"), await wmill.folder("theirs")];
    await wmill.ok(theirs, ["sync", "pull", ...ALL]);
    folder = theirs;
    expect(await svc("push", ...OURS, "--delete")).toBe("nothing to change\n");
    expect(await svc("pull", ...OURS, "--delete")).toBe("nothing to change\n");
    folder = own;
    await svc("pull", ...OURS);
    // wmill generates an app's policy anew each time; svc keeps it in a file of its own.
    const { "f/shop/board.policy.yaml": policy, ...files } = await filesOf(own);
    expect(policy).toBe("execution_mode: viewer\n");
    expect(files).toEqual(await filesOf(theirs));
  }, 120_000);
});

/** Files of steps are named after the steps; svc keeps the names in an older folder, wmill does not. */
async function renameStep(flow: string): Promise<void> {
  const [before, now] = ["inline_script_0.inline_script.ts", "a.inline_script.ts"];
  renameSync(join(flow, before), join(flow, now));
  const file = Bun.file(join(flow, "flow.yaml"));
  await file.write((await file.text()).replace(before, now));
}

const APP = {
  grid: [
    {
      id: "a",
      data: {
        type: "displaycomponent",
        componentInput: {
          type: "runnable",
          fields: {},
          runnable: {
            type: "runnableByName",
            name: "answer",
            inlineScript: { content: "export const main = () => 42", language: "bun", schema: {} },
          },
        },
      },
    },
  ],
};
