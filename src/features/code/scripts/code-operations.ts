/** Operations on code: its source as plain text, and its analysis. */

import { findRuntime, LANGUAGES } from "../../../engines/languages/languages.ts";
import { describeMissingProgram } from "../../../engines/languages/programs/packages.ts";
import { findAdapter } from "../../../engines/languages/programs/table.ts";
import { analyseScript } from "../../../engines/languages/reading/analyse.ts";
import { type Packages, SyntaxFault } from "../../../engines/languages/types.ts";
import { BadRequest, Unauthorized } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { authorizeCall } from "../../../platform/http/execute.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { resolveToken } from "../../tenancy/tokens/service.ts";
import * as service from "./service.ts";
import type { Script } from "./tables.ts";

const base = "/w/{workspace}/scripts" as const;

/** File extensions that a raw path may end in. */
const EXTENSION_PATTERN = /\.(ts|js|sh|py)$/;

export const getRawScriptByPath = operation({
  name: "getRawScriptByPath",
  method: "GET",
  path: `${base}/raw/p/{path}`,
  access: "member",
  summary: "Read the source of the newest version",
  responds: responds.text("the source"),
  run: async (ctx, { path }) =>
    (await service.getScriptByPath(ctx, path.replace(EXTENSION_PATTERN, ""))).content,
});

export const getRawScriptByHash = operation({
  name: "getRawScriptByHash",
  method: "GET",
  path: `${base}/raw/h/{hash}`,
  access: "member",
  summary: "Read the source of one version",
  responds: responds.text("the source"),
  run: async (ctx, { hash }) =>
    (await service.getScriptByHash(ctx, hash.replace(EXTENSION_PATTERN, ""))).content,
});

/** Removes version numbers from imports: `"x@1.2/y"` becomes `"x/y"`. */
async function removeImportVersions({ language, content }: Script): Promise<string> {
  const runtime = findRuntime(language);
  if (runtime !== "bun" && runtime !== "nativets") return content;
  const { rewriteImports } = await import("../../../engines/languages/typescript/imports.ts");
  return rewriteImports(content);
}

const getRawUnpinnedScriptByPath = operation({
  name: "getRawUnpinnedScriptByPath",
  method: "GET",
  path: `${base}/raw_unpinned/p/{path}`,
  access: "member",
  summary: "Read the source of the newest version, without versions in its imports",
  responds: responds.text("the source"),
  run: async (ctx, { path }) =>
    removeImportVersions(await service.getScriptByPath(ctx, path.replace(EXTENSION_PATTERN, ""))),
});

const getTokenedRawScript = operation({
  name: "getTokenedRawScript",
  method: "GET",
  path: "/scripts_u/tokened_raw/{workspace}/{token}/{path}",
  access: "anyone",
  cookie: "ignored",
  scope: false,
  summary: "Read the source of the newest version with a token in the URL, for module loaders",
  responds: responds.text("the source"),
  run: async (ctx, { workspace, token, path }) => {
    const identity = await resolveToken(ctx.app, token);
    if (!identity) throw new Unauthorized("the token in the URL is not valid");
    const script = path.replace(EXTENSION_PATTERN, "");
    const hooks = { resolveMember, checkScopes: requireScope };
    const named = { workspace, path: script };
    const caller = await authorizeCall(ctx.app, hooks, getRawScriptByPath, identity, named);
    const row = await service.getScriptByPath({ ...ctx, caller } as WorkspaceContext, script);
    return row.content;
  },
});

const Analysis = z.object({
  /** JSON Schema of the arguments; absent if the code cannot be parsed. */
  schema: z.record(z.string(), z.unknown()).optional(),
  has_main: z.boolean(),
  has_preprocessor: z.boolean(),
  /** In the form that package managers accept. */
  packages: z.array(z.string()),
  /** Scripts of the workspace, as written in the code. */
  imports: z.array(z.string()),
  warning: z.string().optional(),
  /** The program that the server lacks to run it, and what to install. */
  missing_program: z.string().optional(),
  /** Why the code cannot be parsed. Lines and columns are counted from 1. */
  problem: z
    .object({ message: z.string(), line: z.number().optional(), column: z.number().optional() })
    .optional(),
});

function listPackages(packages: Packages | undefined, language: string, content: string): string[] {
  switch (packages?.client) {
    case "npm":
      return packages.dependencies.map(({ name, version }) =>
        version === "latest" ? name : `${name}@${version}`,
      );
    case "pip":
      return packages.requirements;
    case "program":
      return findAdapter(language)!.findPackages(content);
    case undefined:
      return [];
  }
}

export const analyseCode = operation({
  name: "analyseCode",
  method: "POST",
  path: `${base}/analyse`,
  access: "author",
  summary: "Analyse code without storing it: arguments, packages, imports, and syntax errors",
  body: z.object({ language: z.enum(LANGUAGES), content: z.string() }),
  responds: responds.json(Analysis),
  run: async (ctx, { body }) => {
    const missing_program = describeMissingProgram(body.language, body.content);
    const missing = missing_program === undefined ? {} : { missing_program };
    try {
      const { signature, schema, packages, imports, warning } = await analyseScript(
        body.language,
        body.content,
        { owner: ctx.caller.member.workspace_id, for_request: true },
      );
      return {
        schema,
        has_main: signature.has_main,
        has_preprocessor: signature.preprocessor !== undefined,
        packages: listPackages(packages, body.language, body.content),
        imports,
        ...(warning === undefined ? {} : { warning }),
        ...missing,
      };
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      const place =
        error instanceof SyntaxFault
          ? { message: error.detail, line: error.line, column: error.column }
          : { message: error.message };
      return {
        has_main: false,
        has_preprocessor: false,
        packages: [],
        imports: [],
        problem: place,
        ...missing,
      };
    }
  },
});

export const scriptCodeOperations: Operation[] = [
  getRawScriptByPath,
  getRawScriptByHash,
  getRawUnpinnedScriptByPath,
  getTokenedRawScript,
  analyseCode,
];
