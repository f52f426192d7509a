/** Scripts that import scripts: pinned at deploy, locked again when an imported script is deployed. */
import { describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { completeLock } from "../../../src/features/code/scripts/imports/locking.ts";
import { closeWorkspaceTemporarily, reopenWorkspace } from "../../../src/features/tenancy/workspaces/gate.ts";
import { jobs } from "../../../src/platform/queue/tables.ts";
import { until } from "../../support/harness.ts";
import { ask, awaitResult, deploy, run, type Status, server, setUpImports } from "./script-imports-setup.ts";

setUpImports();

describe("TypeScript", () => {
  const written: [name: string, specifier: string][] = [
    ["beside it", "./words"],
    ["with its extension", "./words.ts"],
    ["with its runtime", "./words.bun.ts"],
    ["as JavaScript", "./words.js"],
    ["through its folder", "../lib/words"],
    ["from the root", "/f/lib/words"],
    ["from the root, with its extension", "/f/lib/words.ts"],
  ];
  test.each(written)("imports a script %s", async (name, specifier) => {
    await deploy("f/lib/words", 'export const word = "please";');
    const path = `f/lib/ts_${name.replace(/\W/g, "_")}`;
    const status = await deploy(
      path,
      `import { word } from "${specifier}";\nexport const main = () => word;`,
    );
    expect(status.lock_error_logs).toBeUndefined();
    expect(await run(path)).toBe("please");
  });

  test("imports indirectly, and in cycles", async () => {
    await deploy("f/lib/even", "export const isEven = (n: number): boolean => n === 0;");
    await deploy(
      "f/lib/odd",
      'import { isEven } from "./even";\nexport const isOdd = (n: number) => n !== 0 && isEven(n - 1);',
    );
    const even =
      'import { isOdd } from "./odd";\nexport const isEven = (n: number): boolean => n === 0 || isOdd(n - 1);\nexport const main = (n: number) => isEven(n);';
    await deploy("f/lib/even", even);
    expect(await run("f/lib/even", { n: 10 })).toBe(true);
    await deploy("f/app/ask", 'import { isOdd } from "../lib/odd";\nexport const main = () => isOdd(7);');
    expect(await run("f/app/ask")).toBe(true);
  });

  test("shows frames of an imported script by its path", async () => {
    await deploy("f/lib/thrower", "export function fail() {\n  throw new Error('no');\n}");
    await deploy("f/app/thrown", 'import { fail } from "/f/lib/thrower";\nexport const main = () => fail();');
    const { error } = await run("f/app/thrown");
    expect(error.stack).toContain("f/lib/thrower.ts:2:");
    expect(error.stack).not.toContain(server.data_dir);
  });
});

describe("Python", () => {
  const written: [name: string, line: string, use: string][] = [
    ["from its module", "from f.lib.py_words import WORD", "WORD"],
    ["as a module", "import f.lib.py_words as w", "w.WORD"],
    ["from its folder", "from f.lib import py_words", "py_words.WORD"],
    ["beside it", "from .py_words import WORD", "WORD"],
    ["beside it, as a module", "from . import py_words", "py_words.WORD"],
    ["through its folder", "from ..lib.py_words import WORD", "WORD"],
  ];
  test.each(written)("imports a script %s", async (name, line, use) => {
    await deploy("f/lib/py_words", "WORD = 'please'\ndef main(): return 1", "python3");
    const path = `f/lib/py_${name.replace(/\W/g, "_")}`;
    const status = await deploy(path, `${line}\ndef main(): return ${use}`, "python3");
    expect(status.lock_error_logs).toBeUndefined();
    expect(await run(path)).toBe("please");
  });

  test("imports in cycles, of which the first was deployed before the other existed", async () => {
    const even =
      "import f.lib.py_odd as odd\ndef is_even(n): return n == 0 or odd.is_odd(n - 1)\ndef main(n: int): return is_even(n)";
    const { lock_error_logs } = await deploy("f/lib/py_even", even, "python3");
    expect(lock_error_logs).toContain("there is no script f/lib/py_odd");
    const odd = "import f.lib.py_even as even\ndef is_odd(n): return n != 0 and even.is_even(n - 1)";
    await deploy("f/lib/py_odd", odd, "python3");
    await until(
      async () => (await run("f/lib/py_even", { n: 10 })) === true || undefined,
      "both to be locked",
    );
  });

  test("shows frames of an imported script by its path", async () => {
    await deploy("f/lib/py_thrower", "def fail():\n    raise ValueError('no')", "python3");
    await deploy("f/app/py_thrown", "from f.lib.py_thrower import fail\ndef main(): fail()", "python3");
    const { error } = await run("f/app/py_thrown");
    expect(error.stack).toContain('File "f/lib/py_thrower.py", line 2');
    expect(error.stack).not.toContain(server.data_dir);
  });
});

describe("an import", () => {
  test("of a missing script fails the deployment, and is repaired when that is deployed", async () => {
    const status = await deploy(
      "f/app/early",
      'import { late } from "/f/lib/late";\nexport const main = () => late;',
    );
    expect(status.lock_error_logs).toContain(
      "f/app/early imports /f/lib/late: there is no script f/lib/late",
    );
    expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/f/app/early", {})).status).toBe(400);
    await deploy("f/lib/late", "export const late = 3;");
    await until(
      async () =>
        (await ask("POST", "/w/acme/jobs/run_wait_result/p/f/app/early", {})).text === "3" || undefined,
      "the importer to run",
    );
  });

  test("repairs importers whose packages could not be resolved, and those with another missing import", async () => {
    // A registry that answers every request with an error.
    using registry = Bun.serve({ port: 0, fetch: () => new Response("gone", { status: 404 }) });
    const set = (value: string | null) =>
      server.operator("POST", "/settings/global/npm_config_registry", { value });
    await set(`http://127.0.0.1:${registry.port}/`);
    try {
      const wants = 'import "nowhere-to-be-found";\nexport const shape = "old";';
      await deploy("f/lib/shape", wants);
      const unresolved = await deploy(
        "f/app/packages",
        'import { shape } from "/f/lib/shape";\nexport const main = () => shape;',
      );
      expect(unresolved.lock_error_logs).toContain("nowhere-to-be-found");
      await deploy("f/lib/link", 'import "/f/lib/nobody";\nexport const word = "old";');
      const missing = await deploy(
        "f/app/linked",
        'import { word } from "/f/lib/link";\nexport const main = () => word;',
      );
      expect(missing.lock_error_logs).toContain("there is no script f/lib/nobody");
      await deploy("f/lib/shape", 'export const shape = "round";');
      await deploy("f/lib/link", 'export const word = "alone";');
      await awaitResult("f/app/packages", "round");
      await awaitResult("f/app/linked", "alone");
    } finally {
      await set(null);
    }
  });

  test("must be readable by the deployer", async () => {
    const { ask: outsider } = await server.member("acme", "olga");
    const { ask: author } = await server.member("acme", "ines");
    await ask("POST", "/w/acme/folders/create", { name: "closed", extra_perms: {} });
    await deploy("f/closed/secret", "export const secret = 1;");
    const body = {
      path: "u/olga/spy",
      language: "bun",
      content: 'import { secret } from "/f/closed/secret";\nexport const main = () => secret;',
    };
    const { text: hash } = await outsider("POST", "/w/acme/scripts/create", body);
    const status = await until(async () => {
      const found = (await outsider("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json<Status>();
      return found.lock_error_logs ?? found.lock;
    }, "the deployment");
    expect(status).toContain("there is no script f/closed/secret that its deployer may read");
    const preview = await author("POST", "/w/acme/jobs/run_wait_result/preview", {
      ...body,
      path: "u/ines/spy",
      args: {},
    });
    expect(preview.json().error.message).toContain("f/closed/secret");
  });

  test("is pinned: its importers run with the old version until they are locked again, with the reason", async () => {
    await deploy("f/lib/price", "export const price = 1;");
    await deploy(
      "f/lib/total",
      'import { price } from "./price";\nexport const total = (n: number) => n * price;',
    );
    await deploy("f/app/bill", 'import { total } from "/f/lib/total";\nexport const main = () => total(5);');
    expect(await run("f/app/bill")).toBe(5);
    const first = (await ask("GET", "/w/acme/scripts/get/p/f/app/bill")).json();
    await deploy("f/lib/price", "export const price = 2;");
    await awaitResult("f/app/bill", 10);
    const now = (await ask("GET", "/w/acme/scripts/get/p/f/app/bill")).json();
    expect(now.parent_hashes).toEqual([first.hash]);
    expect(now.content).toBe(first.content);
    const history = (await ask("GET", "/w/acme/scripts/history/p/f/app/bill")).json();
    expect(history[0]).toEqual({
      script_hash: now.hash,
      deployment_msg: "locked again: f/lib/price was deployed",
      created_at: now.created_at,
    });
    const pinned = await ask("POST", `/w/acme/jobs/run_wait_result/h/${first.hash}`, {});
    expect(pinned.json()).toBe(5);
    // Deploying over the version that the client knows does not report a conflict.
    await deploy(
      "f/app/bill",
      'import { total } from "/f/lib/total";\nexport const main = () => total(6);',
      "bun",
      {
        parent_hash: first.hash,
      },
    );
    expect(await run("f/app/bill")).toBe(12);
  });

  describe("in a workspace that is being closed", () => {
    const lockJobs = (path: string) =>
      server.server.app.db.read
        .select()
        .from(jobs)
        .where(and(eq(jobs.workspace_id, "acme"), eq(jobs.script_path, path)));

    async function whileClosed(work: () => Promise<void>) {
      closeWorkspaceTemporarily(server.server.app, "acme", "is archived");
      try {
        await work();
      } finally {
        reopenWorkspace(server.server.app, "acme");
      }
    }

    test("is not deployed, and its importers are not locked again", async () => {
      await deploy("f/lib/shut", "export const n = 1;");
      await deploy("f/app/uses_shut", 'import { n } from "/f/lib/shut";\nexport const main = () => n;');
      const before = await lockJobs("f/app/uses_shut");
      const { hash: parent_hash } = (await ask("GET", "/w/acme/scripts/get/p/f/lib/shut")).json();
      await whileClosed(async () => {
        const body = { path: "f/lib/shut", content: "export const n = 2;", language: "bun", parent_hash };
        const answer = await ask("POST", "/w/acme/scripts/create", body);
        expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("is archived")]);
      });
      expect(await lockJobs("f/app/uses_shut")).toEqual(before);
      expect((await ask("GET", "/w/acme/scripts/get/p/f/lib/shut")).json().hash).toBe(parent_hash);
    });

    test("keeps the lock that a job has resolved, and queues nothing", async () => {
      await deploy("f/lib/late", "export const n = 1;");
      await deploy("f/app/uses_late", 'import { n } from "/f/lib/late";\nexport const main = () => n;');
      await deploy("f/lib/late", 'import "./absent";\nexport const n = 2;');
      const [job] = await lockJobs("f/lib/late");
      const before = await lockJobs("f/app/uses_late");
      await whileClosed(() =>
        server.server.app.db.write((tx) =>
          completeLock(server.server.app, tx, job!, { lock: "", imports: [] }),
        ),
      );
      expect(await lockJobs("f/app/uses_late")).toEqual(before);
      const { lock, lock_error_logs } = (await ask("GET", "/w/acme/scripts/get/p/f/lib/late")).json();
      expect([lock, lock_error_logs]).toEqual(["", null]);
    });
  });

  test("is listed in the dependency map", async () => {
    await deploy("f/lib/base", "export const base = 1;");
    await deploy("f/app/on_base", 'import { base } from "/f/lib/base";\nexport const main = () => base;');
    const map = (await ask("GET", "/w/acme/workspaces/get_dependency_map")).json();
    expect(map).toContainEqual({
      workspace_id: "acme",
      importer_path: "f/app/on_base",
      importer_kind: "script",
      imported_path: "f/lib/base",
      importer_node_id: null,
    });
    const dependents = (await ask("GET", "/w/acme/workspaces/get_dependents/f/lib/base")).json();
    expect(dependents).toEqual([
      { importer_path: "f/app/on_base", importer_kind: "script", importer_node_ids: null },
    ]);
  });
});

describe("undeployed code", () => {
  test("a preview imports relative to its path, and without one to the root", async () => {
    await deploy("f/lib/shared", "export const shared = 'yes';");
    const preview = (content: string, path?: string) =>
      ask("POST", "/w/acme/jobs/run_wait_result/preview", { content, path, language: "bun", args: {} });
    const near = 'import { shared } from "./shared";\nexport const main = () => shared;';
    expect((await preview(near, "f/lib/try")).json()).toBe("yes");
    expect((await preview(near.replace("./", "/f/lib/"))).json()).toBe("yes");
  });

  test("an inline step of a flow imports, is pinned, and is locked again", async () => {
    await deploy("f/lib/rate", "RATE = 2\ndef main(): return 1", "python3");
    const content = "from f.lib.rate import RATE\ndef main(n): return n * RATE";
    const transforms = { n: { type: "javascript", expr: "flow_input.n" } };
    const value = {
      modules: [
        { id: "a", value: { type: "rawscript", language: "python3", content, input_transforms: transforms } },
      ],
    };
    const preview = await ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", {
      value,
      path: "f/app/flow",
      args: { n: 3 },
    });
    expect(preview.json()).toBe(6);
    await ask("POST", "/w/acme/flows/create", { path: "f/app/flow", summary: "", value, schema: {} });
    const runFlow = async () =>
      (await ask("POST", "/w/acme/jobs/run_wait_result/f/f/app/flow", { n: 3 })).text;
    await until(async () => ((await runFlow()) === "6" ? true : undefined), "the flow");
    await deploy("f/lib/rate", "RATE = 5\ndef main(): return 1", "python3");
    await until(async () => ((await runFlow()) === "15" ? true : undefined), "the flow to be locked again");
    const history = (await ask("GET", "/w/acme/flows/history/p/f/app/flow")).json();
    expect(history[0].deployment_msg).toBe("locked again: f/lib/rate was deployed");
  });
});
