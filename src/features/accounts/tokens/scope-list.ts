/** What a token can be restricted to, read off the operations there are. */
import { z } from "zod";
import {
  type Operation,
  operation,
  responds,
  type Scope,
  scopeOf,
} from "../../../platform/http/operation.ts";

const ListedScope = z.object({
  value: z.string(),
  label: z.string(),
  description: z.string().nullish(),
  /** Whether it may be restricted further, by `:` and paths or names with commas between them. */
  requires_resource_path: z.boolean(),
});
type ListedScope = z.input<typeof ListedScope>;

const Domain = z.object({
  name: z.string(),
  description: z.string().nullish(),
  scopes: z.array(ListedScope),
});

const ACTIONS = ["read", "write", "run"] as const;
const MEANING = {
  read: "read",
  write: "read and change",
  run: "run, and see what becomes of it",
};

/** @param all what there is, asked for when somebody calls */
export function scopeListOperation(all: () => readonly Operation[]): Operation {
  return operation({
    name: "listScopes",
    method: "GET",
    path: "/tokens/list/scopes",
    access: "user",
    bound: true,
    scope: false,
    summary: "List what a token can be restricted to",
    responds: responds.json(z.array(Domain)),
    run: () => domainsOf(all()),
  });
}

function domainsOf(operations: readonly Operation[]): z.input<typeof Domain>[] {
  const scopes = operations.map(scopeOf).filter((scope) => scope !== false);
  const names = [...new Set(scopes.map(({ domain }) => domain))].sort();
  return names.map((name) => {
    const own = scopes.filter(({ domain }) => domain === name);
    return { name, scopes: ACTIONS.flatMap((action) => scopesOf(name, action, own)) };
  });
}

function scopesOf(domain: string, action: Scope["action"], scopes: Scope[]): ListedScope[] {
  const asked = scopes.filter((scope) => scope.action === action);
  const reads = action === "write" && scopes.some((scope) => scope.action === "read");
  if (asked.length === 0 && !reads) return [];
  const what = domain.replaceAll("_", " ");
  const listed = {
    value: `${domain}:${action}`,
    label: `${what}: ${MEANING[action]}`,
    requires_resource_path: asked.some(({ resource }) => resource !== undefined),
  };
  if (domain !== "jobs" || action !== "run") return [listed];
  // What is run is known only once it is looked up, so no declaration names it.
  const kinds = ["scripts", "flows"].map((kind) => ({
    value: `jobs:run:${kind}`,
    label: `jobs: run ${kind}, and see what becomes of them`,
    requires_resource_path: true,
  }));
  return [listed, ...kinds];
}
