/** Who is told: adding, changing and removing endpoints, and their secrets. */
import { isIP } from "node:net";
import { and, asc, eq } from "drizzle-orm";
import type { App, WorkspaceContext } from "../../context.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { newJobId } from "../../lib/ids.ts";
import { allowedTargets } from "../../outgoing/targets.ts";
import { decryptSecret, encryptSecret } from "../workspaces/secrets.ts";
import type { EventType } from "./event-types.ts";
import { newSecret } from "./signature.ts";
import { type WebhookEndpoint, webhookDeliveries, webhookEndpoints } from "./tables.ts";

const MAX_ENDPOINTS = 50;
const MAX_URL = 2_000;
/** How long a secret goes on to sign after another has taken its place. */
const OVERLAP_MS = 24 * 3_600_000;

export interface NewEndpoint {
  url: string;
  description: string;
  types: EventType[] | null;
  enabled: boolean;
}

/** @throws BadRequest that says what is wrong with it */
export function checkUrl(app: App, text: string): void {
  const url = text.length <= MAX_URL ? URL.parse(text) : null;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new BadRequest(
      `\`url\`: ${JSON.stringify(text.slice(0, 200))} is no http or https address of ${MAX_URL} characters at most`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) > 0 && !allowedTargets(app).allows(host, host)) {
    throw new BadRequest(
      `\`url\`: ${host} is an address of this machine or of a private network; the operator allows such targets with SVC_ALLOWED_TARGETS`,
    );
  }
}

/** @returns the endpoint's id and its secret, which is told only now. @throws BadRequest */
export async function createEndpoint(
  ctx: WorkspaceContext,
  asked: NewEndpoint,
): Promise<{ id: string; secret: string }> {
  const { workspace_id } = ctx.caller.member;
  checkUrl(ctx.app, asked.url);
  const made = await newRow(ctx.app, { ...asked, workspace_id, created_by: ctx.username });
  await ctx.write({ resource: made.row.id, parameters: { url: hostOf(asked.url) } }, async (tx) => {
    await tx.lock(`webhooks ${workspace_id}`);
    const known = await tx
      .select({ url: webhookEndpoints.url })
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.workspace_id, workspace_id));
    if (known.length >= MAX_ENDPOINTS) {
      throw new BadRequest(`the workspace has ${MAX_ENDPOINTS} webhook endpoints already`);
    }
    if (known.some(({ url }) => url === asked.url)) {
      throw new BadRequest("there is a webhook endpoint with this `url` already");
    }
    await tx.insert(webhookEndpoints).values(made.row);
  });
  return { id: made.row.id, secret: made.secret };
}

/** What may be said of an address in logs and audit rows: its path and query may hold a secret. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

interface Asked extends NewEndpoint {
  workspace_id: string;
  created_by: string;
  is_workspace_webhook?: boolean;
}

async function newRow(app: App, asked: Asked): Promise<{ row: WebhookEndpoint; secret: string }> {
  const secret = newSecret();
  const row: WebhookEndpoint = {
    id: newJobId(),
    is_workspace_webhook: false,
    ...asked,
    secret: await encryptSecret(app, app.db.read, asked.workspace_id, secret),
    previous_secret: null,
    previous_secret_until: null,
    created_at: app.clock(),
    failing_since: null,
  };
  return { row, secret };
}

/** Tells of everything that happens at the address that the workspace's settings name. @param url null: nowhere */
export async function setWorkspaceWebhook(
  ctx: WorkspaceContext,
  url: string | null,
  write: (work: (tx: Tx) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { app, caller, username } = ctx;
  const { workspace_id } = caller.member;
  if (url !== null) checkUrl(app, url);
  const asked = { description: "the workspace's webhook", types: null, enabled: true };
  const made =
    url === null
      ? undefined
      : await newRow(app, { ...asked, url, workspace_id, created_by: username, is_workspace_webhook: true });
  const own = and(
    eq(webhookEndpoints.workspace_id, workspace_id),
    eq(webhookEndpoints.is_workspace_webhook, true),
  );
  await write(async (tx) => {
    await tx.lock(`webhooks ${workspace_id}`);
    const [known] = await tx.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(own);
    if (!made) {
      if (known) await removeEndpoint(tx, known.id);
    } else if (known) {
      await tx
        .update(webhookEndpoints)
        .set({ url: made.row.url, enabled: true, failing_since: null })
        .where(own);
    } else {
      await tx.insert(webhookEndpoints).values(made.row);
    }
  });
}

export async function listEndpoints(ctx: WorkspaceContext): Promise<WebhookEndpoint[]> {
  return ctx.app.db.read
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, ctx.caller.member.workspace_id))
    .orderBy(asc(webhookEndpoints.id));
}

/** @throws NotFound */
export async function getEndpoint(
  { caller }: WorkspaceContext,
  db: Reader,
  id: string,
): Promise<WebhookEndpoint> {
  const { workspace_id } = caller.member;
  const [row] = await db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.workspace_id, workspace_id)));
  if (!row) throw new NotFound(`webhook endpoint ${id} in workspace ${workspace_id}`);
  return row;
}

/** @throws NotFound, BadRequest */
export async function updateEndpoint(
  ctx: WorkspaceContext,
  id: string,
  changes: Partial<NewEndpoint>,
): Promise<void> {
  if (changes.url !== undefined) checkUrl(ctx.app, changes.url);
  await ctx.write({ resource: id }, async (tx) => {
    await getEndpoint(ctx, tx, id);
    if (Object.keys(changes).length === 0) return;
    await tx.update(webhookEndpoints).set(changes).where(eq(webhookEndpoints.id, id));
  });
}

/** @throws NotFound */
export async function deleteEndpoint(ctx: WorkspaceContext, id: string): Promise<void> {
  await ctx.write({ resource: id }, async (tx) => {
    await getEndpoint(ctx, tx, id);
    await removeEndpoint(tx, id);
  });
}

async function removeEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, id));
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id));
}

/** @returns the new secret; the one before signs for another day too. @throws NotFound */
export async function rotateSecret(ctx: WorkspaceContext, id: string): Promise<string> {
  const { app, caller } = ctx;
  const secret = newSecret();
  const sealed = await encryptSecret(app, app.db.read, caller.member.workspace_id, secret);
  await ctx.write({ resource: id }, async (tx) => {
    const known = await getEndpoint(ctx, tx, id);
    await tx
      .update(webhookEndpoints)
      .set({
        secret: sealed,
        previous_secret: known.secret,
        previous_secret_until: new Date(app.clock().getTime() + OVERLAP_MS),
      })
      .where(eq(webhookEndpoints.id, id));
  });
  return secret;
}

/** The secrets that sign what is sent to an endpoint now, newest first. */
export async function secretsOf(app: App, endpoint: WebhookEndpoint): Promise<string[]> {
  const { workspace_id, secret, previous_secret, previous_secret_until } = endpoint;
  const isOverlapping = previous_secret_until !== null && previous_secret_until > app.clock();
  const sealed = previous_secret !== null && isOverlapping ? [secret, previous_secret] : [secret];
  return Promise.all(sealed.map((text) => decryptSecret(app, app.db.read, workspace_id, text)));
}
