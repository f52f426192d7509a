/** Apps for non-members: at a secret address, or at one that an admin has chosen. */
import { timingSafeEqual } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { BadRequest, NotFound, Unauthorized } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { App, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { resources } from "../../assets/resource-tables.ts";
import { toAppRecord } from "../../code/apps/operations.ts";
import { AppRecord } from "../../code/apps/records.ts";
import { getApp, getNewestVersion, isOpenToAnybody } from "../../code/apps/service.ts";
import { type AppRow, apps } from "../../code/apps/tables.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { signForWorkspace } from "../../tenancy/workspaces/signing.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";

/** The only folder with public resources: the themes of public apps. */
const THEMES_PREFIX = "f/app_themes/";
/** The only public resource type in that folder. */
const THEME_TYPE = "app_theme";

/** Creates the secret: `<id>-<signature>`, HMAC-SHA256 in hex. */
async function createAppSecret(
  app: App,
  { workspace_id, id }: Pick<AppRow, "workspace_id" | "id">,
): Promise<string> {
  const signature = await signForWorkspace(app, workspace_id, "public app", [String(id)]);
  return `${id}-${signature.toString("hex")}`;
}

/** Returns the app at a secret address. @throws NotFound for an invalid secret */
async function getAppBySecret(app: App, workspace_id: string, secret: string): Promise<AppRow> {
  const id = /^(\d{1,15})-[0-9a-f]{64}$/.exec(secret)?.[1];
  const unknown = () => new NotFound(`public app in workspace ${workspace_id}`);
  if (id === undefined) throw unknown();
  // An unknown workspace gives the same error as an invalid secret.
  const right = await createAppSecret(app, { workspace_id, id: Number(id) }).catch(() => undefined);
  if (right === undefined || right.length !== secret.length) throw unknown();
  if (!timingSafeEqual(Buffer.from(right), Buffer.from(secret))) throw unknown();
  const [row] = await app.db.read
    .select()
    .from(apps)
    .where(and(eq(apps.workspace_id, workspace_id), eq(apps.id, Number(id))));
  if (!row) throw unknown();
  return row;
}

/**
 * Returns the app's record for its users, without its policy's fixed inputs.
 * @throws Unauthorized if a login is required, NotFound if the caller may not read it
 */
async function toPublicRecord(ctx: Context, app: AppRow) {
  const { execution_mode } = app.policy;
  if (!isOpenToAnybody(app)) await requireReader(ctx, app);
  const record = await toAppRecord(ctx.app, await getNewestVersion(ctx.app.db.read, app));
  return { ...record, versions: [app.version], policy: { execution_mode }, extra_perms: {}, created_by: "" };
}

async function requireReader({ app, caller }: Context, row: AppRow): Promise<void> {
  const { workspace_id, path, extra_perms } = row;
  if (!caller.identity) throw new Unauthorized("log in to use this app");
  const bound = caller.identity.token?.workspace_id;
  if (bound !== undefined && bound !== workspace_id) {
    throw new Unauthorized(`the token is bound to another workspace than ${workspace_id}`);
  }
  const member = caller.member ?? (await resolveMember(app, caller.identity, workspace_id));
  if (!member || member.disabled) throw new Unauthorized(`not a member of workspace ${workspace_id}`);
  if (!canRead(member, path, extra_perms)) throw new NotFound(`app ${path} in workspace ${workspace_id}`);
}

const getAppSecret = operation({
  name: "getPublicSecretOfApp",
  method: "GET",
  path: "/w/{workspace}/apps/secret_of/{path}",
  access: "member",
  summary: "Read the secret part of an app's public URL",
  responds: responds.text("the secret"),
  run: async (ctx: WorkspaceContext, { path }) => createAppSecret(ctx.app, (await getApp(ctx, path)).app),
});

const getPublicApp = operation({
  name: "getPublicAppBySecret",
  method: "GET",
  path: "/w/{workspace}/apps_u/public_app/{secret}",
  access: "anyone",
  scope: { domain: "apps", action: "read" },
  cors: true,
  summary: "Read an app by its secret; without a login only an anonymous app",
  responds: responds.json(AppRecord),
  run: async (ctx, { workspace, secret }) =>
    toPublicRecord(ctx, await getAppBySecret(ctx.app, workspace, secret)),
});

const getPublicAppByCustomPath = operation({
  name: "getPublicAppByCustomPath",
  method: "GET",
  path: "/apps_u/public_app_by_custom_path/{custom_path}",
  access: "anyone",
  scope: { domain: "apps", action: "read" },
  cors: true,
  summary:
    "Read an app by the address that an admin has chosen; callers who are not logged in can only read an anonymous app",
  responds: responds.json(AppRecord),
  run: async (ctx, { custom_path }) => {
    const [found] = await ctx.app.db.read
      .select({ row: apps })
      .from(apps)
      .innerJoin(workspaces, eq(workspaces.id, apps.workspace_id))
      .where(and(eq(apps.custom_path, custom_path), eq(workspaces.archived, false)));
    if (!found) throw new NotFound(`app with custom path ${custom_path.slice(0, 80)}`);
    return toPublicRecord(ctx, found.row);
  },
});

const getPublicResource = operation({
  name: "getPublicResource",
  method: "GET",
  path: "/w/{workspace}/apps_u/public_resource/{path}",
  access: "anyone",
  scope: { domain: "apps", action: "read" },
  cors: true,
  summary: `Read a theme of apps: a resource below ${THEMES_PREFIX}`,
  responds: responds.json(z.unknown()),
  run: async (ctx, { workspace, path }) => {
    if (!path.startsWith(THEMES_PREFIX))
      throw new BadRequest(`only resources below ${THEMES_PREFIX} are public`);
    const [row] = await ctx.app.db.read
      .select({ value: resources.value })
      .from(resources)
      .where(
        and(
          eq(resources.workspace_id, workspace),
          eq(resources.path, path),
          eq(resources.resource_type, THEME_TYPE),
        ),
      );
    if (!row) throw new NotFound(`resource ${path} in workspace ${workspace}`);
    return row.value;
  },
});

export const appPublicOperations: Operation[] = [
  getAppSecret,
  getPublicApp,
  getPublicAppByCustomPath,
  getPublicResource,
];
