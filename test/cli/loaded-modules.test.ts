/** Modules that a command or a server loads at start: those that its file imports, directly or indirectly. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** Packages that every command may load: it reads options and prints. */
const COMMON = ["chalk", "commander"];
/** Packages of the operations whose fields are compared. */
const COMPARES_FIELDS = ["croner", "drizzle-orm", "ipaddr.js", "oauth4webapi", "yaml", "zod"];
/** Packages that some commands load in addition. */
const BESIDE: Record<string, string[]> = {
  "server/config.ts": ["zod"],
  "server/init.ts": ["ipaddr.js"],
  "sync/pull.ts": COMPARES_FIELDS,
  "sync/push.ts": COMPARES_FIELDS,
};
/** Commands that read the database without a server. */
const READ_DATABASE = ["server/status.ts", "server/stop.ts"];
/** Modules that only a server needs. */
const OF_A_SERVER = /^src\/(server|console|database\/(sqlite|postgres|migrations|backup))\//;

const transpiler = new Bun.Transpiler({ loader: "ts" });
const importsOf = new Map<string, string[]>();

/** Lists what a file imports when it is loaded: absolute paths, and the names of the runtime's own modules. */
function listImports(file: string): string[] {
  const known = importsOf.get(file);
  if (known) return known;
  const found = /\.[cm]?[jt]s$/.test(file)
    ? transpiler.scanImports(readFileSync(file, "utf8")).filter(({ kind }) => kind === "import-statement")
    : [];
  const isOwn = (path: string) => path.startsWith("node:") || path.startsWith("bun");
  const paths = found.map(({ path }) => (isOwn(path) ? path : Bun.resolveSync(path, dirname(file))));
  importsOf.set(file, paths);
  return paths;
}

function listLoaded(file: string): string[] {
  const loaded = new Set<string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (loaded.has(next)) continue;
    loaded.add(next);
    // Imports of packages are not checked.
    if (next.startsWith("/") && !next.includes("/node_modules/")) open.push(...listImports(next));
  }
  return [...loaded];
}

const packageOf = (path: string) => /node_modules\/((@[^/]+\/)?[^/]+)/.exec(path)?.[1];

const commands = [...new Bun.Glob("*/*.ts").scanSync(join(ROOT, "cli/commands"))].sort();

test.each(commands)("svc %s", (command) => {
  const loaded = listLoaded(join(ROOT, "cli/commands", command));
  const packages = new Set(loaded.flatMap((path) => packageOf(path) ?? []));
  expect([...packages].filter((name) => !COMMON.includes(name)).sort()).toEqual(BESIDE[command] ?? []);
  expect(loaded.filter((path) => OF_A_SERVER.test(relative(ROOT, path)))).toEqual([]);
  expect(loaded.includes("bun:sqlite")).toBe(READ_DATABASE.includes(command));
});

test("a server starts without the client of PostgreSQL", () => {
  const loaded = listLoaded(join(ROOT, "src/server/server.ts"));
  expect(loaded.map(packageOf)).toContain("h3");
  expect(loaded).toContain("bun:sqlite");
  expect(loaded).not.toContain("bun");
});
