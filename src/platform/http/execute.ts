/**
 * Authorizes a call, then runs its operation in a context that writes the audit row.
 *
 * A request is authorized by its credentials and its path alone (`authorizeCall`), before its query and body are read.
 * Names that could be confused with others are rejected by lib/text/paths.ts. test/acceptance/contract/sweep calls
 * every operation as callers who must get nothing.
 */

import { Forbidden, Unauthorized, Unavailable } from "../../lib/errors.ts";
import { parseWorkspaceId } from "../../lib/text/paths.ts";
import type { App, Caller, Identity, Member } from "../app/context.ts";
import { createContext, type RecordAudit } from "../app/create-context.ts";
import type { Access, Operation, OperationScope } from "./operation.ts";
import { getRequiredScope } from "./operation.ts";

/** Policies that features provide, since http imports no feature. */
export interface OperationPolicies {
  resolveToken: (app: App, token: string) => Promise<Identity | undefined> | Identity | undefined;
  /**
   * Returns the caller's membership in a workspace, if any.
   * @param reads the operation only reads
   * @throws NotFound for an unknown workspace
   */
  resolveMember: (
    app: App,
    identity: Identity,
    workspace_id: string,
    reads?: boolean,
  ) => Promise<Member | undefined> | Member | undefined;
  /** Checks that a token may call an operation. @throws Forbidden if a restricted token does not cover the operation */
  checkScopes: (identity: Identity, scope: OperationScope, resource: string | undefined) => void;
  recordAudit: RecordAudit;
}

export interface Call {
  caller: Caller;
  /** Path parameters, plus the validated `query` and `body` if the operation declares them. */
  input: Record<string, unknown>;
  request: Request;
  request_id: string;
}

/**
 * Authorizes a call by its credentials and path alone; nothing else of an unauthorized request is read. Synchronous
 * if everything it needs is cached.
 * @throws Unauthorized, Forbidden, NotFound for an unknown workspace (super admins only)
 */
export function authorizeCall(
  app: App,
  hooks: Pick<OperationPolicies, "resolveMember" | "checkScopes">,
  op: Operation,
  identity: Identity | undefined,
  parameters: Record<string, string>,
): Caller | Promise<Caller> {
  const caller = admitCaller(app, hooks, op, identity, parameters.workspace);
  if (!identity?.token?.scopes?.length) return caller;
  const scope = getRequiredScope(op);
  if (!scope) return caller;
  const resource = scope.resource ? parameters[scope.resource] : undefined;
  const restricted = (admitted: Caller) => {
    hooks.checkScopes(identity, scope, resource);
    return admitted;
  };
  return caller instanceof Promise ? caller.then(restricted) : restricted(caller);
}

/**
 * Runs the operation for an authorized caller.
 * @throws errors of the operation
 */
export function executeOperation(app: App, hooks: OperationPolicies, op: Operation, call: Call): unknown {
  const { caller } = call;
  const context = createContext({
    app,
    caller,
    username: caller.member?.username ?? caller.identity?.email ?? "anonymous",
    request: call.request,
    request_id: call.request_id,
    workspace_id: call.input.workspace as string | undefined,
    action: op.audit,
    recordAudit: hooks.recordAudit,
  });
  return op.run(context as never, call.input as never);
}

/** Identity of unauthenticated callers; no account has such an address. */
const ANONYMOUS: Identity = { email: "anonymous", super_admin: false, devops: false, token: undefined };

/** Access rules of instance-wide operations: they need no membership, even if their path names a workspace. */
const INSTANCE_ACCESS: ReadonlySet<Access> = new Set<Access>(["user", "devops", "superAdmin"]);

function admitCaller(
  app: App,
  hooks: Pick<OperationPolicies, "resolveMember">,
  op: Operation,
  identity: Identity | undefined,
  workspace_id: string | undefined,
): Caller | Promise<Caller> {
  if (op.access === "anyone") {
    if (workspace_id === undefined) return { identity, member: undefined };
    // Also checked for anonymous callers: nobody may call an archived workspace.
    return withMembership(app, hooks, op, identity ?? ANONYMOUS, workspace_id, (member) => {
      if (member) requireMemberAccess(op.access, member);
      return { identity, member };
    });
  }
  if (!identity) throw new Unauthorized("a valid token is needed");
  if (op.access === "superAdmin" && !identity.super_admin) throw new Forbidden("this needs a super admin");
  if (op.access === "devops" && !identity.devops && !identity.super_admin) {
    throw new Forbidden("this needs a super admin or devops");
  }
  if (workspace_id === undefined || INSTANCE_ACCESS.has(op.access)) {
    if (identity.token?.workspace_id !== undefined && !op.allowsWorkspaceTokens) {
      throw new Forbidden(`the token is bound to workspace ${identity.token.workspace_id}`);
    }
    return { identity, member: undefined };
  }
  return withMembership(app, hooks, op, identity, workspace_id, (member) => {
    if (!member) throw new Unauthorized(`not a member of workspace ${workspace_id}`);
    requireMemberAccess(op.access, member);
    return { identity, member };
  });
}

/** Looks up the membership and passes it to `settle`; synchronous if it is cached. */
function withMembership(
  app: App,
  hooks: Pick<OperationPolicies, "resolveMember">,
  { method }: Operation,
  identity: Identity,
  workspace_id: string,
  settle: (member: Member | undefined) => Caller,
): Caller | Promise<Caller> {
  parseWorkspaceId(workspace_id);
  if (identity.token?.workspace_id !== undefined && identity.token.workspace_id !== workspace_id) {
    throw new Unauthorized(`the token is bound to another workspace than ${workspace_id}`);
  }
  const member = hooks.resolveMember(app, identity, workspace_id, method === "GET");
  return member instanceof Promise ? member.then(settle) : settle(member);
}

function requireMemberAccess(access: Access, member: Member): void {
  if (member.disabled) throw new Unauthorized("the user is disabled in this workspace");
  if (access === "admin" && !member.is_admin) throw new Forbidden("this needs an admin of the workspace");
  if (access === "author" && member.operator && !member.is_admin) {
    throw new Forbidden("operators may run and view, not create, edit or preview");
  }
}

/** Rejects new work while the server stops. @throws Unavailable while the server drains */
export function requireNotDraining(app: App): void {
  if (!app.acceptsJobs) throw new Unavailable("the server is shutting down and takes no new jobs");
}
