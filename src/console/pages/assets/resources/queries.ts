import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import { ApiError } from "../../../api/errors.ts";
import type { Resource } from "../../../api/interface.d.ts";
import { isRecord, writeJson } from "../../../api/json.ts";
import { isPassword } from "../../../parts/form/prepare.ts";

export const MAX_RESOURCES = 1_000;

export type ListedResource = Answer<"GET /w/{workspace}/resources/list">[number];

export const resourcesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "list"],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/resources/list",
        { workspace, query: { per_page: MAX_RESOURCES } },
        signal,
      ),
  });

export const resourceQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "one", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/resources/get/{path}", { workspace, path }, signal),
  });

export const resourceTypesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "types"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/resources/type/list", { workspace }, signal),
  });

/** Providers with which accounts can be connected. */
export const oauthProvidersQuery = queryOptions({
  queryKey: ["connects"],
  queryFn: ({ signal }) => callOperation("GET /oauth/list_connects", {}, signal),
  staleTime: 60_000,
});

type Value = Record<string, unknown>;

/** Returns the names of a type's fields whose values are secrets. */
export function listSecretFields(schema: unknown): string[] {
  const properties = (schema as { properties?: Record<string, Value> } | null)?.properties ?? {};
  return Object.entries(properties)
    .filter(([, field]) => isPassword(field))
    .map(([name]) => name);
}

export interface Edited {
  path: string;
  type: string;
  description: string;
  value: unknown;
  schema: unknown;
  /** The resource as loaded; undefined for a new one. */
  existing: Resource | undefined;
}

interface Secret {
  name: string;
  path: string;
  value: string;
  /** Whether the resource already refers to this variable. */
  isOwn: boolean;
}

/** Lists the entered passwords, which are stored as separate secrets. */
function listEnteredSecrets({ path, value, schema, existing }: Edited): Secret[] {
  if (!isRecord(value)) return [];
  const before: Value = isRecord(existing?.value) ? existing.value : {};
  return listSecretFields(schema).flatMap((name) => {
    const typed = value[name];
    if (typeof typed !== "string" || typed === "" || typed.startsWith("$var:")) return [];
    const secret = `${path}_${name}`;
    return [{ name, path: secret, value: typed, isOwn: before[name] === `$var:${secret}` }];
  });
}

const hasVariable = (workspace: string, path: string) =>
  callOperation("GET /w/{workspace}/variables/exists/{path}", { workspace, path });

/**
 * Checks that the paths of a resource and its secrets are free.
 * @throws if something that does not belong to this resource would be overwritten
 */
async function requireFree(workspace: string, { path, existing }: Edited, secrets: Secret[]): Promise<void> {
  if (!existing && (await callOperation("GET /w/{workspace}/resources/exists/{path}", { workspace, path })))
    throw new Error(`There is a resource at ${path} already.`);
  for (const { name, path: secret, isOwn } of secrets) {
    if (isOwn || !(await hasVariable(workspace, secret))) continue;
    throw new Error(
      `The field ${name} would be stored in the variable ${secret}, which exists already. ` +
        `Enter $var:${secret} to use that variable, delete it, or choose another path.`,
    );
  }
}

/** Stores an entered password as a secret variable. @returns whether the variable is new */
async function storeSecret(workspace: string, of: string, secret: Secret): Promise<boolean> {
  const { name, path, value, isOwn } = secret;
  const body = { value, is_secret: true };
  if (isOwn && (await hasVariable(workspace, path))) {
    await callOperation("POST /w/{workspace}/variables/update/{path}", { workspace, path, body });
    return false;
  }
  const made = { ...body, path, description: `${name} of ${of}` };
  await callOperation("POST /w/{workspace}/variables/create", { workspace, body: made });
  return true;
}

async function storeResource(workspace: string, edited: Edited, value: unknown): Promise<void> {
  const { path, type, description, existing } = edited;
  if (existing) {
    const isChanged = writeJson(value) !== writeJson(existing.value);
    const body = { description, ...(isChanged ? { value } : {}) };
    await callOperation("POST /w/{workspace}/resources/update/{path}", { workspace, path, body });
  } else {
    const body = { path, resource_type: type, description, value };
    await callOperation("POST /w/{workspace}/resources/create", { workspace, body });
  }
}

/** Stores a resource. Entered passwords are stored as separate secrets that it refers to. */
export async function saveResource(workspace: string, edited: Edited): Promise<void> {
  const isChanged = writeJson(edited.value) !== writeJson(edited.existing?.value);
  const secrets = isChanged ? listEnteredSecrets(edited) : [];
  await requireFree(workspace, edited, secrets);
  const made: string[] = [];
  try {
    for (const secret of secrets)
      if (await storeSecret(workspace, edited.path, secret)) made.push(secret.path);
    const names = Object.fromEntries(secrets.map(({ name, path }) => [name, `$var:${path}`]));
    const value = isRecord(edited.value) ? { ...edited.value, ...names } : edited.value;
    await storeResource(workspace, edited, value);
  } catch (error) {
    // After a rejection nothing refers to the new secrets, and they would block the next attempt.
    const isRefused = error instanceof ApiError && error.status < 500;
    for (const path of isRefused ? made : [])
      await callOperation("DELETE /w/{workspace}/variables/delete/{path}", { workspace, path }).catch(
        () => {},
      );
    throw error;
  }
  await queryClient.invalidateQueries({ queryKey: [workspace] });
}
