/** Runs an operation: guard → run → audit. */
import type { App, Caller, Context, Identity, Member } from "../context.ts";
import type { Tx } from "../database/database.ts";
import { Forbidden, Unauthorized, Unavailable } from "../errors.ts";
import { checkWorkspaceId } from "../lib/paths.ts";
import type { Access, Audit, Operation, Scope } from "./operation.ts";
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
  identity: Identity | undefined;
  /** Path parameters, and `query` and `body` where the operation declares them: checked already. */
  input: Record<string, unknown>;
  request: Request;
  request_id: string;
}

/**
 * Checks who calls and runs the operation.
 * @throws Unauthorized, Forbidden, NotFound and whatever the operation throws
 */
export async function execute(app: App, hooks: Hooks, op: Operation, call: Call): Promise<unknown> {
  const workspace_id = call.input.workspace as string | undefined;
  const caller = await admit(app, hooks, op, call.identity, workspace_id);
  if (call.identity?.token?.scopes?.length) {
    const scope = scopeOf(op);
    if (scope) {
      const resource = scope.resource ? (call.input[scope.resource] as string) : undefined;
      hooks.checkScopes(call.identity, scope, resource);
    }
  }
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

async function admit(
  app: App,
  hooks: Hooks,
  op: Operation,
  identity: Identity | undefined,
  workspace_id: string | undefined,
): Promise<Caller> {
  if (op.access === "anyone") {
    // Asked for nobody as well: into an archived workspace nobody gets.
    const member =
      workspace_id === undefined ? undefined : await memberOf(app, hooks, identity ?? NOBODY, workspace_id);
    if (member) refuseLesser(op.access, member);
    return { identity, member };
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
  const member = await memberOf(app, hooks, identity, workspace_id);
  if (!member) throw new Unauthorized(`not a member of workspace ${workspace_id}`);
  refuseLesser(op.access, member);
  return { identity, member };
}

async function memberOf(
  app: App,
  hooks: Hooks,
  identity: Identity,
  workspace_id: string,
): Promise<Member | undefined> {
  checkWorkspaceId(workspace_id);
  if (identity.token?.workspace_id !== undefined && identity.token.workspace_id !== workspace_id) {
    throw new Unauthorized(`the token is bound to another workspace than ${workspace_id}`);
  }
  return hooks.resolveMember(app, identity, workspace_id);
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
