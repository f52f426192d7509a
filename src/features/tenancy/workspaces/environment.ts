/** Environment variables that an admin sets for all jobs of a workspace. Every job reads them, so they are cached. */
import { and, asc, eq } from "drizzle-orm";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { workspaceEnvironment } from "./tables.ts";

export interface WorkspaceEnvironment {
  variables: Readonly<Record<string, string>>;
  /** Hash of the variables, so it changes with them; empty if there are none. */
  id: string;
}

const MAX_CACHED = 10_000;

/** By workspace. */
const environmentCache = memoizePerApp((_: App) => new Cache<WorkspaceEnvironment>({ max: MAX_CACHED }));

/** Invalidates the cached variables; call it after a commit that changed them. */
export const invalidateEnvironment = defineInvalidation<[workspace_id: string]>("environment", {
  forget: (app, workspace_id) => environmentCache(app).delete(workspace_id),
  forgetAll: (app) => environmentCache(app).clear(),
});

/** Returns the workspace's variables, from the cache or by one query. */
export function getWorkspaceEnvironment(
  app: App,
  workspace_id: string,
): WorkspaceEnvironment | Promise<WorkspaceEnvironment> {
  const cache = environmentCache(app);
  return cache.get(workspace_id) ?? cache.load(workspace_id, () => loadEnvironment(app, workspace_id));
}

async function loadEnvironment(app: App, workspace_id: string): Promise<WorkspaceEnvironment> {
  const rows = await app.db.read
    .select({ name: workspaceEnvironment.name, value: workspaceEnvironment.value })
    .from(workspaceEnvironment)
    .where(eq(workspaceEnvironment.workspace_id, workspace_id))
    .orderBy(asc(workspaceEnvironment.name));
  const variables = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const id = rows.length === 0 ? "" : sha256(JSON.stringify(variables)).slice(0, 16);
  return { variables, id };
}

/** Names that identify the job, define its rights, or select the programs it runs. */
const RESERVED_NAME = /^(WM_.*|BASE_URL|BASE_INTERNAL_URL|BUN_BE_BUN|HOME|PATH|PWD|LD_.*)$/;
const MAX_VARIABLES = 200;
const MAX_VALUE_CHARS = 32_768;

/** Validates a variable name. @throws BadRequest naming the field and what would be right */
function parseVariableName(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name)) {
    throw new BadRequest(
      `body field \`name\`: "${name.slice(0, 60)}" cannot be the name of a variable: begin with a letter or _, then letters, digits and _`,
    );
  }
  if (!RESERVED_NAME.test(name)) return name;
  throw new BadRequest(`body field \`name\`: ${name} is set by the server: use another name`);
}

/**
 * Sets a variable for all jobs that start from now on, or deletes it if no value is given.
 * @throws BadRequest for an invalid name, or too many variables
 */
async function setVariable(
  ctx: WorkspaceContext,
  given: { name: string; value: string | undefined },
): Promise<void> {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const name = parseVariableName(given.name);
  const { value } = given;
  const own = eq(workspaceEnvironment.workspace_id, workspace_id);
  await ctx.write({ resource: workspace_id, parameters: { name } }, async (tx) => {
    tx.afterCommit(() => invalidateEnvironment(app, workspace_id));
    await tx.lock(`environment of workspace ${workspace_id}`);
    await tx.delete(workspaceEnvironment).where(and(own, eq(workspaceEnvironment.name, name)));
    if (value === undefined) return;
    const others = await tx.select({ name: workspaceEnvironment.name }).from(workspaceEnvironment).where(own);
    if (others.length >= MAX_VARIABLES) {
      throw new BadRequest(`workspace ${workspace_id} has ${MAX_VARIABLES} variables, the maximum`);
    }
    await tx.insert(workspaceEnvironment).values({ workspace_id, name, value });
  });
}

export const setEnvironmentVariable = operation({
  name: "setEnvironmentVariable",
  method: "POST",
  path: "/w/{workspace}/workspaces/set_environment_variable",
  access: "admin",
  summary: "Set an environment variable of all jobs; without a value it is removed",
  body: z.object({
    name: z.string(),
    value: z.string().max(MAX_VALUE_CHARS, `must have at most ${MAX_VALUE_CHARS} characters`).nullish(),
  }),
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.set_environment_variable", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const value = body.value || undefined;
    await setVariable(ctx, { name: body.name, value });
    return `environment variable ${body.name} of workspace ${workspace} ${value ? "set" : "removed"}`;
  },
});

export const environmentOperations: Operation[] = [setEnvironmentVariable];
