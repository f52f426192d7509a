/** Lists the scopes to which tokens can be restricted, derived from the declared operations. */
import * as z from "../../../lib/zod/z.ts";
import {
  getRequiredScope,
  type Operation,
  type OperationScope,
  operation,
  responds,
} from "../../../platform/http/operation.ts";

const ListedScope = z.object({
  value: z.string(),
  label: z.string(),
  description: z.string().nullish(),
  /** Whether the scope can be narrowed by `:` and a comma-separated list of paths or names. */
  requires_resource_path: z.boolean(),
});
type ListedScope = z.input<typeof ListedScope>;

const Domain = z.object({
  name: z.string(),
  description: z.string().nullish(),
  scopes: z.array(ListedScope),
});

const ACTIONS = ["read", "write", "run"] as const;
const ACTION_LABELS = {
  read: "read",
  write: "read and change",
  run: "run, and see what becomes of it",
};

/** Declares the operation. @param all returns all operations; called at request time, as the list is built later */
export function createScopeListOperation(all: () => readonly Operation[]): Operation {
  return operation({
    name: "listScopes",
    method: "GET",
    path: "/tokens/list/scopes",
    access: "user",
    allowsWorkspaceTokens: true,
    scope: false,
    summary: "List the scopes of tokens",
    responds: responds.json(z.array(Domain)),
    run: () => listDomains(all()),
  });
}

function listDomains(operations: readonly Operation[]): z.input<typeof Domain>[] {
  const scopes = operations.map(getRequiredScope).filter((scope) => scope !== false);
  const names = [...new Set(scopes.map(({ domain }) => domain))].sort();
  return names.map((name) => {
    const own = scopes.filter(({ domain }) => domain === name);
    return { name, scopes: ACTIONS.flatMap((action) => listDomainScopes(name, action, own)) };
  });
}

function listDomainScopes(
  domain: string,
  action: OperationScope["action"],
  scopes: OperationScope[],
): ListedScope[] {
  const asked = scopes.filter((scope) => scope.action === action);
  const reads = action === "write" && scopes.some((scope) => scope.action === "read");
  if (asked.length === 0 && !reads) return [];
  const what = domain.replaceAll("_", " ");
  const listed = {
    value: `${domain}:${action}`,
    label: `${what}: ${ACTION_LABELS[action]}`,
    requires_resource_path: asked.some(({ resource }) => resource !== undefined),
  };
  if (domain !== "jobs" || action !== "run") return [listed];
  // The runnable is known only after a lookup, so no operation declares these scopes.
  const kinds = ["scripts", "flows"].map((kind) => ({
    value: `jobs:run:${kind}`,
    label: `jobs: run ${kind}, and see what becomes of them`,
    requires_resource_path: true,
  }));
  return [listed, ...kinds];
}
