import { expect, test } from "bun:test";
import { dirname, join, relative } from "node:path";
import { getRequiredScope } from "../../src/platform/http/operation.ts";
import { listParameterNames } from "../../src/platform/http/path-parameters.ts";
import { operations, operationsByFile } from "../../src/server/features.ts";

const root = join(import.meta.dir, "../..");

/** Floors of `src`, lowest first: a file imports from its own floor or from one below. */
const FLOORS = ["console", "lib", "database", "engines", "platform", "features", "server"];
/** The code that runs in browsers. It knows only the HTTP interface of the server. */
const CLIENT = "src/console/";
/** Groups of features, lowest first, in the same way. */
const GROUPS = [
  "tenancy",
  "signals",
  "assets",
  "code",
  "accounts",
  "runs",
  "lifecycle",
  "triggers",
  "instance",
];
/** Limits of folders and files, code or not. */
const MAX_FOLDERS = 9;
const MAX_FILES = 15;
const MAX_LINES = 300;
/** Folders that grow by one file per migration or test case. */
const GROWING = /^(src\/database\/migrations|test\/engines\/flow-engine\/cases)\//;

interface Import {
  from: string;
  to: string;
}

async function sourceFiles(pattern = "{src,cli}/**/*.{ts,tsx}"): Promise<string[]> {
  const files = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: root }));
  return files.filter((file) => !file.endsWith(".d.ts")).sort();
}

/** The folders that contain a file, at any level. */
const listParents = (file: string): string[] =>
  file.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/"));

/** Every import of the project's own files, of types as well. */
async function importsOf(files: string[]): Promise<Import[]> {
  const found: Import[] = [];
  for (const from of files) {
    const text = await Bun.file(join(root, from)).text();
    for (const [, path] of text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*"(\.[^"]+)"/gm)) {
      found.push({ from, to: relative(root, join(root, dirname(from), path!)) });
    }
  }
  return found;
}

/** For every folder, the graph of its entries: two are connected if files in them import each other. */
function graphsOf(imports: Import[]): Map<string, Map<string, Map<string, Import[]>>> {
  const graphs = new Map<string, Map<string, Map<string, Import[]>>>();
  for (const each of imports) {
    const [from, to] = [each.from.split("/"), each.to.split("/")];
    let depth = 0;
    while (from[depth] === to[depth] && depth < from.length) depth++;
    const [here, there] = [from[depth], to[depth]];
    if (here === undefined || there === undefined) continue;
    const folder = from.slice(0, depth).join("/");
    const graph = graphs.get(folder) ?? new Map<string, Map<string, Import[]>>();
    const edges = graph.get(here) ?? new Map<string, Import[]>();
    edges.set(there, [...(edges.get(there) ?? []), each]);
    graphs.set(folder, graph.set(here, edges));
  }
  return graphs;
}

/** The strongly connected groups of entries (Tarjan 1972). */
function circlesOf(graph: Map<string, Map<string, unknown>>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (entry: string): void => {
    index.set(entry, index.size);
    low.set(entry, index.get(entry)!);
    stack.push(entry);
    for (const next of graph.get(entry)?.keys() ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(entry, Math.min(low.get(entry)!, low.get(next)!));
    }
    if (low.get(entry) !== index.get(entry)) return;
    const circle = stack.splice(stack.indexOf(entry));
    if (circle.length > 1) circles.push(circle);
  };
  for (const entry of graph.keys()) if (!index.has(entry)) visit(entry);
  return circles;
}

test("neither folders nor files import each other in a cycle, not even types", async () => {
  const found: string[] = [];
  for (const [folder, graph] of graphsOf(await importsOf(await sourceFiles()))) {
    for (const circle of circlesOf(graph)) {
      found.push(`${folder}: ${circle.join(", ")}`);
      for (const here of circle) {
        for (const there of circle) {
          const imports = graph.get(here)?.get(there) ?? [];
          // The direction with few imports is the one to remove.
          if (imports.length > 5) continue;
          for (const { from, to } of imports) found.push(`${folder}: ${from} -> ${to}`);
        }
      }
    }
  }
  expect(found).toEqual([]);
});

