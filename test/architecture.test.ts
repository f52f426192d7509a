import { expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { features, operations } from "../src/features/index.ts";
import { parameterNames, scopeOf } from "../src/http/operation.ts";

const root = join(import.meta.dir, "..");

/** The floors, lowest first: a file imports values from its own floor or from one below. */
const FLOORS = [
  ["lib", "errors", "config", "outgoing", "loops"],
  ["database"],
  ["flow-engine", "languages", "expressions"],
  ["queue", "runner", "events"],
  ["http"],
  ["features"],
  ["worker"],
  ["app"],
  ["server"],
];

function floorOf(file: string): number {
  const part = file.replace(/^src\//, "").split(/[/.]/)[0]!;
  return FLOORS.findIndex((floor) => floor.includes(part));
}

test("values are imported from the same floor or from one below", async () => {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const uphill: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    if (file.endsWith(".d.ts")) continue;
    for (const { path } of transpiler.scanImports(await Bun.file(join(root, file)).text())) {
      if (!path.startsWith(".")) continue;
      const target = relative(root, join(root, dirname(file), path));
      if (target.startsWith("src/") && floorOf(target) > floorOf(file)) uphill.push(`${file} -> ${target}`);
    }
  }
  expect(uphill).toEqual([]);
});

test("every part of src has a floor", async () => {
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    if (file === "src/context.ts" || file === "src/embed.d.ts") continue;
    expect([file, floorOf(file) >= 0]).toEqual([file, true]);
  }
});

test("no file imports itself in a circle by value", async () => {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  const graph = new Map<string, string[]>();
  for await (const file of new Bun.Glob("{src,cli}/**/*.ts").scan({ cwd: root })) {
    if (file.endsWith(".d.ts")) continue;
    const imports = transpiler
      .scanImports(await Bun.file(join(root, file)).text())
      .filter(({ path, kind }) => path.startsWith(".") && kind === "import-statement")
      .map(({ path }) => relative(root, join(root, dirname(file), path)));
    graph.set(file, imports);
  }
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) circles.push([...path.slice(at), file].join(" -> "));
    if (at >= 0 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  expect(circles).toEqual([]);
});

/** What ticks while one job, one caller or one connection is there; the runner knows no app. */
const TICKERS = [
  "src/features/jobs/job-feed.ts",
  "src/features/jobs/wait.ts",
  "src/outgoing/websocket.ts",
  "src/runner/runner.ts",
  "src/worker/job-output.ts",
];

test("what a server does now and then is a periodic task, and nothing else sets an interval", async () => {
  const others: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    if (file.startsWith("src/runner/child/") || TICKERS.includes(file)) continue;
    if ((await Bun.file(join(root, file)).text()).includes("setInterval(")) others.push(file);
  }
  expect(others).toEqual([]);
});

test("operations are named once, live in one place, and say who may call them", async () => {
  const names = operations.map((op) => op.name);
  expect(new Set(names).size).toBe(names.length);
  const routes = operations.map((op) => `${op.method} ${op.path}`);
  expect(new Set(routes).size).toBe(routes.length);
  for (const { file, operations: list } of features) {
    expect(await Bun.file(join(root, file)).exists()).toBe(true);
    for (const op of list) {
      expect(["anyone", "user", "member", "author", "admin", "devops", "superAdmin"]).toContain(op.access);
      expect(scopeOf(op)).toBeDefined();
    }
  }
});

test("an operation of a workspace is never open to whom it should not be", () => {
  const open = operations.filter(
    (op) => op.access === "anyone" && parameterNames(op.path).includes("workspace"),
  );
  expect(open.every((op) => /\/(jobs?|apps|scripts)_u\/|\/s3_proxy\/|^\/approve\//.test(op.path))).toBe(true);
});

test("the server connects to others through `outgoing/` alone, which asks where to", async () => {
  const ways =
    /\bfetch\(|new WebSocket\(|S3Client|new (Bun\.)?SQL\(|\b(Bun|net|tls)\.connect\(|\bhttps?\.(get|request)\(/;
  // Children are kept in by the sandbox; a channel is a socket that is open already; PostgreSQL is the operator's word.
  const others = /^src\/(outgoing|runner\/child|runner\/channel\.ts|server\.ts|http\/server\.ts|database)/;
  const found: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    const code = (await Bun.file(join(root, file)).text()).replace(/`[^`]*`|\/\*.*?\*\/|\/\/[^\n]*/gs, "");
    if (!others.test(file) && ways.test(code)) found.push(file);
  }
  expect(found).toEqual([]);
});

/** Who reads JSON that svc itself or somebody it trusts has written, and no data of jobs. */
const OWN_JSON = [
  "src/database/backup/format.ts",
  "src/database/moved.ts",
  "src/events/relay.ts",
  "src/features/alerts/channels.ts",
  "src/features/alerts/failed-migration.ts",
  "src/features/license/key.ts",
  "src/features/oauth/attempts.ts",
  "src/features/storage/filesystem-wishes.ts",
  "src/features/tokens/job-tokens.ts",
  "src/features/webhooks/outbox.ts",
  "src/languages/python/analyse.ts",
  "src/languages/typescript/lock-text.ts",
  "src/lib/directory-lock.ts",
  "src/lib/log-pretty.ts",
  // The line to a child, whose depth is looked at before; its program, which is a script's own process.
  "src/runner/channel.ts",
  "src/runner/child/error.ts",
  "src/runner/child/program.ts",
  "src/runner/packages/pip-client.ts",
  "src/runner/sandbox/launcher.ts",
];

test("JSON of people and of jobs is read by lib/json.ts alone, which keeps digits and looks at the depth", async () => {
  const bare: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    if (file.startsWith("src/lib/json")) continue;
    const text = await Bun.file(join(root, file)).text();
    if (/\bJSON\.parse\b|\bstructuredClone\b/.test(text)) bare.push(file);
  }
  expect(bare.sort()).toEqual([...OWN_JSON].sort());
});
