/**
 * Operations on workspace dependencies: lists of packages shared by a workspace. They are stored for clients, which
 * lock scripts with them. This server locks scripts by their own imports only.
 */
import { and, asc, eq } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { isoTimestamp, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { DEPENDENCY_FILES, type DependencyLanguage } from "./dependency-files.ts";
import { type WorkspaceDependencies, workspaceDependencies } from "./tables.ts";

const base = "/w/{workspace}/workspace_dependencies" as const;

/** Protected by the scope of workspace settings. */
const reads = { domain: "workspaces", action: "read" } as const;
const writes = { domain: "workspaces", action: "write" } as const;

const language = z.enum(Object.keys(DEPENDENCY_FILES) as [DependencyLanguage, ...DependencyLanguage[]]);
const name = z.string().regex(/^[\w-]{1,100}$/, "must have 1 to 100 letters, digits, _ and -");
const named = z.object({ name: optionalField(name) });
type Named = z.output<typeof named>;

const Dependencies = z
  .object({
    workspace_id: z.string(),
    language,
    name: z.string().nullish(),
    content: z.string(),
    description: z.string().nullish(),
    created_by: z.string(),
    created_at: isoTimestamp,
    archived: z.boolean(),
  })
  .meta({ id: "WorkspaceDependencies" });

const toDependenciesRecord = (row: WorkspaceDependencies): z.input<typeof Dependencies> => ({
  ...row,
  language: row.language as DependencyLanguage,
  name: row.name === "" ? null : row.name,
  archived: false,
});

const whereDependencies = (workspace_id: string, asked: string, called: string | undefined) =>
  and(
    eq(workspaceDependencies.workspace_id, workspace_id),
    eq(workspaceDependencies.language, asked),
    eq(workspaceDependencies.name, called ?? ""),
  );

const formatTitle = (asked: string, called: string | undefined) =>
  `${called === undefined ? "default" : called} dependencies for ${asked}`;

/** Lists all dependencies of a workspace, by language and name. */
export function listDependencies({ app, caller }: WorkspaceContext): Promise<WorkspaceDependencies[]> {
  return Promise.resolve(
    app.db.read
      .select()
      .from(workspaceDependencies)
      .where(eq(workspaceDependencies.workspace_id, caller.member.workspace_id))
      .orderBy(asc(workspaceDependencies.language), asc(workspaceDependencies.name)),
  );
}

export const createWorkspaceDependencies = operation({
  name: "createWorkspaceDependencies",
  method: "POST",
  path: `${base}/create`,
  access: "admin",
  scope: writes,
  summary: "Store a list of packages of the workspace, replacing an earlier one",
  body: z.object({
    language,
    name: optionalField(name),
    content: z.string(),
    description: optionalField(z.string()),
  }),
  responds: responds.created("confirmation"),
  audit: { operation: "workspace_dependencies.create", action_kind: "Create" },
  run: async (ctx, { workspace, body }) => {
    const title = formatTitle(body.language, body.name);
    await ctx.write({ resource: title }, async (tx) => {
      const row = {
        workspace_id: workspace,
        language: body.language,
        name: body.name ?? "",
        content: body.content,
        description: body.description ?? null,
        created_by: ctx.username,
        created_at: ctx.app.clock(),
      };
      const { workspace_id, language: of, name: called } = workspaceDependencies;
      await tx
        .insert(workspaceDependencies)
        .values(row)
        .onConflictDoUpdate({ target: [workspace_id, of, called], set: row });
    });
    return `${title} kept`;
  },
});

const getLatestWorkspaceDependencies = operation({
  name: "getLatestWorkspaceDependencies",
  method: "GET",
  path: `${base}/get_latest/{language}`,
  access: "member",
  scope: reads,
  summary: "Read a list of packages of the workspace; without `name` the language's default list",
  query: named,
  responds: responds.json(Dependencies),
  run: async ({ app }, { workspace, language: asked, query }) => {
    const [row] = await app.db.read
      .select()
      .from(workspaceDependencies)
      .where(whereDependencies(workspace, asked, query.name));
    if (!row) throw new NotFound(`${formatTitle(asked, query.name)} in workspace ${workspace}`);
    return toDependenciesRecord(row);
  },
});

const listWorkspaceDependencies = operation({
  name: "listWorkspaceDependencies",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  scope: reads,
  summary: "List the package lists of the workspace",
  responds: responds.json(z.array(Dependencies)),
  run: async (ctx) => (await listDependencies(ctx)).map(toDependenciesRecord),
});

const removal = {
  method: "POST",
  access: "admin",
  scope: writes,
  query: named,
  responds: responds.text("confirmation"),
  audit: { operation: "workspace_dependencies.delete", action_kind: "Delete" },
  run: async (
    ctx: WorkspaceContext,
    { workspace, language: asked, query }: { workspace: string; language: string; query: Named },
  ) => {
    const title = formatTitle(asked, query.name);
    await ctx.write({ resource: title }, async (tx) => {
      const gone = await tx
        .delete(workspaceDependencies)
        .where(whereDependencies(workspace, asked, query.name))
        .returning({ name: workspaceDependencies.name });
      if (gone.length === 0) throw new NotFound(`${title} in workspace ${workspace}`);
    });
    return `${title} deleted`;
  },
} as const;

export const deleteWorkspaceDependencies = operation({
  ...removal,
  name: "deleteWorkspaceDependencies",
  path: `${base}/delete/{language}`,
  summary: "Delete a list of packages of the workspace",
});

const archiveWorkspaceDependencies = operation({
  ...removal,
  name: "archiveWorkspaceDependencies",
  path: `${base}/archive/{language}`,
  summary: "Delete a list of packages; archived lists are not kept",
});

export const workspaceDependencyOperations: Operation[] = [
  createWorkspaceDependencies,
  getLatestWorkspaceDependencies,
  listWorkspaceDependencies,
  archiveWorkspaceDependencies,
  deleteWorkspaceDependencies,
];
