/** Authorises a call, then runs its operation with a transaction that leaves the audit row. */

import type { Tx } from "../../database/database.ts";
import { Forbidden, Unauthorized, Unavailable } from "../../lib/errors.ts";
import { checkWorkspaceId } from "../../lib/text/paths.ts";
import type { App, Audit, Caller, Context, Identity, Member } from "../app/context.ts";
import type { Access, Operation, Scope } from "./operation.ts";
import { scopeOf } from "./operation.ts";

/** What the features hand in, since http knows none of them. */
export interface Hooks {
  resolveToken: (app: App, token: string) => Promise<Identity | undefined> | Identity | undefined;
  /** The caller's place in a workspace; undefined when there is none. @throws NotFound for an unknown workspace */
  resolveMember: (
    app: App,
    identity: Identity,
    workspace_id: string,
  ) => Promise<Member | undefined> | Member | undefined;
  /** @throws Forbidden when a restricted token does not cover the operation */
  checkScopes: (identity: Identity, scope: Scope, resource: string | undefined) => void;
  recordAudit: (
    tx: Tx,
    row: {
      timestamp: Date;
      workspace_id: string;
      username: string;
      email: string;
      audit: Audit;
      resource: string | undefined;
      parameters: Record<string, string> | undefined;
    },
  ) => Promise<void>;
}

export interface Call {
  caller: Caller;
  /** Path parameters, and `query` and `body` where the operation declares them: checked already. */
  input: Record<string, unknown>;
  request: Request;
  request_id: string;
}

/**
 * Authorises a call by its credentials and its path alone, so that nothing of the request has to be read for who may not
 * make it. Answers at once where everything that it asks for is cached.
 * @throws Unauthorized, Forbidden, NotFound for an unknown workspace (to super admins only)
 */
export function authorize(
  app: App,
  hooks: Pick<Hooks, "resolveMember" | "checkScopes">,
  op: Operation,
  identity: Identity | undefined,
  parameters: Record<string, string>,
): Caller | Promise<Caller> {
  const caller = admit(app, hooks, op, identity, parameters.workspace);
  if (!identity?.token?.scopes?.length) return caller;
  const scope = scopeOf(op);
  if (!scope) return caller;
  const resource = scope.resource ? parameters[scope.resource] : undefined;
  const restricted = (admitted: Caller) => {
    hooks.checkScopes(identity, scope, resource);
    return admitted;
  };
  return caller instanceof Promise ? caller.then(restricted) : restricted(caller);
}

/**
 * Runs the operation for a caller who has been authorised.
 * @throws whatever the operation throws
 */
export function execute(app: App, hooks: Hooks, op: Operation, call: Call): unknown {
  const { caller } = call;
  const workspace_id = call.input.workspace as string | undefined;
  const username = caller.member?.username ?? caller.identity?.email ?? "anonymous";
  const audit: Context["audit"] = async (tx, { as = op.audit, by, resource, parameters }) => {
    if (!as) return;
    await hooks.recordAudit(tx, {
      timestamp: app.clock(),
      workspace_id: workspace_id ?? "global",
      username: by ?? username,
      email: by ?? caller.identity?.email ?? "",
      audit: as,
      resource,
      parameters,
    });
  };
  const context: Context = {
    app,
    caller,
    username,
    request: call.request,
    request_id: call.request_id,
    audit,
    write: (audited, work) =>
      app.db.write(async (tx) => {
        const value = await work(tx);
        await audit(tx, audited);
        return value;
      }, audited),
  };
  return op.run(context as never, call.input as never);
}

/** Who comes without credentials: no account has such an address. */
const NOBODY: Identity = { email: "anonymous", super_admin: false, devops: false, token: undefined };

/** Operations of the whole instance, which ask for no place in a workspace, also where their path names one. */
const OF_INSTANCE: ReadonlySet<Access> = new Set<Access>(["user", "devops", "superAdmin"]);

function admit(
  app: App,
  hooks: Pick<Hooks, "resolveMember">,
  op: Operation,
  identity: Identity | undefined,
  workspace_id: string | undefined,
): Caller | Promise<Caller> {
  if (op.access === "anyone") {
    if (workspace_id === undefined) return { identity, member: undefined };
    // Asked for nobody as well: into an archived workspace nobody gets.
    return placed(app, hooks, identity ?? NOBODY, workspace_id, (member) => {
      if (member) refuseLesser(op.access, member);
      return { identity, member };
    });
  }
  if (!identity) throw new Unauthorized("a valid token is needed");
  if (op.access === "superAdmin" && !identity.super_admin) throw new Forbidden("this needs a super admin");
  if (op.access === "devops" && !identity.devops && !identity.super_admin) {
    throw new Forbidden("this needs a super admin or devops");
  }
  if (workspace_id === undefined || OF_INSTANCE.has(op.access)) {
    if (identity.token?.workspace_id !== undefined && !op.bound) {
      throw new Forbidden(`the token is bound to workspace ${identity.token.workspace_id}`);
    }
    return { identity, member: undefined };
  }
  return placed(app, hooks, identity, workspace_id, (member) => {
    if (!member) throw new Unauthorized(`not a member of workspace ${workspace_id}`);
    refuseLesser(op.access, member);
    return { identity, member };
  });
}

/** Settles the caller once the place in the workspace is known: at once, where it is cached. */
function placed(
  app: App,
  hooks: Pick<Hooks, "resolveMember">,
  identity: Identity,
  workspace_id: string,
  settle: (member: Member | undefined) => Caller,
): Caller | Promise<Caller> {
  checkWorkspaceId(workspace_id);
  if (identity.token?.workspace_id !== undefined && identity.token.workspace_id !== workspace_id) {
    throw new Unauthorized(`the token is bound to another workspace than ${workspace_id}`);
  }
  const member = hooks.resolveMember(app, identity, workspace_id);
  return member instanceof Promise ? member.then(settle) : settle(member);
}

function refuseLesser(access: Access, member: Member): void {
  if (member.disabled) throw new Unauthorized("the user is disabled in this workspace");
  if (access === "admin" && !member.is_admin) throw new Forbidden("this needs an admin of the workspace");
  if (access === "author" && member.operator && !member.is_admin) {
    throw new Forbidden("operators may run and view, not create, edit or preview");
  }
}

/** @throws Unavailable while the server drains */
export function refuseWhileDraining(app: App): void {
  if (!app.accepting) throw new Unavailable("the server is shutting down and takes no new jobs");
}