test("floors and groups of features import only lower ones", async () => {
  const uphill = (order: string[], base: string) => (each: Import) => {
    const height = (file: string) =>
      file.startsWith(base) ? order.indexOf(file.slice(base.length).split("/")[0]!) : -1;
    return height(each.from) >= 0 && height(each.to) > height(each.from);
  };
  const imports = await importsOf(await sourceFiles("src/**/*.{ts,tsx}"));
  const found = [
    ...imports.filter(uphill(FLOORS, "src/")),
    ...imports.filter(uphill(GROUPS, "src/features/")),
  ];
  expect(found.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test("code that spans all features reads their declarations and imports none of them", async () => {
  const files = await sourceFiles("src/features/lifecycle/**/*.ts");
  const imports = await importsOf(
    files.filter((file) => !file.startsWith("src/features/lifecycle/settings/")),
  );
  const found = imports.filter(
    ({ to }) =>
      to.startsWith("src/features/") && !/^src\/features\/(lifecycle|tenancy|signals\/audit)\//.test(to),
  );
  expect(found.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test("the console imports nothing of the server, and the server nothing of the console", async () => {
  const imports = await importsOf(await sourceFiles("src/**/*.{ts,tsx}"));
  const across = imports.filter(({ from, to }) => from.startsWith(CLIENT) !== to.startsWith(CLIENT));
  expect(across).toEqual([]);
});

test("every folder of src belongs to a floor, and every feature to a group", async () => {
  for (const file of await sourceFiles("src/**/*.{ts,tsx}")) {
    const [, floor, group] = file.split("/");
    expect([file, FLOORS.includes(floor!)]).toEqual([file, true]);
    if (floor === "features") expect([file, GROUPS.includes(group!)]).toEqual([file, true]);
  }
});

test("tests are in the folders of the code that they test", async () => {
  const folders = new Set((await sourceFiles("test/**/*.ts")).map((file) => dirname(file)));
  const code = new Set((await sourceFiles()).flatMap((file) => listParents(file)));
  const stray = [...folders].filter((folder) => {
    const [, floor] = folder.split("/");
    if (floor === "cli") return !code.has(folder.slice("test/".length));
    return FLOORS.includes(floor!) && floor !== "console" && !code.has(folder.replace("test", "src"));
  });
  expect(stray).toEqual([]);
});

test("folders and files stay within their limits of entries and lines", async () => {
  const files = new Map<string, string[]>();
  const folders = new Map<string, Set<string>>();
  const long: string[] = [];
  for (const file of await Array.fromAsync(new Bun.Glob("{src,cli,test}/**/*").scan({ cwd: root }))) {
    if (GROWING.test(file)) continue;
    const lines = (await Bun.file(join(root, file)).text()).split("\n").length;
    if (/(?<!\.d)\.tsx?$/.test(file) && lines > MAX_LINES) long.push(`${file}: ${lines} lines`);
    const parts = file.split("/");
    const folder = dirname(file);
    files.set(folder, [...(files.get(folder) ?? []), file]);
    for (let depth = 1; depth < parts.length - 1; depth++) {
      const above = parts.slice(0, depth).join("/");
      // `test` contains its own folders and those that mirror `src` and `cli`, which are limited where they
      // are.
      if (above === "test" && ["cli", ...FLOORS].includes(parts[1]!)) continue;
      folders.set(above, (folders.get(above) ?? new Set()).add(parts[depth]!));
    }
  }
  const full = [...files].filter(([, list]) => list.length > MAX_FILES);
  const wide = [...folders].filter(([, list]) => list.size > MAX_FOLDERS);
  expect(long).toEqual([]);
  expect(full.map(([folder, list]) => `${folder}: ${list.length} files`)).toEqual([]);
  expect(wide.map(([folder, list]) => `${folder}: ${[...list].join(", ")}`)).toEqual([]);
});

/**
 * Files that may set an interval of their own: they have no app, or run so often that a periodic task would
 * cost more.
 */
const TICKERS = [
  "src/platform/outgoing/websocket.ts",
  "src/engines/runner/runner.ts",
  "src/features/runs/worker/job-output.ts",
];

test("only periodic tasks set an interval", async () => {
  const others: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    if (/^src\/(engines\/runner\/child|console)\//.test(file) || TICKERS.includes(file)) continue;
    if ((await Bun.file(join(root, file)).text()).includes("setInterval(")) others.push(file);
  }
  expect(others).toEqual([]);
});

test("contexts are created by one constructor, so that all write their changes in one way", async () => {
  const others: string[] = [];
  for (const file of await sourceFiles()) {
    if (file === "src/platform/app/create-context.ts" || file.startsWith("src/console/")) continue;
    if (/^\s*write: \(/m.test(await Bun.file(join(root, file)).text())) others.push(file);
  }
  expect(others).toEqual([]);
});

test("operations have unique names and routes, and declare who may call them", async () => {
  const names = operations.map((op) => op.name);
  expect(new Set(names).size).toBe(names.length);
  const routes = operations.map((op) => `${op.method} ${op.path}`);
  expect(new Set(routes).size).toBe(routes.length);
  for (const [file, list] of operationsByFile) {
    expect(await Bun.file(join(root, file)).exists()).toBe(true);
    for (const op of list) {
      expect(["anyone", "user", "member", "author", "admin", "devops", "superAdmin"]).toContain(op.access);
      expect(getRequiredScope(op)).toBeDefined();
    }
  }
});

test("operations of a workspace are not open to anonymous callers, with known exceptions", () => {
  const open = operations.filter(
    (op) => op.access === "anyone" && listParameterNames(op.path).includes("workspace"),
  );
  expect(
    open.every((op) => /\/(jobs?|apps|scripts|capture)_u\/|\/s3_proxy\/|^\/approve\//.test(op.path)),
  ).toBe(true);
});

test("only `platform/outgoing/`, which checks targets, connects to other hosts", async () => {
  const ways =
    /\bfetch\(|new WebSocket\(|S3Client|new (Bun\.)?SQL\(|\b(Bun|net|tls)\.connect\(|\bhttps?\.(get|request)\(/;
  // The sandbox limits children; a channel is an open socket already; the operator names the PostgreSQL server.
  const others =
    /^src\/(platform\/outgoing|engines\/runner\/(child\/|process\/channel\.ts)|server\/server\.ts|platform\/http\/server\.ts|database)/;
  const found: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    const code = (await Bun.file(join(root, file)).text()).replace(/`[^`]*`|\/\*.*?\*\/|\/\/[^\n]*/gs, "");
    if (!file.startsWith(CLIENT) && !others.test(file) && ways.test(code)) found.push(file);
  }
  expect(found).toEqual([]);
});

/**
 * Files that may use `JSON.parse`: they read JSON that svc or a trusted party has written, and no data of
 * jobs.
 */
const OWN_JSON = [
  "src/server/console/bundle.ts",
  "src/database/backup/format.ts",
  "src/database/moved-marker.ts",
  "src/platform/cluster/bus.ts",
  "src/features/signals/alerts/channels.ts",
  "src/features/signals/alerts/failed-migration.ts",
  "src/features/tenancy/license/signed-license.ts",
  "src/features/assets/connections/oauth-state.ts",
  "src/features/assets/storage/stores/filesystem-metadata.ts",
  "src/features/tenancy/tokens/job-tokens.ts",
  "src/features/signals/webhooks/outbox.ts",
  "src/engines/languages/python/analyse.ts",
  "src/engines/languages/typescript/lock-text.ts",
  "src/lib/files/directory-lock.ts",
  "src/lib/logging/log-pretty.ts",
  // Messages of children, whose depth is checked before; the child's program, which is a process of its own.
  "src/engines/runner/process/channel.ts",
  "src/engines/runner/child/error.ts",
  "src/engines/runner/child/program.ts",
  "src/engines/runner/child/wrappers/run_deno.ts",
  "src/engines/runner/packages/pip-client.ts",
  "src/engines/runner/sandbox/isolation/launcher.ts",
];

test("only lib/json/, which keeps digits and limits the depth, parses JSON from users and jobs", async () => {
  const bare: string[] = [];
  for await (const file of new Bun.Glob("src/**/*.ts").scan({ cwd: root })) {
    if (file.startsWith("src/lib/json/") || file.startsWith(CLIENT)) continue;
    const text = await Bun.file(join(root, file)).text();
    if (/\bJSON\.parse\b|\bstructuredClone\b/.test(text)) bare.push(file);
  }
  expect(bare.sort()).toEqual([...OWN_JSON].sort());
});
