/** Variables that an admin has set for all jobs of a workspace: asked for by every job, so answered from memory. */
import { and, asc, eq } from "drizzle-orm";
import { z } from "zod";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { workspaceEnvironment } from "./tables.ts";

export interface Environment {
  variables: Readonly<Record<string, string>>;
  /** Another one whenever the variables are others; empty when there are none. */
  id: string;
}

const MAX_CACHED = 10_000;

/** By workspace. */
const cacheOf = perApp((_: App) => new Cache<Environment>({ max: MAX_CACHED }));

/** Forgets what was remembered; called after a commit that changed it. */
export const forgetEnvironment = forgottenEverywhere<[workspace_id: string]>("environment", {
  forget: (app, workspace_id) => cacheOf(app).delete(workspace_id),
  forgetAll: (app) => cacheOf(app).clear(),
});

/** The workspace's own variables. */
export function customEnvironment(app: App, workspace_id: string): Environment | Promise<Environment> {
  const cache = cacheOf(app);
  return cache.get(workspace_id) ?? cache.load(workspace_id, () => load(app, workspace_id));
}

async function load(app: App, workspace_id: string): Promise<Environment> {
  const rows = await app.db.read
    .select({ name: workspaceEnvironment.name, value: workspaceEnvironment.value })
    .from(workspaceEnvironment)
    .where(eq(workspaceEnvironment.workspace_id, workspace_id))
    .orderBy(asc(workspaceEnvironment.name));
  const variables = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const id = rows.length === 0 ? "" : sha256(JSON.stringify(variables)).slice(0, 16);
  return { variables, id };
}

/** Names that say where a job is, what it may do, or which programs it runs. */
const RESERVED = /^(WM_.*|BASE_URL|BASE_INTERNAL_URL|BUN_BE_BUN|HOME|PATH|PWD|LD_.*)$/;
const MOST_VARIABLES = 200;
const MOST_VALUE = 32_768;

/** @throws BadRequest naming the field and what would be right */
function checkName(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name)) {
    throw new BadRequest(
      `body field \`name\`: "${name.slice(0, 60)}" cannot name a variable: begin with a letter or _, then letters, digits and _`,
    );
  }
  if (!RESERVED.test(name)) return name;
  throw new BadRequest(`body field \`name\`: ${name} is the server's own to set: use another name`);
}

/**
 * Sets a variable for every job that begins from now on; without a value it is removed.
 * @throws BadRequest
 */
async function setVariable(
  ctx: WorkspaceContext,
  given: { name: string; value: string | undefined },
): Promise<void> {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const name = checkName(given.name);
  const { value } = given;
  const own = eq(workspaceEnvironment.workspace_id, workspace_id);
  await ctx.write({ resource: workspace_id, parameters: { name } }, async (tx) => {
    tx.afterCommit(() => forgetEnvironment(app, workspace_id));
    await tx.lock(`environment of workspace ${workspace_id}`);
    await tx.delete(workspaceEnvironment).where(and(own, eq(workspaceEnvironment.name, name)));
    if (value === undefined) return;
    const others = await tx.select({ name: workspaceEnvironment.name }).from(workspaceEnvironment).where(own);
    if (others.length >= MOST_VARIABLES) {
      throw new BadRequest(`workspace ${workspace_id} has ${MOST_VARIABLES} variables, the most it may have`);
    }
    await tx.insert(workspaceEnvironment).values({ workspace_id, name, value });
  });
}

export const setEnvironmentVariable = operation({
  name: "setEnvironmentVariable",
  method: "POST",
  path: "/w/{workspace}/workspaces/set_environment_variable",
  access: "admin",
  summary: "Set a variable in the environment of every job; without a value it is removed",
  body: z.object({
    name: z.string(),
    value: z.string().max(MOST_VALUE, `must have at most ${MOST_VALUE} characters`).nullish(),
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
