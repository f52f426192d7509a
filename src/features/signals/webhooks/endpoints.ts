/** Webhook endpoints and their signing secrets. */
import { isIP } from "node:net";
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { decryptText, encryptText } from "../../../lib/crypto/seal.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { getConfiguredTargets, type Targets } from "../../../platform/outgoing/targets.ts";
import { decryptSecret, encryptSecret } from "../../tenancy/workspaces/secrets.ts";
import { type EventType, INSTANCE_WORKSPACE } from "./event-types.ts";
import { createWebhookSecret } from "./signature.ts";
import { type WebhookEndpoint, webhookDeliveries, webhookEndpoints } from "./tables.ts";

const MAX_ENDPOINTS = 50;
const MAX_URL_CHARS = 2_000;
/** How long the previous secret signs after a rotation. */
const SECRET_OVERLAP_MS = 24 * 3_600_000;

export interface NewEndpoint {
  url: string;
  description: string;
  types: EventType[] | null;
  enabled: boolean;
}

/** Validates an endpoint's URL. @throws BadRequest without quoting the URL, which may contain a secret */
export function requireValidUrl(
  app: App,
  text: string,
  field = "url",
  targets = getConfiguredTargets(app),
): void {
  const url = text.length <= MAX_URL_CHARS ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || /\s/.test(text)) {
    throw new BadRequest(
      `\`${field}\`: must be an address such as https://example.org/events, of ${MAX_URL_CHARS} characters at most`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) > 0 && !targets.allows(host, host)) {
    throw new BadRequest(
      `\`${field}\`: ${host} is an address of this machine or of a private network; the operator allows such targets with SVC_ALLOWED_TARGETS`,
    );
  }
}

/** Creates an endpoint. @returns its id and its secret, which cannot be read again. @throws BadRequest */
export async function createEndpoint(
  ctx: WorkspaceContext,
  asked: NewEndpoint,
): Promise<{ id: string; secret: string }> {
  const { workspace_id } = ctx.caller.member;
  requireValidUrl(ctx.app, asked.url);
  const id = createUuid();
  return ctx.write({ resource: id, parameters: { url: getUrlHost(asked.url) } }, async (tx) => {
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
    const made = await createEndpointRow(ctx.app, tx, {
      ...asked,
      id,
      workspace_id,
      created_by: ctx.username,
    });
    await tx.insert(webhookEndpoints).values(made.row);
    return { id, secret: made.secret };
  });
}

/** Returns the part of a URL that logs and audit rows may contain; path and query may contain a secret. */
export function getUrlHost(url: string): string {
  return new URL(url).host;
}

interface EndpointInput extends NewEndpoint {
  id?: string;
  workspace_id: string;
  created_by: string;
  is_workspace_webhook?: boolean;
}

async function createEndpointRow(
  app: App,
  tx: Tx,
  asked: EndpointInput,
): Promise<{ row: WebhookEndpoint; secret: string }> {
  const secret = createWebhookSecret();
  const row: WebhookEndpoint = {
    id: createUuid(),
    is_workspace_webhook: false,
    ...asked,
    secret: await encryptEndpointSecret(app, tx, asked.workspace_id, secret),
    previous_secret: null,
    previous_secret_until: null,
    created_at: app.clock(),
    failing_since: null,
  };
  return { row, secret };
}

const whereWorkspaceWebhook = (workspace_id: string) =>
  and(eq(webhookEndpoints.workspace_id, workspace_id), eq(webhookEndpoints.is_workspace_webhook, true));

/** Returns the URL of the webhook in the workspace settings; null if there is none or it is disabled. */
export async function findWorkspaceWebhook(db: Reader, workspace_id: string): Promise<string | null> {
  const [row] = await db
    .select({ url: webhookEndpoints.url, enabled: webhookEndpoints.enabled })
    .from(webhookEndpoints)
    .where(whereWorkspaceWebhook(workspace_id));
  return row?.enabled ? row.url : null;
}

/**
 * Sets the webhook in the workspace settings, which receives all events. It is stored as an endpoint only.
 * @param url null removes it
 * @throws BadRequest
 */
export async function setWorkspaceWebhook(ctx: WorkspaceContext, url: string | null): Promise<void> {
  const { app, caller, username } = ctx;
  const { workspace_id } = caller.member;
  if (url !== null) requireValidUrl(app, url, "webhook");
  const asked = { description: "the workspace's webhook", types: null, enabled: true };
  const parameters = { webhook: url === null ? "" : getUrlHost(url) };
  await ctx.write({ resource: workspace_id, parameters }, async (tx) => {
    await tx.lock(`webhooks ${workspace_id}`);
    const own = whereWorkspaceWebhook(workspace_id);
    const [known] = await tx.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(own);
    if (url === null) {
      if (known) await deleteEndpointRows(tx, known.id);
    } else if (known) {
      await tx.update(webhookEndpoints).set({ url, enabled: true, failing_since: null }).where(own);
    } else {
      const whose = { workspace_id, created_by: username, is_workspace_webhook: true };
      const { row } = await createEndpointRow(app, tx, { ...asked, ...whose, url });
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

/** Returns a webhook endpoint. @throws NotFound */
export async function getEndpoint(db: Reader, workspace_id: string, id: string): Promise<WebhookEndpoint> {
  const [row] = await db
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.workspace_id, workspace_id)));
  if (!row) throw new NotFound(`webhook endpoint ${id} in workspace ${workspace_id}`);
  return row;
}

/** Changes the given fields of a webhook endpoint. @throws NotFound, BadRequest */
export async function updateEndpoint(
  ctx: WorkspaceContext,
  id: string,
  changes: Partial<NewEndpoint>,
): Promise<void> {
  if (changes.url !== undefined) requireValidUrl(ctx.app, changes.url);
  await ctx.write({ resource: id }, async (tx) => {
    await getEndpoint(tx, ctx.caller.member.workspace_id, id);
    if (Object.keys(changes).length === 0) return;
    await tx.update(webhookEndpoints).set(changes).where(eq(webhookEndpoints.id, id));
  });
}

/** Deletes a webhook endpoint with its deliveries. @throws NotFound */
export async function deleteEndpoint(ctx: WorkspaceContext, id: string): Promise<void> {
  await ctx.write({ resource: id }, async (tx) => {
    await getEndpoint(tx, ctx.caller.member.workspace_id, id);
    await deleteEndpointRows(tx, id);
  });
}

async function deleteEndpointRows(tx: Tx, id: string): Promise<void> {
  await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, id));
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id));
}

