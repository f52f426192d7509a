/** Users of an e-mail domain join a workspace automatically, or are invited, when they sign up or log in. */
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { recordAudit } from "../../../signals/audit/service.ts";
import { recordInstanceEvent } from "../../../signals/webhooks/instance-events.ts";
import { isSuperAdmin } from "../../../tenancy/people/super-admin.ts";
import { editSettings } from "../../../tenancy/workspaces/settings.ts";
import { workspaceInvites, workspaceSettings, workspaces } from "../../../tenancy/workspaces/tables.ts";
import { findMemberRow, insertMember, lockMembership } from "./membership.ts";

/** Matches every domain. */
const ALL_DOMAINS = "*";

/** Free mail services: anybody can get an address there, so it proves no common organization. */
const FREE_MAIL_DOMAINS = new Set(
  (
    "126.com 163.com aol.com duck.com email.com fastmail.com freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net " +
    "googlemail.com hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.fr hushmail.com icloud.com inbox.com laposte.net " +
    "libero.it live.com mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com orange.fr outlook.com outlook.de " +
    "outlook.fr pm.me posteo.de proton.me protonmail.com qq.com rediffmail.com rocketmail.com seznam.cz t-online.de " +
    "tuta.com tuta.io tutanota.com wanadoo.fr web.de yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.de yahoo.fr " +
    "yandex.com yandex.ru ymail.com zoho.com"
  ).split(" "),
);

function emailDomain(email: string): string {
  return email.slice(email.lastIndexOf("@") + 1).toLowerCase();
}

/**
 * Returns whether users of the domain may be invited automatically: not those of free mail services or single-label
 * hosts.
 */
function isOrganizationDomain(domain: string): boolean {
  return domain.includes(".") && !FREE_MAIL_DOMAINS.has(domain);
}

interface AutoInviteChange {
  /** Whether they join as operators; undefined disables the feature. */
  operator: boolean | undefined;
  /** All domains instead of the caller's own. */
  invite_all: boolean;
  auto_add: boolean;
}

/**
 * Stores who is invited automatically.
 * @returns the domain, `*` for all domains, undefined if disabled
 * @throws BadRequest if the caller's own domain is that of a free mail service
 */
async function storeAutoInvite(ctx: WorkspaceContext, wish: AutoInviteChange): Promise<string | undefined> {
  if (wish.operator === undefined) {
    // `auto_add` tells a workspace where it was disabled from one where nobody has said anything.
    const none = { auto_invite_domain: undefined, auto_invite_operator: undefined, auto_add: false };
    await editSettings(ctx, none, { domain: "" });
    return undefined;
  }
  const { identity } = ctx.caller;
  if (wish.invite_all && wish.auto_add && !identity.super_admin) {
    throw new Forbidden(
      "only a super admin can let everybody join a workspace without an invite: leave `auto_add` out",
      {
        hint: "without it, everybody is invited",
      },
    );
  }
  const own = emailDomain(identity.email);
  if (!wish.invite_all && !isOrganizationDomain(own)) {
    throw new BadRequest(
      `everybody may have an address at ${own}, so its users are not invited automatically: invite each one, or all domains with \`invite_all\``,
    );
  }
  const auto_invite_domain = wish.invite_all ? ALL_DOMAINS : own;
  const change = { auto_invite_domain, auto_invite_operator: wish.operator, auto_add: wish.auto_add };
  const parameters = {
    domain: auto_invite_domain,
    operator: String(wish.operator),
    auto_add: String(wish.auto_add),
  };
  await editSettings(ctx, change, parameters);
  return auto_invite_domain;
}

/**
 * Adds a user to every workspace that accepts their e-mail domain, or invites them. Call it in the transaction that
 * creates the account or the session.
 * @param isProven whether the address is known to be theirs; otherwise only workspaces that accept all domains count
 */
export async function joinByDomain(app: App, tx: Tx, email: string, isProven = true): Promise<void> {
  const domains = isProven ? [emailDomain(email), ALL_DOMAINS] : [ALL_DOMAINS];
  const found = await tx
    .select({ workspace_id: workspaceSettings.workspace_id, settings: workspaceSettings.settings })
    .from(workspaceSettings)
    .innerJoin(workspaces, eq(workspaces.id, workspaceSettings.workspace_id))
    .where(and(inArray(workspaceSettings.auto_invite_domain, domains), eq(workspaces.archived, false)))
    .orderBy(asc(workspaceSettings.workspace_id));
  // Super admins are only invited: their rights must not be usable by a workspace they did not choose.
  const mayBeAdded = found.length > 0 && !(await isSuperAdmin(tx, email));
  for (const { workspace_id, settings } of found) {
    const role = { email, is_admin: false, operator: settings.auto_invite_operator ?? false };
    await lockMembership(tx, workspace_id);
    if (await findMemberRow(tx, workspace_id, email)) continue;
    if (settings.auto_add && mayBeAdded) await addAutomatically(app, tx, workspace_id, role);
    else {
      const invited = await tx
        .insert(workspaceInvites)
        .values({ ...role, workspace_id, created_at: app.clock() })
        .onConflictDoNothing()
        .returning({ email: workspaceInvites.email });
      const event = { type: "UserInvitedWorkspace", workspace: workspace_id, email } as const;
      if (invited.length > 0) await recordInstanceEvent(app, tx, event);
    }
  }
}

async function addAutomatically(
  app: App,
  tx: Tx,
  workspace_id: string,
  role: { email: string; is_admin: boolean; operator: boolean },
): Promise<void> {
  const username = await insertMember(app, tx, workspace_id, role);
  const { email } = role;
  await recordInstanceEvent(app, tx, { type: "UserAddedWorkspace", workspace: workspace_id, email });
  await recordAudit(tx, {
    timestamp: app.clock(),
    workspace_id,
    username,
    email,
    audit: { operation: "users.add_to_workspace", action_kind: "Create" },
    resource: role.email,
    parameters: { role: role.operator ? "operator" : "developer", by: "auto_add" },
  });
}

export const editAutoInviteOperation = operation({
  name: "editAutoInvite",
  method: "POST",
  path: "/w/{workspace}/workspaces/edit_auto_invite",
  access: "admin",
  summary: "Let users of the caller's e-mail domain join automatically; without `operator` this is disabled",
  body: z.object({
    operator: z.boolean().nullish(),
    invite_all: z.boolean().nullish(),
    auto_add: z.boolean().nullish(),
  }),
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.edit_auto_invite_domain", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const domain = await storeAutoInvite(ctx, {
      operator: body.operator ?? undefined,
      invite_all: body.invite_all ?? false,
      auto_add: body.auto_add ?? false,
    });
    if (domain === undefined) return `nobody is invited to workspace ${workspace} by themselves`;
    const who = domain === ALL_DOMAINS ? "everybody" : `everybody at ${domain}`;
    return `${who} ${body.auto_add ? "joins" : "is invited to"} workspace ${workspace}`;
  },
});

export const isDomainAllowed = operation({
  name: "isDomainAllowed",
  method: "GET",
  path: "/workspaces/allowed_domain_auto_invite",
  access: "user",
  summary: "Check whether users of the caller's e-mail domain may be invited automatically",
  responds: responds.json(z.boolean()),
  run: (ctx) => isOrganizationDomain(emailDomain(ctx.caller.identity.email)),
});

export const autoInviteOperations: Operation[] = [editAutoInviteOperation, isDomainAllowed];
