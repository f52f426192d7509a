/** Imports between scripts: resolved and pinned when a script is locked, loaded when it runs. */
import { and, desc, eq, inArray } from "drizzle-orm";
import { findRuntime, requireRuntime } from "../../../../engines/languages/languages.ts";
import { resolveLocalImport } from "../../../../engines/languages/local-imports.ts";
import { mergePackages } from "../../../../engines/languages/packages.ts";
import { analyseScript } from "../../../../engines/languages/reading/analyse.ts";
import { type Language, type Packages, SyntaxFault } from "../../../../engines/languages/types.ts";
import type { ImportedScript } from "../../../../engines/runner/types.ts";
import { Cache } from "../../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../../lib/async/per-app.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import { canRead } from "../../../../platform/access/permissions.ts";
import type { App, Member } from "../../../../platform/app/context.ts";
import { type PinnedImport, type Script, scripts } from "../tables.ts";
import { findScriptVersion } from "../versions.ts";

/** Code whose imports are resolved. */
export interface ImportingCode {
  workspace_id: string;
  /** Its path, which relative imports are resolved against; undefined for code without one. */
  path: string | undefined;
  language: Language;
  content: string;
  /** Sources submitted with the code; they take precedence over the workspace's scripts. */
  modules?: Modules | undefined;
}

/** Sources in the language of the code that imports them, by script path. */
export type Modules = Record<string, string>;

export interface ResolvedImports {
  /** All imported scripts that are deployed, transitive ones included. */
  pins: PinnedImport[];
  imported: ImportedScript[];
  /** The packages of the code and its imports. */
  packages: Packages | undefined;
  /** A warning of the language's parser about the code itself. */
  warning: string | undefined;
}

/** Thrown if an import names no script, one that the deployer may not read, or one that cannot be parsed. */
export class ImportError extends BadRequest {
  override readonly name: string = "ImportError";
  /** Paths that were searched for the script. */
  readonly candidates: string[];
  /** Paths of the imports that were found before. */
  readonly found: string[];
  /**
   * Creates the error for an import that cannot be resolved.
   * @param problem what is wrong with the script that was found; undefined if there is none
   */
  constructor(
    specifier: string,
    from: string | undefined,
    candidates: string[],
    found: string[],
    problem?: string,
  ) {
    const where =
      candidates.length > 0 ? `there is no script ${candidates.join(" or ")}` : "it names no script";
    super(
      `${from ?? "the script"} imports ${specifier}: ${problem ?? `${where} that its deployer may read`}`,
    );
    this.candidates = candidates;
    this.found = found;
  }
}

/** Limit of transitive imports, which bounds the work of a deployment. */
const MAX_IMPORTS = 500;

/**
 * Resolves the imports of code, transitively, to the newest versions, for a job.
 * @param member the person whose rights apply
 * @throws ImportError, SyntaxFault, DependencyError for conflicting packages
 */
export async function resolveImports(
  app: App,
  member: Member,
  code: ImportingCode,
): Promise<ResolvedImports> {
  const { workspace_id, language } = code;
  const owner = { owner: workspace_id };
  const own = await analyseScript(language, code.content, owner);
  const found = new Map<string, FoundImport>();
  let packages = own.packages;
  const queue = own.imports.map((specifier) => ({ specifier, from: code.path }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    const candidates = resolveLocalImport(language, next.specifier, next.from ?? "");
    if (candidates.some((path) => path === code.path || found.has(path))) continue;
    const row =
      findModule(code, candidates) ?? (await findImported(app, member, workspace_id, candidates, language));
    if (!row) throw new ImportError(next.specifier, next.from, candidates, [...found.keys()]);
    if (found.size >= MAX_IMPORTS) {
      throw new BadRequest(`${code.path ?? "the script"} imports more than ${MAX_IMPORTS} scripts`);
    }
    found.set(row.path, row);
    const analysis = await analyseScript(row.language as Language, row.content, owner).catch((cause) => {
      if (!(cause instanceof SyntaxFault)) throw cause;
      const problem = `${row.path}: ${cause.message}`;
      throw new ImportError(next.specifier, next.from, candidates, [...found.keys()], problem);
    });
    packages = mergePackages(packages, analysis.packages);
    queue.push(...analysis.imports.map((specifier) => ({ specifier, from: row.path })));
  }
  const rows = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    pins: rows.flatMap(({ path, hash }) => (hash === undefined ? [] : [{ path, hash }])),
    imported: rows.map(toImportedScript),
    packages,
    warning: own.warning,
  };
}

type FoundImport = Pick<Script, "path" | "language" | "content"> & {
  /** Hash of the deployed version; undefined for a source submitted with the code. */
  hash: string | undefined;
};

function findModule(
  { modules = {}, language }: ImportingCode,
  candidates: string[],
): FoundImport | undefined {
  const path = candidates.find((each) => Object.hasOwn(modules, each));
  return path === undefined ? undefined : { path, language, content: modules[path]!, hash: undefined };
}

/** Whether one language can import another: TypeScript imports TypeScript of any runtime; Python imports Python. */
function areImportable(one: string, other: string): boolean {
  const kindOf = (language: string) => {
    const runtime = findRuntime(language);
    return runtime === "nativets" ? "bun" : runtime;
  };
  return kindOf(one) !== undefined && kindOf(one) === kindOf(other);
}

/**
 * Finds the newest version at the first path that has one, preferring versions that can run; undefined also if the
 * member may not read it.
 */
async function findImported(
  app: App,
  member: Member,
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
  const usable = rows.filter((row) => areImportable(row.language, language));
  for (const path of candidates) {
    const row = usable.find((each) => each.path === path);
    if (row) return canRead(member, row.path, row.extra_perms) ? row : undefined;
  }
  return undefined;
}

function toImportedScript({
  path,
  language,
  content,
}: Pick<Script, "path" | "language" | "content">): ImportedScript {
  return { path, language: requireRuntime(language), content };
}

/** Maximum characters of sources and keys in the cache. */
const MAX_CACHED_CHARACTERS = 10_000_000;
const importCache = memoizePerApp(
  (_: App) =>
    new Cache<ImportedScript>({
      max: MAX_CACHED_CHARACTERS,
      weigh: (key, { path, content }) => key.length + path.length + content.length,
    }),
);

/** Loads the sources of pinned imports. @throws BadRequest if a version was deleted */
export function loadImports(app: App, workspace_id: string, pins: PinnedImport[]): Promise<ImportedScript[]> {
  const loaded = importCache(app);
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
  const row = await findScriptVersion(app.db.read, workspace_id, hash);
  if (!row || row.deleted) {
    throw new BadRequest(
      `the imported script ${path} has lost its version ${hash}: deploy the importer again`,
    );
  }
  // Keeps the path it was imported from, even if it was renamed since.
  return { ...toImportedScript(row), path };
}
