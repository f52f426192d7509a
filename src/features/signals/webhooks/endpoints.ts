/** Who is told: adding, changing and removing endpoints, and their secrets. */
import { isIP } from "node:net";
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { seal, unseal } from "../../../lib/crypto/seal.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { allowedTargets, type Targets } from "../../../platform/outgoing/targets.ts";
import { decryptSecret, encryptSecret } from "../../tenancy/workspaces/secrets.ts";
import { type EventType, INSTANCE } from "./event-types.ts";
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

/** @throws BadRequest that says what is wrong with it, without the address itself: it may hold a secret */
export function checkUrl(app: App, text: string, field = "url", targets = allowedTargets(app)): void {
  const url = text.length <= MAX_URL ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || /\s/.test(text)) {
    throw new BadRequest(
      `\`${field}\`: must be an address such as https://example.org/events, of ${MAX_URL} characters at most`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) > 0 && !targets.allows(host, host)) {
    throw new BadRequest(
      `\`${field}\`: ${host} is an address of this machine or of a private network; the operator allows such targets with SVC_ALLOWED_TARGETS`,
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
  const id = newJobId();
  return ctx.write({ resource: id, parameters: { url: hostOf(asked.url) } }, async (tx) => {
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
    const made = await newRow(ctx.app, tx, { ...asked, id, workspace_id, created_by: ctx.username });
    await tx.insert(webhookEndpoints).values(made.row);
    return { id, secret: made.secret };
  });
}

/** What may be said of an address in logs and audit rows: its path and query may hold a secret. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

interface Asked extends NewEndpoint {
  id?: string;
  workspace_id: string;
  created_by: string;
  is_workspace_webhook?: boolean;
}

async function newRow(app: App, tx: Tx, asked: Asked): Promise<{ row: WebhookEndpoint; secret: string }> {
  const secret = newSecret();
  const row: WebhookEndpoint = {
    id: newJobId(),
    is_workspace_webhook: false,
    ...asked,
    secret: await sealSecret(app, tx, asked.workspace_id, secret),
    previous_secret: null,
    previous_secret_until: null,
    created_at: app.clock(),
    failing_since: null,
  };
  return { row, secret };
}

const workspaceWebhookOf = (workspace_id: string) =>
  and(eq(webhookEndpoints.workspace_id, workspace_id), eq(webhookEndpoints.is_workspace_webhook, true));

/** The address that the workspace's settings name; null where there is none, or while it is switched off. */
export async function workspaceWebhook(db: Reader, workspace_id: string): Promise<string | null> {
  const [row] = await db
    .select({ url: webhookEndpoints.url, enabled: webhookEndpoints.enabled })
    .from(webhookEndpoints)
    .where(workspaceWebhookOf(workspace_id));
  return row?.enabled ? row.url : null;
}

/**
 * Tells of everything that happens at the address that the workspace's settings name. The endpoint is all that is kept
 * of it.
 * @param url null: nowhere
 * @throws BadRequest
 */
export async function setWorkspaceWebhook(ctx: WorkspaceContext, url: string | null): Promise<void> {
  const { app, caller, username } = ctx;
  const { workspace_id } = caller.member;
  if (url !== null) checkUrl(app, url, "webhook");
  const asked = { description: "the workspace's webhook", types: null, enabled: true };
  const parameters = { webhook: url === null ? "" : hostOf(url) };
  await ctx.write({ resource: workspace_id, parameters }, async (tx) => {
    await tx.lock(`webhooks ${workspace_id}`);
    const own = workspaceWebhookOf(workspace_id);
    const [known] = await tx.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(own);
    if (url === null) {
      if (known) await removeEndpoint(tx, known.id);
    } else if (known) {
      await tx.update(webhookEndpoints).set({ url, enabled: true, failing_since: null }).where(own);
    } else {
      const whose = { workspace_id, created_by: username, is_workspace_webhook: true };
      const { row } = await newRow(app, tx, { ...asked, ...whose, url });
      await tx.insert(webhookEndpoints).values(row);
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
export async function getEndpoint(db: Reader, workspace_id: string, id: string): Promise<WebhookEndpoint> {
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
    await getEndpoint(tx, ctx.caller.member.workspace_id, id);
    if (Object.keys(changes).length === 0) return;
    await tx.update(webhookEndpoints).set(changes).where(eq(webhookEndpoints.id, id));
  });
}

/** @throws NotFound */
export async function deleteEndpoint(ctx: WorkspaceContext, id: string): Promise<void> {
  await ctx.write({ resource: id }, async (tx) => {
    await getEndpoint(tx, ctx.caller.member.workspace_id, id);
    await removeEndpoint(tx, id);
  });
}

async function removeEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, id));
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id));
}

