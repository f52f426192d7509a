/** What scripts import of each other: found and pinned when one is locked, loaded when it runs. */
import { and, desc, eq, inArray } from "drizzle-orm";
import { requireRuntime, runtimeOf } from "../../../../engines/languages/languages.ts";
import { importedPaths } from "../../../../engines/languages/local-imports.ts";
import { mergePackages } from "../../../../engines/languages/packages.ts";
import { analyseScript } from "../../../../engines/languages/reading/analyse.ts";
import type { Language, Packages } from "../../../../engines/languages/types.ts";
import type { ImportedScript } from "../../../../engines/runner/types.ts";
import { Cache } from "../../../../lib/async/cache.ts";
import { perApp } from "../../../../lib/async/per-app.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { App, Member } from "../../../../platform/app/context.ts";
import { type PinnedImport, type Script, scripts } from "../tables.ts";
import { findVersion } from "../versions.ts";

/** Code that may import scripts. */
export interface Importing {
  workspace_id: string;
  /** Its own path, from which relative imports are meant; undefined for code without one. */
  path: string | undefined;
  language: Language;
  content: string;
}

export interface ResolvedImports {
  /** Every script that is imported, by the code itself or by one that it imports. */
  pins: PinnedImport[];
  imported: ImportedScript[];
  /** The packages of all of it. */
  packages: Packages | undefined;
  /** What the languages' readers said of the code itself. */
  warning: string | undefined;
}

/** An import names no script, or one that the deployer may not read. */
export class ImportError extends BadRequest {
  override readonly name: string = "ImportError";
  /** Paths at which it would be found. */
  readonly candidates: string[];
  constructor(specifier: string, from: string | undefined, candidates: string[]) {
    const where =
      candidates.length > 0 ? `there is no script ${candidates.join(" or ")}` : "it names no script";
    super(`${from ?? "the script"} imports ${specifier}: ${where} that its deployer may read`);
    this.candidates = candidates;
  }
}

/** Most scripts that one imports, through others too: a bound on what a deployment reads. */
const MAX_IMPORTS = 500;

/**
 * Finds what code imports, through other scripts too, at their newest versions.
 * @param member whose rights count
 * @throws ImportError, SyntaxFault, DependencyError for packages that contradict each other
 */
export async function resolveImports(app: App, member: Member, code: Importing): Promise<ResolvedImports> {
  const { workspace_id, language } = code;
  const own = await analyseScript(language, code.content);
  const found = new Map<string, Script>();
  let packages = own.packages;
  const queue = own.imports.map((specifier) => ({ specifier, from: code.path }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    const candidates = importedPaths(language, next.specifier, next.from ?? "");
    if (candidates.some((path) => path === code.path || found.has(path))) continue;
    const row = await newestOf(app, workspace_id, candidates, language);
    if (!row || !canRead(member, row.path, row.extra_perms)) {
      throw new ImportError(next.specifier, next.from, candidates);
    }
    if (found.size >= MAX_IMPORTS) {
      throw new BadRequest(`${code.path ?? "the script"} imports more than ${MAX_IMPORTS} scripts`);
    }
    found.set(row.path, row);
    const analysis = await analyseScript(row.language as Language, row.content);
    packages = mergePackages(packages, analysis.packages);
    queue.push(...analysis.imports.map((specifier) => ({ specifier, from: row.path })));
  }
  const rows = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    pins: rows.map(({ path, hash }) => ({ path, hash })),
    imported: rows.map(toImported),
    packages,
    warning: own.warning,
  };
}

/** TypeScript imports TypeScript, whichever runtime is meant, and Python Python. */
function areOfOneKind(one: string, other: string): boolean {
  const kindOf = (language: string) => {
    const runtime = runtimeOf(language);
    return runtime === "nativets" ? "bun" : runtime;
  };
  return kindOf(one) !== undefined && kindOf(one) === kindOf(other);
}

/** The newest version at the first of these paths that has one: of those that can run, if there are any. */
async function newestOf(
  app: App,
  workspace_id: string,
  candidates: string[],
  language: Language,
): Promise<Script | undefined> {
  if (candidates.length === 0) return undefined;
  const rows = await app.db.read
    .select()
    .from(scripts)
    .where(
      and(
        eq(scripts.workspace_id, workspace_id),
        inArray(scripts.path, candidates),
        eq(scripts.deleted, false),
        eq(scripts.archived, false),
        eq(scripts.draft_only, false),
      ),
    )
    .orderBy(desc(scripts.ready), desc(scripts.seq));
  const usable = rows.filter((row) => areOfOneKind(row.language, language));
  for (const path of candidates) {
    const row = usable.find((each) => each.path === path);
    if (row) return row;
  }
  return undefined;
}

function toImported({ path, language, content }: Script): ImportedScript {
  return { path, language: requireRuntime(language), content };
}

const MAX_LOADED = 2_000;
const loadedBy = perApp((_: App) => new Cache<ImportedScript>({ max: MAX_LOADED }));

/** The sources of pinned imports. @throws BadRequest when a version is gone */
export function loadImports(app: App, workspace_id: string, pins: PinnedImport[]): Promise<ImportedScript[]> {
  const loaded = loadedBy(app);
  return Promise.all(
    pins.map(({ path, hash }) => {
      const key = `${workspace_id}\n${hash}`;
      return loaded.get(key) ?? loaded.load(key, () => loadImport(app, workspace_id, path, hash));
    }),
  );
}

async function loadImport(
  app: App,
  workspace_id: string,
  path: string,
  hash: string,
): Promise<ImportedScript> {
  const row = await findVersion(app.db.read, workspace_id, hash);
  if (!row || row.deleted) {
    throw new BadRequest(
      `the imported script ${path} has lost its version ${hash}: deploy the importer again`,
    );
  }
  // It is found at the path that it was imported from, wherever it has been moved since.
  return { ...toImported(row), path };
}
