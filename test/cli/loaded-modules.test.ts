/** Modules that a command loads at start: those that its file imports, directly or indirectly. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** Packages that every command may load: it reads options, declares operations and prints. */
const COMMON = ["chalk", "commander", "drizzle-orm", "zod"];
/** Packages that commands load in addition. */
const BESIDE: Record<string, string[]> = {
  "inspect/api.ts": [],
  "inspect/audit.ts": [],
  "inspect/routes.ts": [],
  "items/folder.ts": [],
  "items/resource.ts": ["ipaddr.js", "oauth4webapi"],
  "items/schedule.ts": ["croner"],
  "items/script.ts": ["aws4fetch", "ipaddr.js", "oauth4webapi"],
  "items/variable.ts": ["ipaddr.js", "oauth4webapi"],
  "items/webhook.ts": ["ipaddr.js", "standardwebhooks"],
  "people/group.ts": [],
  "people/token.ts": [],
  "people/user.ts": ["ipaddr.js"],
  "people/workspace.ts": ["ipaddr.js"],
  "runs/job.ts": ["aws4fetch", "ipaddr.js", "oauth4webapi"],
  "runs/run.ts": ["aws4fetch", "ipaddr.js", "oauth4webapi"],
  "server/serve.ts": [],
};
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

test.each(Object.entries(BESIDE))("svc %s", (command, beside) => {
  const loaded = listLoaded(join(ROOT, "cli/commands", command));
  const packages = new Set(loaded.flatMap((path) => packageOf(path) ?? []));
  expect([...packages].filter((name) => !COMMON.includes(name)).sort()).toEqual(beside);
  expect(loaded.filter((path) => OF_A_SERVER.test(relative(ROOT, path)))).toEqual([]);
  expect(loaded).not.toContain("bun:sqlite");
});