/** Deletes all endpoints of a workspace with their deliveries. */
export async function deleteWorkspaceEndpoints(tx: Tx, workspace_id: string): Promise<void> {
  const its = await tx
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, workspace_id));
  for (const { id } of its) await deleteEndpointRows(tx, id);
}

/** Rotates the secret; the previous one signs for another day. @returns the new secret. @throws NotFound */
export async function rotateSecret(ctx: Context, workspace_id: string, id: string): Promise<string> {
  const { app } = ctx;
  const secret = createWebhookSecret();
  await ctx.write({ resource: id }, async (tx) => {
    const known = await getEndpoint(tx, workspace_id, id);
    await tx
      .update(webhookEndpoints)
      .set({
        secret: await encryptEndpointSecret(app, tx, workspace_id, secret),
        previous_secret: known.secret,
        previous_secret_until: new Date(app.clock().getTime() + SECRET_OVERLAP_MS),
      })
      .where(eq(webhookEndpoints.id, id));
  });
  return secret;
}

/** Secrets of the instance's endpoint are encrypted with the instance key, since they belong to no workspace. */
const INSTANCE_PURPOSE = "secret of the instance's events";

async function encryptEndpointSecret(
  app: App,
  tx: Tx,
  workspace_id: string,
  secret: string,
): Promise<string> {
  if (workspace_id === INSTANCE_WORKSPACE) return encryptText(app.instanceKey, secret, INSTANCE_PURPOSE);
  return encryptSecret(app, tx, workspace_id, secret);
}

async function decryptEndpointSecret(app: App, workspace_id: string, sealed: string): Promise<string> {
  if (workspace_id !== INSTANCE_WORKSPACE) return decryptSecret(app, app.db.read, workspace_id, sealed);
  const secret = decryptText(app.instanceKey, sealed, INSTANCE_PURPOSE);
  if (secret !== undefined) return secret;
  throw new BadRequest("the secret of the instance's events cannot be read with the instance's key");
}

/** Returns the secrets that are valid for signing, newest first. */
export async function readSigningSecrets(app: App, endpoint: WebhookEndpoint): Promise<string[]> {
  const { workspace_id, secret, previous_secret, previous_secret_until } = endpoint;
  const isOverlapping = previous_secret_until !== null && previous_secret_until > app.clock();
  const sealed = previous_secret !== null && isOverlapping ? [secret, previous_secret] : [secret];
  return Promise.all(sealed.map((text) => decryptEndpointSecret(app, workspace_id, text)));
}

export const INSTANCE_ENDPOINT_ID = "instance-events";

/** Sets the endpoint of instance events from the configuration, at startup; undefined disables it. */
export async function setInstanceWebhook(app: App, url: string | undefined): Promise<void> {
  if (url !== undefined) requireValidUrl(app, url, "INSTANCE_EVENTS_WEBHOOK", ANY_TARGET);
  const known = await findInstanceEndpoint(app.db.read);
  if (known ? known.url === url && known.enabled : url === undefined) return;
  await app.db.write((tx) => storeInstanceWebhook(app, tx, url));
}

async function findInstanceEndpoint(db: Reader): Promise<WebhookEndpoint | undefined> {
  const [known] = await db
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, INSTANCE_ENDPOINT_ID));
  return known;
}

/** Stores the endpoint of instance events in a transaction. Secret and deliveries stay when the URL changes. */
export async function storeInstanceWebhook(app: App, tx: Tx, url: string | undefined): Promise<void> {
  await tx.lock(`webhooks ${INSTANCE_WORKSPACE}`);
  const known = await findInstanceEndpoint(tx);
  const enabled = url !== undefined;
  if (known) {
    await tx
      .update(webhookEndpoints)
      .set({ enabled, failing_since: null, ...(enabled ? { url } : {}) })
      .where(eq(webhookEndpoints.id, INSTANCE_ENDPOINT_ID));
  } else if (enabled) {
    const whose = {
      workspace_id: INSTANCE_WORKSPACE,
      created_by: "svc",
      description: "the instance's events",
    };
    const { row } = await createEndpointRow(app, tx, {
      id: INSTANCE_ENDPOINT_ID,
      ...whose,
      url,
      types: null,
      enabled,
    });
    await tx.insert(webhookEndpoints).values(row);
  }
}

/** Allows every target, for instance events: users who edit the instance's settings are trusted. */
export const ANY_TARGET: Targets = { allows: () => true };