/** Removes all endpoints of a workspace, with the record of their deliveries. */
export async function removeEndpoints(tx: Tx, workspace_id: string): Promise<void> {
  const its = await tx
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, workspace_id));
  for (const { id } of its) await removeEndpoint(tx, id);
}

/** @returns the new secret; the one before signs for another day too. @throws NotFound */
export async function rotateSecret(ctx: Context, workspace_id: string, id: string): Promise<string> {
  const { app } = ctx;
  const secret = newSecret();
  await ctx.write({ resource: id }, async (tx) => {
    const known = await getEndpoint(tx, workspace_id, id);
    await tx
      .update(webhookEndpoints)
      .set({
        secret: await sealSecret(app, tx, workspace_id, secret),
        previous_secret: known.secret,
        previous_secret_until: new Date(app.clock().getTime() + OVERLAP_MS),
      })
      .where(eq(webhookEndpoints.id, id));
  });
  return secret;
}

/** What belongs to no workspace is sealed with the instance's key. */
const INSTANCE_PURPOSE = "secret of the instance's events";

async function sealSecret(app: App, tx: Tx, workspace_id: string, secret: string): Promise<string> {
  if (workspace_id === INSTANCE) return seal(app.instanceKey, secret, INSTANCE_PURPOSE);
  return encryptSecret(app, tx, workspace_id, secret);
}

async function openSecret(app: App, workspace_id: string, sealed: string): Promise<string> {
  if (workspace_id !== INSTANCE) return decryptSecret(app, app.db.read, workspace_id, sealed);
  const secret = unseal(app.instanceKey, sealed, INSTANCE_PURPOSE);
  if (secret !== undefined) return secret;
  throw new BadRequest("the secret of the instance's events cannot be read with the instance's key");
}

/** The secrets that sign what is sent to an endpoint now, newest first. */
export async function secretsOf(app: App, endpoint: WebhookEndpoint): Promise<string[]> {
  const { workspace_id, secret, previous_secret, previous_secret_until } = endpoint;
  const isOverlapping = previous_secret_until !== null && previous_secret_until > app.clock();
  const sealed = previous_secret !== null && isOverlapping ? [secret, previous_secret] : [secret];
  return Promise.all(sealed.map((text) => openSecret(app, workspace_id, text)));
}

export const INSTANCE_ENDPOINT = "instance-events";

/** Has what happens on the instance sent where the setting says as the server starts; undefined: nowhere. */
export async function setInstanceWebhook(app: App, url: string | undefined): Promise<void> {
  if (url !== undefined) checkUrl(app, url, "INSTANCE_EVENTS_WEBHOOK", ANYWHERE);
  const known = await instanceEndpoint(app.db.read);
  if (known ? known.url === url && known.enabled : url === undefined) return;
  await app.db.write((tx) => storeInstanceWebhook(app, tx, url));
}

async function instanceEndpoint(db: Reader): Promise<WebhookEndpoint | undefined> {
  const [known] = await db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, INSTANCE_ENDPOINT));
  return known;
}

/** The same, in a transaction: its secret and what was sent stay, wherever it is sent from now on. */
export async function storeInstanceWebhook(app: App, tx: Tx, url: string | undefined): Promise<void> {
  await tx.lock(`webhooks ${INSTANCE}`);
  const known = await instanceEndpoint(tx);
  const enabled = url !== undefined;
  if (known) {
    await tx
      .update(webhookEndpoints)
      .set({ enabled, failing_since: null, ...(enabled ? { url } : {}) })
      .where(eq(webhookEndpoints.id, INSTANCE_ENDPOINT));
  } else if (enabled) {
    const whose = { workspace_id: INSTANCE, created_by: "svc", description: "the instance's events" };
    const { row } = await newRow(app, tx, { id: INSTANCE_ENDPOINT, ...whose, url, types: null, enabled });
    await tx.insert(webhookEndpoints).values(row);
  }
}

/** Where the operator's own events may be sent: whoever sets the instance's settings is inside already. */
export const ANYWHERE: Targets = { allows: () => true };
